package quant

import (
	"strings"
	"unicode"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// clean makes a name from a file fit for a program: printable and of bounded length.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '_'
	}, name)
	const most = graph.MaxName - 48 // leaves room for suffixes
	for len(name) > most {
		name = strings.TrimRightFunc(name[:most], func(r rune) bool { return r == '\uFFFD' })
	}
	return name
}
