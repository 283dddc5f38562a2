package bench

import (
	"fmt"
	"strings"
)

// sumcats is the time in ms that Fan, Han, Wu and Arafin, "GPU Acceleration of the
// Sum-Check Protocol Over Towers of Binary Fields", report in table II for all rounds of a
// case of suite binary on an A100 SXM4 80 GB: of their base, which is BDT-1, and of
// SumCATS-1 and SumCATS-2. The table's two columns of times are exchanged there: its
// columns of speed-ups are the quotients the other way round, and the text's best ones
// (1.62x, by SumCATS-2) are those of the column that is headed SumCATS-1.
var sumcats = map[string]struct{ base, sumcats1, sumcats2 float64 }{
	"n20-d2": {19.500, 40.620, 58.690}, "n20-d3": {34.878, 65.280, 59.935}, "n20-d4": {57.927, 98.470, 79.979},
	"n24-d2": {131.32, 108.65, 119.63}, "n24-d3": {223.91, 181.15, 183.86}, "n24-d4": {352.46, 320.13, 272.60},
	"n28-d2": {1819.7, 1350.5, 1165.9}, "n28-d3": {3154.9, 2239.5, 1941.4}, "n28-d4": {4783.1, 3999.2, 3020.8},
}

// published is what others report for what a row measured, on their card, or "".
func published(r Row) string {
	if r.Suite != binarySuite || r.Metric != "ms" {
		return ""
	}
	name, algorithm := r.Case, ""
	if parts := strings.SplitN(r.Case, "-", 3); len(parts) == 3 {
		name, algorithm = parts[0]+"-"+parts[1], parts[2]
	}
	s, ok := sumcats[name]
	if !ok {
		return ""
	}
	one := func(ms float64) string { return number3(ms) + " (A100)" }
	switch algorithm {
	case "":
		return fmt.Sprintf("base %s, best %s (A100)", number3(s.base), number3(min(s.base, s.sumcats1, s.sumcats2)))
	case "bdt1":
		return one(s.base)
	case "sumcats1":
		return one(s.sumcats1)
	case "sumcats2":
		return one(s.sumcats2)
	}
	return ""
}
