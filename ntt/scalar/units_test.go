package scalar_test

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/ntt/scalar"
)

// The units of all fields are the room's, and each field has its own.
func TestUnits(t *testing.T) {
	var all []*kernel.Source
	for _, f := range []*mont.Field{curve.BN254Fr, curve.BLS12377Fr, curve.BLS12381Fr, curve.BW6761Fr} {
		units := scalar.Units(f)
		if len(units) == 0 || slices.Contains(all, units[0]) {
			t.Errorf("%s: %d units, or another's", f.Name, len(units))
		}
		all = append(all, units...)
	}
	for _, s := range scalar.Sources() {
		if !slices.Contains(all, s) {
			t.Errorf("no field has unit %s", s.Name)
		}
	}
	if u := scalar.Units(nil); u != nil {
		t.Errorf("no field has %d units", len(u))
	}
}
