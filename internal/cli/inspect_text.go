package cli

import (
	"fmt"
	"strings"
)

// view is what inspect found in a file: pairs for a summary, and tables.
type view struct {
	Kind   string  `json:"kind"`
	File   string  `json:"file"`
	Bytes  int     `json:"bytes"`
	SHA256 string  `json:"sha256"`
	Facts  []fact  `json:"facts"`
	Tables []table `json:"tables,omitempty"`
	nodes  []node  // of the graph, for pictures

	refused error // why no integer program can be made of the model that is described
}

type fact struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

type table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

func (v *view) fact(name string, value any) { v.Facts = append(v.Facts, fact{name, value}) }

// text is the view for a terminal.
func (v *view) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-17s %s, %s\n", v.Kind, oneLine(v.File), sizeText(int64(v.Bytes)))
	for _, f := range v.Facts {
		fmt.Fprintf(&b, "%-17s %s\n", f.Name, oneLine(fmt.Sprint(f.Value)))
	}
	fmt.Fprintf(&b, "%-17s %s\n", "sha256", v.SHA256)
	for _, t := range v.Tables {
		if len(t.Rows) == 0 {
			continue
		}
		b.WriteString("\n" + t.text())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// text lays a table out in columns: names to the left, numbers to the right.
func (t *table) text() string {
	cells := [][]string{t.Columns}
	for _, row := range t.Rows {
		line := make([]string, len(row))
		for i, c := range row {
			switch n := c.(type) {
			case int:
				line[i] = grouped(int64(n))
			case float64:
				line[i] = fmt.Sprintf("%.4g", n)
			default:
				most := 40
				if t.Columns[i] == "note" || t.Columns[i] == "part" {
					most = 120
				}
				line[i] = clip(fmt.Sprint(c), most)
			}
		}
		cells = append(cells, line)
	}
	width := make([]int, len(t.Columns))
	for _, line := range cells {
		for i, c := range line {
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	var b strings.Builder
	for _, line := range cells {
		var text strings.Builder
		for i, c := range line {
			pad := strings.Repeat(" ", width[i]-len([]rune(c)))
			if t.numeric(i) {
				text.WriteString(pad + c + "  ")
			} else {
				text.WriteString(c + pad + "  ")
			}
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	return b.String()
}

func (t *table) numeric(column int) bool {
	if len(t.Rows) == 0 {
		return false
	}
	switch t.Rows[0][column].(type) {
	case int, int64, float64:
		return true
	}
	return false
}
