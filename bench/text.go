package bench

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Print writes rows of one device as lines of text.
func Print(w io.Writer, rows []Row) error {
	for i, r := range rows {
		if i == 0 {
			if _, err := fmt.Fprintf(w, "%s (%s)\n", r.Card, r.Device); err != nil {
				return err
			}
		}
		line := fmt.Sprintf("%-28s %-14s %12s %-12s", r.Case, r.Metric, Figures(r.Value), r.Unit)
		if r.Cold > 0 {
			line += " cold " + Figures(r.Cold)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// Entry is what is listed of a case.
type Entry struct {
	Suite string `json:"suite"`
	Case  string `json:"case"`
	About string `json:"about"`
}

// List is the entries of cases, and lines of text about them.
func List(cases []Case) ([]Entry, string) {
	var list []Entry
	var text strings.Builder
	width, suite := 0, 0
	for _, c := range cases {
		list = append(list, Entry{c.Suite, c.Name, c.About})
		width, suite = max(width, len(c.Name)), max(suite, len(c.Suite))
	}
	for _, c := range list {
		fmt.Fprintf(&text, "%-*s %-*s %s\n", suite, c.Suite, width, c.Case, c.About)
	}
	return list, strings.TrimSuffix(text.String(), "\n")
}

// Figures is a number of at most three significant digits, or all those before the point.
func Figures(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case math.Abs(v) >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case math.Abs(v) >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', min(decimals, 12), 64)
}
