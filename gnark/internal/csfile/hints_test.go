package csfile

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestHints compares the packages whose hints are registered with those that package std
// registers, without that one being linked.
func TestHints(t *testing.T) {
	list := func(args ...string) []string {
		out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	const std = "github.com/consensys/gnark/std"
	linked := list("-deps", "../../cmd/zkwarp-gnark")
	if slices.Contains(linked, std) {
		t.Errorf("%s is linked, which writes to standard output", std)
	}
	n := 0
	for _, p := range list("-f", `{{join .Imports "\n"}}`, std) {
		if strings.HasPrefix(p, std) {
			n++
			if !slices.Contains(linked, p) {
				t.Errorf("%s is not linked", p)
			}
		}
	}
	if n < 20 {
		t.Errorf("%s imports %d of its packages", std, n)
	}
}
