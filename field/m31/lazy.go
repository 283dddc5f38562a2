package m31

// lazySums is what vector loops leave: up to four sums of 64-bit lanes, of which
// each is two vectors, the lanes' sum modulo 2^64 and that of their high words.
// The machine's vectors have sumLanes lanes.
type lazySums [64]uint64

// lane adds up sum k over the lanes of one parity: the 64-bit numbers, modulo
// P, and the two words that they are made of, if they are.
func (s *lazySums) lane(k, parity int) (total, low, high Element) {
	n := sumLanes()
	for i := 2*k*n + parity; i < (2*k+1)*n; i += 2 {
		h := s[i+n]
		low = low.Add(reduce(s[i] - h<<32))
		high = high.Add(reduce(h))
	}
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
