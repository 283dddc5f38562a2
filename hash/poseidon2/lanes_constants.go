//go:build (amd64 || arm64) && !purego

package poseidon2

// Round constants in the order of their use.
var lanes16, lanes24 = flatten(16), flatten(24)

func flatten(width int) []uint32 {
	p, err := M31(width)
	if err != nil {
		panic(err) // both widths in use are known
	}
	c := p.Constants()
	var out []uint32
	for _, r := range c.First {
		out = append(out, r...)
	}
	out = append(out, c.Partial...)
	for _, r := range c.Last {
		out = append(out, r...)
	}
	return out
}
