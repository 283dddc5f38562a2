package poseidon2

import "github.com/zkwarp/zkwarp/field/m31"

// Permute16 applies the width-16 permutation to canonical words.
func Permute16(state *[16]m31.Element) {
	if !permute16(state) {
		permuteWords16(state)
	}
}

// permuteWords16 is Permute16 without vectors.
func permuteWords16(state *[16]m31.Element) {
	var s [16]uint64
	for i := range s {
		s[i] = uint64(state[i])
	}
	external16(&s)
	for i := range rc16.first {
		full16(&s, &rc16.first[i])
	}
	for i := range s {
		s[i] = fold(s[i])
	}
	for _, c := range rc16.partial {
		partial16(&s, c)
	}
	for i := range rc16.last {
		full16(&s, &rc16.last[i])
	}
	for i := range s {
		state[i] = m31.New(s[i])
	}
}

// external16 multiplies by circ(2 M4, M4, M4, M4).
func external16(s *[16]uint64) {
	s[0], s[1], s[2], s[3] = m4(s[0], s[1], s[2], s[3])
	s[4], s[5], s[6], s[7] = m4(s[4], s[5], s[6], s[7])
	s[8], s[9], s[10], s[11] = m4(s[8], s[9], s[10], s[11])
	s[12], s[13], s[14], s[15] = m4(s[12], s[13], s[14], s[15])
	a := s[0] + s[4] + s[8] + s[12]
	b := s[1] + s[5] + s[9] + s[13]
	c := s[2] + s[6] + s[10] + s[14]
	d := s[3] + s[7] + s[11] + s[15]
	for i := 0; i < 16; i += 4 {
		s[i] += a
		s[i+1] += b
		s[i+2] += c
		s[i+3] += d
	}
}

func full16(s, rc *[16]uint64) {
	for i := range s {
		s[i] = sbox(fold(s[i] + rc[i]))
	}
	external16(s)
}

// partial16 takes and gives words below 2^31 + 2^18.
func partial16(s *[16]uint64, c uint64) {
	x := sbox(fold(s[0] + c))
	t := s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7] + s[8] +
		s[9] + s[10] + s[11] + s[12] + s[13] + s[14] + s[15]
	// t + x - 2x, kept positive; x < 2^34 = 8(P + 1).
	s[0] = fold(t + 16*m31.P - x)
	t += x
	s[1] = fold(t + s[1])
	s[2] = fold(t + s[2]<<1)
	s[3] = fold(t + s[3]<<2)
	s[4] = fold(t + s[4]<<3)
	s[5] = fold(t + s[5]<<4)
	s[6] = fold(t + s[6]<<5)
	s[7] = fold(t + s[7]<<6)
	s[8] = fold(t + s[8]<<7)
	s[9] = fold(t + s[9]<<8)
	s[10] = fold(t + s[10]<<10)
	s[11] = fold(t + s[11]<<12)
	s[12] = fold(t + s[12]<<13)
	s[13] = fold(t + s[13]<<14)
	s[14] = fold(t + s[14]<<15)
	s[15] = fold(t + s[15]<<16)
}
