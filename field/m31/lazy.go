package m31

// lazySums is what vector loops leave: up to four sums of 64-bit lanes, of which
// each is two vectors, the lanes' sum modulo 2^64 and that of their high words.
// The machine's vectors have sumLanes lanes.
type lazySums [64]uint64

// lane adds up sum k over the lanes of one parity: the 64-bit numbers, modulo
// P, and the two words that they are made of, if they are. The sums of their
// high and of their low words stay below 2^64 for up to 2^32 numbers.
func (s *lazySums) lane(k, parity int) (total, low, high Element) {
	var all, h uint64
	switch sumLanes() {
	case 8:
		v := s[16*k+parity : 16*k+16]
		all, h = v[0]+v[2]+v[4]+v[6], v[8]+v[10]+v[12]+v[14]
	case 4:
		v := s[8*k+parity : 8*k+8]
		all, h = v[0]+v[2], v[4]+v[6]
	case 2:
		all, h = s[4*k+parity], s[4*k+2+parity]
	}
	low, high = reduce(all-h<<32), reduce(h)
	return low.Add(high.Double()), low, high
}

// both adds up the first sum's lanes of both parities. Like its siblings it is 0
// after n = 0 elements.
func (s *lazySums) both(n int) Element {
	if n == 0 {
		return 0
	}
	even, _, _ := s.lane(0, 0)
	odd, _, _ := s.lane(0, 1)
	return even.Add(odd)
}

// words reads the sums of words 0 and 2, and of 1 and 3, of an element.
func (s *lazySums) words(n int) (sum QM31) {
	if n == 0 {
		return sum
	}
	sum.A.Re, _, _ = s.lane(0, 0)
	sum.B.Re, _, _ = s.lane(0, 1)
	sum.A.Im, _, _ = s.lane(1, 0)
	sum.B.Im, _, _ = s.lane(1, 1)
	return sum
}

// products reads the sums of the products of elements A + uB and C + uD: AC and
// BD real, the same imaginary, AD and BC real, the same imaginary.
func (s *lazySums) products(n int) (sum QM31) {
	if n == 0 {
		return sum
	}
	var ac, bd, ad, bc CM31
	ac.Re, _, _ = s.lane(0, 0)
	bd.Re, _, _ = s.lane(0, 1)
	ac.Im, _, _ = s.lane(1, 0)
	bd.Im, _, _ = s.lane(1, 1)
	ad.Re, _, _ = s.lane(2, 0)
	bc.Re, _, _ = s.lane(2, 1)
	ad.Im, _, _ = s.lane(3, 0)
	bc.Im, _, _ = s.lane(3, 1)
	return QM31{ac.Add(bd.mulR()), ad.Add(bc)}
}

// multiplication by r is the product by this matrix, row by row.
func multiplication(r QM31) [4][4]Element {
	e := r.B.mulR()
	return [4][4]Element{
		{r.A.Re, r.A.Im.Neg(), e.Re, e.Im.Neg()},
		{r.A.Im, r.A.Re, e.Im, e.Re},
		{r.B.Re, r.B.Im.Neg(), r.A.Re, r.A.Im.Neg()},
		{r.B.Im, r.B.Re, r.A.Im, r.A.Re},
	}
}
