package poseidon2

// grain is the 80-bit Grain LFSR in self-shrinking mode, seeded by a parameter
// set (Poseidon paper, appendix E).
type grain struct {
	state [80]byte
	at    int // index of the oldest bit
}

func newGrain(p Params) *grain {
	g := new(grain)
	i := 0
	put := func(value uint32, bits int) {
		for b := bits - 1; b >= 0; b-- {
			g.state[i] = byte(value >> b & 1)
			i++
		}
	}
	put(1, 2)   // a prime field
	put(0, 4)   // the S-box is a power map
	put(31, 12) // bits of an element
	put(uint32(p.Width), 12)
	put(uint32(p.Full), 10)
	put(uint32(p.Partial), 10)
	put(1<<30-1, 30)
	for range 160 {
		g.clock()
	}
	return g
}

// clock advances the register by a bit and returns it.
func (g *grain) clock() byte {
	tap := func(k int) byte { return g.state[(g.at+k)%80] }
	b := tap(0) ^ tap(13) ^ tap(23) ^ tap(38) ^ tap(51) ^ tap(62)
	g.state[g.at] = b
	g.at = (g.at + 1) % 80
	return b
}

// bit is the second bit of the next pair whose first bit is 1.
func (g *grain) bit() byte {
	for {
		keep, b := g.clock(), g.clock()
		if keep == 1 {
			return b
		}
	}
}

// word is n bits, most significant first.
func (g *grain) word(n int) uint32 {
	var v uint32
	for range n {
		v = v<<1 | uint32(g.bit())
	}
	return v
}
