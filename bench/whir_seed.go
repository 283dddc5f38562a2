package bench

import (
	"cmp"
	"slices"
)

// cell is one point of the WHIR grid: 2^vars coefficients, the same fold in every
// round, and the first rate 2^-rate.
type cell struct{ vars, fold, rate int }

// appleMS is the proving time in ms that "GPU-Accelerated WHIR Proving on Apple
// Silicon: Benchmarks and Lessons from Client-Side Metal Compute" reports for a
// cell, the best of its three GPU modes on an M1 or, where it is less, on an M3. Its
// parameters rest on conjectures about list decoding up to capacity that were
// refuted since, so that it does less work than a proof of the same cell here. 29
// cells are its grid, five more (at rates 5 and 6, from an M1) its extension.
var appleMS = map[cell]float64{
	{20, 1, 1}: 109.8, {20, 1, 2}: 174.7, {20, 1, 3}: 290.3,
	{20, 2, 1}: 51.9, {20, 2, 2}: 78.8, {20, 2, 3}: 136.9,
	{20, 4, 1}: 28.1, {20, 4, 2}: 39.2, {20, 4, 3}: 85.5,
	{22, 1, 1}: 394.3, {22, 1, 2}: 617.9, {22, 1, 3}: 1164.2,
	{22, 2, 1}: 173.4, {22, 2, 2}: 297.3, {22, 2, 3}: 552.3,
	{22, 3, 1}: 97.3, {22, 3, 2}: 164.4, {22, 3, 3}: 385.6,
	{22, 4, 1}: 79.9, {22, 4, 2}: 141.0, {22, 4, 3}: 382.9,
	{22, 6, 1}: 72.4, {22, 6, 2}: 242.5, {22, 6, 3}: 1064.1,
	{24, 1, 1}: 1432.3, {24, 2, 1}: 688.7, {24, 3, 1}: 370.8, {24, 4, 1}: 549.3, {24, 6, 1}: 333.7,
	{22, 1, 5}: 9300, {22, 2, 5}: 3644, {22, 3, 5}: 3779, {22, 4, 5}: 4568, {22, 2, 6}: 8408,
}

// gridCells is the cells with a figure, by size, fold and rate, the two that
// failed there, and those of the largest size at the rates that were not tried.
func gridCells() []cell {
	out := []cell{{22, 1, 6}, {22, 6, 5}}
	for c := range appleMS {
		out = append(out, c)
	}
	for _, fold := range []int{1, 2, 3, 4, 6} {
		out = append(out, cell{24, fold, 2}, cell{24, fold, 3})
	}
	slices.SortFunc(out, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.vars, b.vars), cmp.Compare(a.fold, b.fold), cmp.Compare(a.rate, b.rate))
	})
	return out
}
