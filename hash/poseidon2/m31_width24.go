package poseidon2

import "github.com/zkwarp/zkwarp/field/m31"

// Permute24 applies the width-24 permutation to canonical words.
func Permute24(state *[24]m31.Element) {
	var s [24]uint64
	for i := range s {
		s[i] = uint64(state[i])
	}
	external24(&s)
	for i := range rc24.first {
		full24(&s, &rc24.first[i])
	}
	for i := range s {
		s[i] = fold(s[i])
	}
	for _, c := range rc24.partial {
		partial24(&s, c)
	}
	for i := range rc24.last {
		full24(&s, &rc24.last[i])
	}
	for i := range s {
		state[i] = m31.New(s[i])
	}
}

// external24 multiplies by circ(2 M4, M4, M4, M4, M4, M4).
func external24(s *[24]uint64) {
	s[0], s[1], s[2], s[3] = m4(s[0], s[1], s[2], s[3])
	s[4], s[5], s[6], s[7] = m4(s[4], s[5], s[6], s[7])
	s[8], s[9], s[10], s[11] = m4(s[8], s[9], s[10], s[11])
	s[12], s[13], s[14], s[15] = m4(s[12], s[13], s[14], s[15])
	s[16], s[17], s[18], s[19] = m4(s[16], s[17], s[18], s[19])
	s[20], s[21], s[22], s[23] = m4(s[20], s[21], s[22], s[23])
	a := s[0] + s[4] + s[8] + s[12] + s[16] + s[20]
	b := s[1] + s[5] + s[9] + s[13] + s[17] + s[21]
	c := s[2] + s[6] + s[10] + s[14] + s[18] + s[22]
	d := s[3] + s[7] + s[11] + s[15] + s[19] + s[23]
	for i := 0; i < 24; i += 4 {
		s[i] += a
		s[i+1] += b
		s[i+2] += c
		s[i+3] += d
	}
}

func full24(s, rc *[24]uint64) {
	for i := range s {
		s[i] = sbox(fold(s[i] + rc[i]))
	}
	external24(s)
}

// partial24 takes and gives words below 2^31 + 2^23, and s[0] below 2^31 + 2^10.
func partial24(s *[24]uint64, c uint64) {
	x := sbox(fold(s[0] + c))
	t := s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7] + s[8] +
		s[9] + s[10] + s[11] + s[12] + s[13] + s[14] + s[15] + s[16] +
		s[17] + s[18] + s[19] + s[20] + s[21] + s[22] + s[23]
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
	s[10] = fold(t + s[10]<<9)
	s[11] = fold(t + s[11]<<10)
	s[12] = fold(t + s[12]<<11)
	s[13] = fold(t + s[13]<<12)
	s[14] = fold(t + s[14]<<13)
	s[15] = fold(t + s[15]<<14)
	s[16] = fold(t + s[16]<<15)
	s[17] = fold(t + s[17]<<16)
	s[18] = fold(t + s[18]<<17)
	s[19] = fold(t + s[19]<<18)
	s[20] = fold(t + s[20]<<19)
	s[21] = fold(t + s[21]<<20)
	s[22] = fold(t + s[22]<<21)
	s[23] = fold(t + s[23]<<22)
}
