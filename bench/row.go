// Package bench measures zkwarp: suites of cases, each giving rows that say
// what was measured, on which card, by which build. Results files under
// results/ are arrays of such rows and are only ever written by this package.
package bench

import (
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/zkwarp/zkwarp/device"
)

// MinSamples is the least number of timed runs behind a recorded row.
const MinSamples = 5

// MaxSamples is the largest number of timed runs.
const MaxSamples = 1 << 20

// Row is one measured number. Value is the median of Samples.
type Row struct {
	Suite   string    `json:"suite"`
	Case    string    `json:"case"`
	Metric  string    `json:"metric"`
	Value   float64   `json:"value"`
	Unit    string    `json:"unit"`
	Samples []float64 `json:"samples"`
	// Cold is the first run, apart from the samples: it pays for compiling
	// and loading kernels.
	Cold    float64 `json:"cold,omitempty"`
	Seed    uint64  `json:"seed"`
	Command string  `json:"command"`
	Commit  string  `json:"commit"`
	Binary  string  `json:"binary_sha256"`
	Proof   string  `json:"proof_sha256,omitempty"`
	Device  string  `json:"device"`
	// Card is the full name of the GPU, or of the processor.
	Card   string `json:"card"`
	Driver string `json:"driver,omitempty"`
	// State of the card right after the measurement; unknown ones are left out.
	ClockMHz       int              `json:"clock_mhz,omitempty"`
	MemoryClockMHz int              `json:"memory_clock_mhz,omitempty"`
	TemperatureC   int              `json:"temperature_c,omitempty"`
	Throttle       string           `json:"throttle,omitempty"`
	Launches       map[string]int64 `json:"launches,omitempty"`
	// Blocks is the largest block that each of these kernels was launched in so far, in
	// the first row of a case.
	Blocks map[string]device.Block `json:"blocks,omitempty"`
	Go     string                  `json:"go"`
	Date   string                  `json:"date"`
	Note   string                  `json:"note,omitempty"`
}

// key tells which older row of the same commit a row replaces.
func (r *Row) key() string { return r.run() + "\x00" + r.Metric }

// run tells which rows are of one run, if they are of one commit.
func (r *Row) run() string {
	return strings.Join([]string{r.Device, r.Suite, r.Case}, "\x00")
}

var (
	word      = regexp.MustCompile(`^[a-z0-9][a-z0-9^.+_/-]*$`)
	slugRunes = regexp.MustCompile(`[^a-z0-9]+`)
)

// Slug is a card's name as a file name: lower case, and '-' for anything but
// letters and digits.
func Slug(card string) string {
	return strings.Trim(slugRunes.ReplaceAllString(strings.ToLower(card), "-"), "-")
}

// Validate checks everything that a recorded row must satisfy, and names the
// field that does not.
func (r *Row) Validate() error {
	for _, f := range []struct{ name, value string }{{"suite", r.Suite}, {"case", r.Case}, {"metric", r.Metric}} {
		if !word.MatchString(f.value) {
			return fmt.Errorf("%s is %q, want a lower-case name", f.name, f.value)
		}
	}
	for _, f := range []struct{ name, value string }{
		{"unit", r.Unit}, {"command", r.Command}, {"device", r.Device}, {"card", r.Card}, {"go", r.Go}} {
		if f.value == "" {
			return fmt.Errorf("%s is empty", f.name)
		}
	}
	if Slug(r.Card) == "" {
		return fmt.Errorf("card is %q, want a name", r.Card)
	}
	if len(r.Samples) < MinSamples {
		return fmt.Errorf("samples has %d entries, want at least %d", len(r.Samples), MinSamples)
	}
	for _, v := range append([]float64{r.Value}, r.Samples...) {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return fmt.Errorf("samples hold %v, want non-negative numbers", v)
		}
	}
	if m := Median(r.Samples); math.Abs(m-r.Value) > 1e-9*math.Abs(m) {
		return fmt.Errorf("value is %v, the median of samples is %v", r.Value, m)
	}
	if !isHex(r.Commit, 20) && !isHex(r.Commit, 32) {
		return fmt.Errorf("commit is %q, want a full commit of an unchanged tree", r.Commit)
	}
	if !isHex(r.Binary, 32) {
		return fmt.Errorf("binary_sha256 is %q, want 64 hexadecimal digits", r.Binary)
	}
	if r.Proof != "" && !isHex(r.Proof, 32) {
		return fmt.Errorf("proof_sha256 is %q, want 64 hexadecimal digits", r.Proof)
	}
	if _, err := time.Parse(time.RFC3339, r.Date); err != nil {
		return fmt.Errorf("date is %q, want one like 2026-01-31T12:00:00Z", r.Date)
	}
	if strings.HasPrefix(r.Device, "cuda") && len(r.Launches) == 0 {
		return fmt.Errorf("launches is empty, but the device is %s", r.Device)
	}
	return nil
}

func isHex(s string, bytes int) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == bytes && s == strings.ToLower(s)
}

// Median of at least one sample.
func Median(samples []float64) float64 {
	s := slices.Sorted(slices.Values(samples))
	if len(s) == 0 {
		return math.NaN()
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
