package bench

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
)

// Report writes one self-contained HTML page with tables and plots of rows.
func Report(w io.Writer, rows []Row) error {
	page := reportPage{}
	for _, card := range distinct(rows, func(r Row) string { return r.Card }) {
		c := reportCard{Name: card}
		mine := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Card != card })
		for _, device := range distinct(mine, func(r Row) string { return r.Device }) {
			for _, suite := range distinct(mine, func(r Row) string { return r.Suite }) {
				part := slices.DeleteFunc(slices.Clone(mine), func(r Row) bool { return r.Suite != suite || r.Device != device })
				if len(part) > 0 {
					c.Suites = append(c.Suites, newReportSuite(device, suite, part))
				}
			}
		}
		page.Cards = append(page.Cards, c)
	}
	return reportTemplate.Execute(w, page)
}

func distinct(rows []Row, of func(Row) string) []string {
	seen := map[string]bool{}
	var out []string
	for _, r := range rows {
		if v := of(r); !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

type reportPage struct{ Cards []reportCard }

type reportCard struct {
	Name   string
	Suites []reportSuite
}

type reportSuite struct {
	Device, Suite string
	Rows          []reportRow
	Plots         []template.HTML
}

type reportRow struct {
	Row
	Text, Spread, Cold, State, Kernels, Required, Verdict, Published string
}

func newReportSuite(device, suite string, rows []Row) reportSuite {
	slices.SortStableFunc(rows, func(a, b Row) int {
		return strings.Compare(a.Case+"\x00"+a.Metric, b.Case+"\x00"+b.Metric)
	})
	s := reportSuite{Device: device, Suite: suite}
	for _, r := range rows {
		line := reportRow{Row: r, Text: number3(r.Value), Spread: fmt.Sprintf("%s to %s", number3(slices.Min(r.Samples)), number3(slices.Max(r.Samples))),
			State: state(r), Kernels: kernelText(r.Launches), Published: published(r)}
		if r.Cold > 0 {
			line.Cold = number3(r.Cold)
		}
		if t, ok := targetOf(r); ok {
			line.Required = number3(t.required)
			line.Verdict = "missed"
			if t.met(r.Value) {
				line.Verdict = "met"
			}
		}
		s.Rows = append(s.Rows, line)
	}
	units := distinct(rows, func(r Row) string { return r.Unit })
	for _, unit := range units {
		part := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Unit != unit })
		s.Plots = append(s.Plots, barPlot(unit, part))
	}
	return s
}

func state(r Row) string {
	var parts []string
	if r.ClockMHz > 0 {
		parts = append(parts, fmt.Sprintf("%d MHz", r.ClockMHz))
	}
	if r.TemperatureC > 0 {
		parts = append(parts, fmt.Sprintf("%d \u00b0C", r.TemperatureC))
	}
	if r.Throttle != "" {
		parts = append(parts, "throttle: "+r.Throttle)
	}
	return strings.Join(parts, ", ")
}

func kernelText(launches map[string]int64) string {
	var parts []string
	for k, n := range launches {
		parts = append(parts, fmt.Sprintf("%s %d", k, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// number3 is a number with three significant figures.
func number3(v float64) string {
	if v != 0 && (math.Abs(v) >= 1e6 || math.Abs(v) < 1e-3) {
		return fmt.Sprintf("%.2e", v)
	}
	digits := 2
	for a := math.Abs(v); a >= 10 && digits > 0; a /= 10 {
		digits--
	}
	if math.Abs(v) < 1 {
		digits = 3
	}
	return fmt.Sprintf("%.*f", digits, v)
}

var reportTemplate = template.Must(template.New("report").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>zkwarp measurements</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2330; max-width: 74rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 2px solid #3056d3; } h3 { margin-top: 1.8rem; }
table { border-collapse: collapse; width: 100%; font-size: 13px; } th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #dfe3ea; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } .met { color: #137333; } .missed { color: #b3261e; }
.small { color: #5b6472; font-size: 12px; overflow-wrap: anywhere; } svg { max-width: 100%; height: auto; margin: .8rem 0; } svg text { font: 12px system-ui, sans-serif; fill: #1d2330; }
</style></head><body>
<h1>zkwarp measurements</h1>
<p>A value is the median of the timed runs; the first run of a process is given apart, as cold. Bars end at the median, dots are the single runs.
Times are given as they were on one card each: do not compare across cards.</p>
{{range .Cards}}<h2>{{.Name}}</h2>
{{range .Suites}}<h3>{{.Suite}} on {{.Device}}</h3>
{{range .Plots}}{{.}}
{{end}}<table><thead><tr><th>case</th><th>metric</th><th class="n">median</th><th>unit</th><th class="n">spread</th><th class="n">runs</th><th class="n">cold</th><th class="n">required</th><th></th><th class="n">published</th></tr></thead><tbody>
{{range .Rows}}<tr><td>{{.Case}}</td><td>{{.Metric}}</td><td class="n">{{.Text}}</td><td>{{.Unit}}</td><td class="n">{{.Spread}}</td><td class="n">{{len .Samples}}</td><td class="n">{{.Cold}}</td><td class="n">{{.Required}}</td><td class="{{.Verdict}}">{{.Verdict}}</td><td class="n">{{.Published}}</td></tr>
<tr><td colspan="10" class="small">{{with .Note}}{{.}}; {{end}}{{with .State}}{{.}}; {{end}}{{with .Driver}}driver {{.}}; {{end}}{{with .Kernels}}launches: {{.}}; {{end}}commit {{.Commit}}; {{.Date}}; <code>{{.Command}}</code></td></tr>
{{end}}</tbody></table>
{{end}}{{else}}<p>There are no results.</p>
{{end}}</body></html>
`))
