package prover

import (
	"math"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml"
)

// TestSecurity recomputes sums and expects every step that a key has.
func TestSecurity(t *testing.T) {
	k := residual(t)
	r := zkml.Security(k.vk)
	sum, least := 0.0, math.Inf(1)
	seen := map[string]bool{}
	for _, x := range r.Terms {
		sum += math.Exp2(-x.Bits)
		least = math.Min(least, x.Bits)
		name, _, _ := strings.Cut(x.Name, ":")
		seen[x.Part+" "+name] = true
	}
	if math.Abs(-math.Log2(sum)-r.Sum) > 1e-9 || least != r.Min || r.Sum < zkml.MinSecurity || r.Sum > r.Min {
		t.Errorf("sum %f, least %f; the terms have %f and %f", r.Sum, r.Min, -math.Log2(sum), least)
	}
	for _, want := range []string{
		"inference lookups", "inference output binding", "inference layer 0", "inference claim merging",
		"inference opening of parameters", "inference opening of witness", "inference opening of multiplicities",
		"weights lookups", "weights limbs", "weights zero padding", "weights layer 0", "weights claim merging",
		"weights opening of parameters", "weights opening of witness", "weights opening of multiplicities",
	} {
		if !seen[want] {
			t.Errorf("no term for %q in\n%s", want, r)
		}
	}
	// The lookup identity of this key, by hand: all leaves in blocks, a
	// fingerprint of degree 2, over p^4 challenges.
	leaves := 0
	for _, l := range k.vk.Inference().Plan.Leaves {
		leaves += 1 << l.Vars
	}
	want := 4*math.Log2(1<<31-1) - math.Log2(float64(3*leaves))
	for _, x := range r.Terms {
		if x.Part == "inference" && x.Name == "lookups: identity" && math.Abs(x.Bits-want) > 1e-9 {
			t.Errorf("lookup identity has %f bits, want %f", x.Bits, want)
		}
	}
}
