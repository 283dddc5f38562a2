package whir

import (
	"encoding/binary"
	"fmt"
)

// paramsVersion starts the encoding of parameters.
const paramsVersion = 1

// numbers is the configuration as a list, all below 2^31. It is what the
// transcript absorbs and what the encoding consists of.
func (p *Params) numbers() []uint32 {
	c := &p.c
	var out []uint32
	add := func(v ...int) {
		for _, n := range v {
			out = append(out, uint32(n))
		}
	}
	add(paramsVersion, c.Lambda, int(c.Bound), c.Vars, c.LogInvRate, c.Batch, c.BatchWork, c.Arity, c.Claims, len(c.Rounds))
	for _, r := range c.Rounds {
		add(r.Fold, r.Shrink, r.Multiplicity, r.Samples, r.Queries, r.FoldWork, r.QueryWork)
	}
	return out
}

// AppendBinary appends the encoding of the parameters, from which DecodeParams
// makes them again. The field is not part of it.
func (p *Params) AppendBinary(dst []byte) []byte {
	for _, n := range p.numbers() {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	return dst
}

// DecodeParams decodes parameters from exactly the given bytes and checks
// them as NewParams does.
func DecodeParams(spec Spec, data []byte) (*Params, error) {
	const head, perRound = 10, 7
	if len(data)%4 != 0 || len(data) < 4*head || len(data) > 4*(head+perRound*maxRounds) {
		return nil, fmt.Errorf("%w: parameters of %d bytes", ErrEncoding, len(data))
	}
	w := make([]int, len(data)/4)
	for i := range w {
		v := binary.LittleEndian.Uint32(data[4*i:])
		if v >= 1<<31 {
			return nil, fmt.Errorf("%w: parameter %#x", ErrEncoding, v)
		}
		w[i] = int(v)
	}
	if w[0] != paramsVersion {
		return nil, fmt.Errorf("%w: parameters of version %d", ErrEncoding, w[0])
	}
	if w[2] > int(DKT26) {
		return nil, fmt.Errorf("%w: unknown bound %d", ErrEncoding, w[2])
	}
	c := Config{Spec: spec, Lambda: w[1], Bound: Bound(w[2]), Vars: w[3], LogInvRate: w[4], Batch: w[5], BatchWork: w[6], Arity: w[7], Claims: w[8]}
	rounds := w[head:]
	if w[9]*perRound != len(rounds) {
		return nil, fmt.Errorf("%w: %d rounds in %d bytes", ErrEncoding, w[7], len(data))
	}
	for ; len(rounds) > 0; rounds = rounds[perRound:] {
		c.Rounds = append(c.Rounds, Round{rounds[0], rounds[1], rounds[2], rounds[3], rounds[4], rounds[5], rounds[6]})
	}
	return NewParams(c)
}
