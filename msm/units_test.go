package msm

import (
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
)

// Units are what a group's sums launch, nothing twice, and nothing of another group.
func TestUnits(t *testing.T) {
	for _, g := range append([]*curve.Group{curve.Toy61}, curve.Groups...) {
		names := map[string]bool{}
		for _, s := range unitsOf(g) {
			if s == nil {
				t.Fatalf("%s: a unit that is none", g.Name)
			}
			if names[s.Name] {
				t.Errorf("%s: %s twice", g.Name, s.Name)
			}
			names[s.Name] = true
			parts := strings.Split(s.Name[strings.LastIndex(s.Name, "/")+1:], ".")
			if len(parts) == 3 && parts[1] != g.Name && parts[1] != g.Scalar.Name && !(g == curve.BLS12377G1 && parts[1] == curve.BLS12377Edwards.Name) {
				t.Errorf("%s: %s", g.Name, s.Name)
			}
		}
		want := []string{"bucket/accumulate." + g.Name, "bucket/merge." + g.Name, "bucket/items", "reduce/reduce." + g.Name, "reduce/segments." + g.Name, "scatter/split", "bases/bases." + g.Name, "affine/normalize." + g.Name, "scatter/digits." + g.Scalar.Name, "scatter/bins", "scatter/partition", "tiny/tiny." + g.Name}
		if g == curve.BLS12377G1 {
			want = append(want, "bucket/accumulate.bls12377_ed", "edwards/edwards.bls12377_ed", "reduce/reduce.bls12377_ed", "reduce/segments.bls12377_ed", "tiny/tiny.bls12377_ed")
		}
		for _, w := range want {
			if !names["msm/internal/"+w+".cu"] {
				t.Errorf("%s: no %s", g.Name, w)
			}
		}
	}
}
