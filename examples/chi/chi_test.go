package chi

import "testing"

// Every row of five bits, against chi as FIPS 202 defines it:
// a'[x] = a[x] xor ((a[x+1] xor 1) and a[x+2]).
func TestColumns(t *testing.T) {
	columns := Columns(7, 64)
	seen := map[uint32]bool{}
	for i := range 64 {
		for bit := range 32 {
			var in, out uint32
			for x := range lanes {
				in |= columns[x][i] >> bit & 1 << x
				out |= columns[lanes+x][i] >> bit & 1 << x
			}
			seen[in] = true
			for x := range lanes {
				at := func(k int) uint32 { return in >> ((x + k) % lanes) & 1 }
				if want := at(0) ^ (at(1)^1)&at(2); out>>x&1 != want {
					t.Fatalf("bit %d of chi(%05b) is %d", x, in, out>>x&1)
				}
			}
		}
	}
	if len(seen) != 1<<lanes {
		t.Errorf("%d of 32 rows occur", len(seen))
	}
}
