// Package prover proves chains of programs, part by part, on one device or several.
package prover

import (
	"fmt"
	"sort"
)

// unlimited stands for the memory of a device without a budget.
const unlimited = 1 << 50

// Assignment says which device proves which part.
type Assignment struct {
	Device   []int    // by part
	Warnings []string // of parts that are larger than any device
}

// Assign spreads parts over devices: the one that needs most first, each to the device that has most memory left. Parts of a device are proved one
// after the other, so memory left is a measure of load, and may become negative; a part that alone is beyond every device gets a warning. Memory
// is what a device may give, without what it keeps as a margin (device.Device.Budget: 80 % of what is free); 0 is no limit.
func Assign(need, memory []int64) (*Assignment, error) {
	if len(memory) == 0 {
		return nil, fmt.Errorf("no devices for %d parts", len(need))
	}
	order := make([]int, len(need))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return need[order[i]] > need[order[j]] })
	left := make([]int64, len(memory))
	largest := 0
	most := int64(0)
	for d, m := range memory {
		if left[d] = m; m <= 0 {
			left[d] = unlimited
		}
		if left[d] > most {
			most, largest = left[d], d
		}
	}
	a := &Assignment{Device: make([]int, len(need))}
	for _, k := range order {
		best := 0
		for d := range left {
			if left[d] > left[best] {
				best = d
			}
		}
		if need[k] > most {
			a.Warnings = append(a.Warnings, fmt.Sprintf("part %d needs about %d MiB, the largest device may give %d MiB", k+1, need[k]>>20, most>>20))
			best = largest
		}
		a.Device[k] = best
		left[best] -= need[k]
	}
	return a, nil
}
