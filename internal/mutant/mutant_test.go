package mutant

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestOutcomes: the three outcomes are told apart, on package mle's Log.
func TestOutcomes(t *testing.T) {
	if testing.Short() || os.Getenv(variable) == "none" {
		t.Skip("builds packages")
	}
	base := Mutant{Name: "log", File: "mle/mle.go", Old: "return bits.Len(uint(k - 1))", Package: "./mle", Tests: "TestLog$"}
	for _, c := range []struct {
		name, new, tests string
		want             Outcome
	}{
		{"wrong", "return bits.Len(uint(k))", base.Tests, Killed},
		{"same", "return 0 + bits.Len(uint(k-1))", base.Tests, Survived},
		{"no Go", "return )", base.Tests, Broken},
		{"no such test", "return bits.Len(uint(k))", "TestNone", Broken},
	} {
		m := base
		m.New, m.Tests = c.new, c.tests
		got, out, err := Try(t.Context(), t.TempDir(), m)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v\n%s", c.name, got, c.want, out)
		}
	}
	// Two changes that undo each other, and a failure that says something else.
	two := base
	two.New, two.More = "return bits.Len(uint(k)) + 1", []Change{{base.File, "bits.Len(uint(k)) + 1", "bits.Len(uint(k-1))"}}
	other := base
	other.New, other.Says = "return bits.Len(uint(k))", "no test prints this"
	for want, m := range map[Outcome]Mutant{Survived: two, Unsaid: other} {
		if got, out, err := Try(t.Context(), t.TempDir(), m); err != nil || got != want {
			t.Errorf("%v (%v), want %v\n%s", got, err, want, out)
		}
	}
	stale := base
	stale.Old = "no such text"
	if _, _, err := Try(t.Context(), t.TempDir(), stale); err == nil || !strings.Contains(err.Error(), "0 places") {
		t.Errorf("a stale mutant: %v", err)
	}
}

// Over some days every mutant comes first or soon after.
func TestFrom(t *testing.T) {
	all := make([]Mutant, 50)
	for i := range all {
		all[i].Name = strconv.Itoa(i)
	}
	for stride, days := range map[int]int{stride: 8, 3: 50} {
		seen := map[string]bool{}
		for day := range days {
			list := from(all, time.Unix(int64(day)*24*60*60, 0), stride)
			if len(list) != len(all) {
				t.Fatalf("%d mutants of %d", len(list), len(all))
			}
			for _, m := range list[:stride] {
				seen[m.Name] = true
			}
		}
		if len(seen) != len(all) {
			t.Errorf("%d mutants of %d in %d days of %d", len(seen), len(all), days, stride)
		}
	}
}
