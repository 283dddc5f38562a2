package prover

import (
	"sync"

	"github.com/zkwarp/zkwarp/field/gf2"
)

// nibbleTables is a linear map by the nibbles of its argument: entry 16 i + v is the
// image of v at the bits from 4 i on.
func nibbleTables(m *gf2.Matrix) []gf2.Element {
	out := make([]gf2.Element, 512)
	for i := range out {
		for b := range 4 {
			if i>>b&1 == 1 {
				out[i] = out[i].Add(m.Columns[i/16*4+b])
			}
		}
	}
	return out
}

// polyvalTables is the nibble tables of the map from the tower to the basis of
// POLYVAL (gf2.Polyval, polyval.cuh), and of its inverse.
var polyvalTables = sync.OnceValues(func() (to, from []gf2.Element) {
	return nibbleTables(gf2.PolyvalMatrix()), nibbleTables(gf2.PolyvalInverse())
})
