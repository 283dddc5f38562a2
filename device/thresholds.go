package device

import (
	"fmt"
	"maps"
	"math/bits"
	"os"
	"strconv"
	"strings"
)

// Thresholds maps an operation to the base-2 logarithm of the size (table
// entries, rows, multiply-adds: what the operation counts) from which a GPU is
// faster than the CPU, copies and launches included.
type Thresholds map[string]int

// usual is for operations that the table does not list.
const usual = 16

// thresholds come from suites m31 and zkml on an H100 with 16 CPU cores beside
// it (bench/NOTES.md). Those of mle, ntt, poseidon2 and whir are estimates: a
// GPU round of launches costs some 50 us.
var thresholds = Thresholds{
	"poseidon2": 12, // permutations
	"merkle":    9,  // leaves
	"mle":       16, // table entries
	"ntt":       14, // elements
	"sumcheck":  15, // table entries
	"logup":     9,  // fractions
	"whir":      16, // table entries
	"binary":    18, // bits of all columns; an estimate
	"zkml":      14, // multiply-adds of the model
	"groth16":   12, // domain of the constraints; the least that was measured, 28 ms by gnark and 6.5 by the card
	"kzg":       10, // coefficients of a polynomial; the least that was measured, 1.5 ms by gnark-crypto and 0.33 by the card
}

// DefaultThresholds returns a copy of the table.
func DefaultThresholds() Thresholds { return maps.Clone(thresholds) }

// override is ZKWARP_GPU_THRESHOLD, if it is set to a number.
func override() (log2 int, ok bool) {
	s := strings.TrimSpace(os.Getenv(EnvThreshold))
	v, err := strconv.Atoi(s)
	return v, err == nil && v >= 0 && v < 64
}

// CheckThreshold returns an error if ZKWARP_GPU_THRESHOLD is set to what is no threshold,
// which Prefer takes no notice of: for programs, which can tell their users.
func CheckThreshold() error {
	s := os.Getenv(EnvThreshold)
	if _, ok := override(); ok || strings.TrimSpace(s) == "" {
		return nil
	}
	return fmt.Errorf("environment variable %s %q: want the binary logarithm of a size, 0 to 63", EnvThreshold, s)
}

// Prefer says whether an operation of size n is better done by a GPU. The
// environment variable ZKWARP_GPU_THRESHOLD replaces every threshold; 0 sends
// all work to the GPU.
func Prefer(op string, n int) bool {
	least, ok := thresholds[op]
	if !ok {
		least = usual
	}
	if v, ok := override(); ok {
		least = v
	}
	return least == 0 || n > 0 && bits.Len(uint(n))-1 >= least
}

// ParseBytes reads an amount of memory: a number with an optional fraction and
// unit, "8GiB", "1.5 GB", "500M", "1048576". K, KiB and KB are all 1024.
func ParseBytes(s string) (int64, error) {
	t := strings.TrimSpace(s)
	i := strings.IndexFunc(t, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if i < 0 {
		i = len(t)
	}
	v, err := strconv.ParseFloat(t[:i], 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an amount of memory, such as 8GiB", s)
	}
	unit := strings.ToUpper(strings.TrimSpace(t[i:]))
	unit = strings.TrimSuffix(strings.TrimSuffix(unit, "B"), "I")
	shift := map[string]int{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
	n, ok := shift[unit]
	if !ok {
		return 0, fmt.Errorf("%q: unknown unit; want K, M, G or T, such as 8GiB", s)
	}
	v *= float64(int64(1) << n)
	if v < 1 || v >= 1<<62 {
		return 0, fmt.Errorf("%q is out of range", s)
	}
	return int64(v), nil
}
