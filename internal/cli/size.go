package cli

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/device"
)

// byteSize is a flag: a number of bytes, with an optional unit.
type byteSize int64

func (b *byteSize) Set(text string) error {
	n, err := device.ParseBytes(text)
	*b = byteSize(n)
	return err
}

func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	return sizeText(int64(*b))
}

// Type is shown in the help.
func (b *byteSize) Type() string { return "size" }

// sizeText is a number of bytes with three figures.
func sizeText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return figures(float64(n)/(1<<10)) + " KiB"
	case n < 1<<30:
		return figures(float64(n)/(1<<20)) + " MiB"
	}
	return figures(float64(n)/(1<<30)) + " GiB"
}

// durationText is a time in ms or s with three figures.
func durationText(d time.Duration) string {
	if d < time.Second {
		return figures(float64(d)/1e6) + " ms"
	}
	return figures(float64(d)/1e9) + " s"
}

// milliseconds of d, as JSON gives them.
func milliseconds(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }

// figures is v with three significant figures and no exponent.
func figures(v float64) string { return bench.Figures(v) }

// grouped is n with its digits in threes.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// count is n things, "1 claim" or "3 claims".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(int64(n)) + " " + thing + "s"
}
