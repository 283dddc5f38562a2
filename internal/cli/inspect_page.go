package cli

import (
	"fmt"
	"html/template"
	"io"
	"strings"
)

// node is one step of a graph, for its picture.
type node struct {
	Name, Op, Shape string
	From            []string
	Cost, Params    int
}

// inspectPage writes a view as one self-contained page.
func inspectPage(w io.Writer, v *view) error {
	return inspectTemplate.Execute(w, struct {
		*view
		Graph             template.HTML
		Heading, Subtitle string
	}{v, graphPicture(v.nodes), "Graph and cost", "Steps in order. Bars are multiply-adds and look-ups."})
}

// graphPicture draws the steps from top to bottom, each with the tensors it
// reads as arcs on the left, and its share of the work as a bar on the right.
func graphPicture(nodes []node) template.HTML {
	if len(nodes) == 0 {
		return ""
	}
	const (
		left, box, bars = 120, 300, 360
		high, gap       = 38, 18
	)
	most, total := 1, 0
	at := map[string]int{}
	for i, n := range nodes {
		most = max(most, n.Cost)
		total += n.Cost
		at[n.Name] = i
	}
	y := func(i int) int { return 10 + i*(high+gap) }
	width, height := left+box+bars+40, y(len(nodes))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="graph and cost">`, width, height, width, height)
	for i, n := range nodes {
		for _, from := range n.From {
			j, ok := at[from]
			switch {
			case !ok || j >= i: // the graph's input
				fmt.Fprintf(&b, `<path d="M%d %d v%d" stroke="#8a93a3" fill="none"/>`, left+box/2, y(i)-8, 8)
			case j == i-1:
				fmt.Fprintf(&b, `<path d="M%d %d v%d" stroke="#1d2330" fill="none"/>`, left+box/2, y(j)+high, gap)
			default: // around the steps in between
				bend := min(left-10, 20+12*(i-j))
				fmt.Fprintf(&b, `<path d="M%d %d C%d %d %d %d %d %d" stroke="#b05a00" fill="none"/>`,
					left, y(j)+high/2, left-bend, y(j)+high/2, left-bend, y(i)+high/2, left, y(i)+high/2)
			}
		}
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="5" fill="#eef2fb" stroke="#3056d3"/>`, left, y(i), box, high)
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-weight="600">%s</text><text x="%d" y="%d" text-anchor="end" fill="#5b6472">%s</text><text x="%d" y="%d" fill="#5b6472">%s</text>`,
			left+10, y(i)+16, escape(n.Op), left+box-10, y(i)+16, escape(n.Shape), left+10, y(i)+31, escape(clip(n.Name, 44)))
		length := float64(bars-150) * float64(n.Cost) / float64(most)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="14" fill="#3056d3" fill-opacity="0.4"/><text x="%.1f" y="%d">%s (%.1f %%)</text>`,
			left+box+16, y(i)+12, length, float64(left+box+22)+length, y(i)+24, grouped(int64(n.Cost)), 100*float64(n.Cost)/float64(max(1, total)))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // names in it were escaped above
}

func escape(s string) string { return template.HTMLEscapeString(oneLine(s)) }

var inspectTemplate = template.Must(template.New("inspect").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Kind}}: {{.File}}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2330; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } table { border-collapse: collapse; font-size: 13px; margin-bottom: 1.5rem; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #dfe3ea; vertical-align: top; overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; }
</style></head><body>
<h1>{{.Kind}}</h1>
<table><tr><th>file</th><td>{{.File}}, {{.Bytes}} bytes</td></tr><tr><th>sha256</th><td>{{.SHA256}}</td></tr>
{{range .Facts}}<tr><th>{{.Name}}</th><td>{{.Value}}</td></tr>
{{end}}</table>
{{if .Graph}}<h2>{{.Heading}}</h2>
<p>{{.Subtitle}}</p>
{{.Graph}}{{end}}
{{range .Tables}}{{if .Rows}}<h2>{{.Name}}</h2>
<table><tr>{{range .Columns}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</table>{{end}}
{{end}}</body></html>
`))
