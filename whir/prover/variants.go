package prover

import (
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
	ntt "github.com/zkwarp/zkwarp/ntt/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// Provers and what they commit to, by field.
type (
	// ProverCM31 is over CM31 and QM31.
	ProverCM31 = Prover[m31.Element, m31.CM31, m31.QM31]
	// CommittedCM31 is a batch of tables of CM31 symbols with their tree.
	CommittedCM31 = Committed[m31.Element, m31.CM31, m31.QM31]
	// ProverBabyBear4 is over BabyBear and its quartic extension.
	ProverBabyBear4 = Prover[babybear.Element, babybear.Element, babybear.E4]
	// ProverBabyBear5 is over BabyBear and its quintic extension.
	ProverBabyBear5 = Prover[babybear.Element, babybear.Element, babybear.E5]
	// ProverKoalaBear4 is over KoalaBear and its quartic extension.
	ProverKoalaBear4 = Prover[koalabear.Element, koalabear.Element, koalabear.E4]
	// ProverKoalaBear5 is over KoalaBear and its quintic extension.
	ProverKoalaBear5 = Prover[koalabear.Element, koalabear.Element, koalabear.E5]
)

// BabyBear4 is the prover over BabyBear and its quartic extension.
func BabyBear4(h whir.Hash) *ProverBabyBear4 {
	return babyBear(whir.BabyBear4(h), unitBabyBear4)
}

// BabyBear5 is the prover over BabyBear and its quintic extension.
func BabyBear5(h whir.Hash) *ProverBabyBear5 {
	return babyBear(whir.BabyBear5(h), unitBabyBear5)
}

func babyBear[E babybear.Ext[E]](s *whir.Scheme[babybear.Element, babybear.Element, E], u *unit) *Prover[babybear.Element, babybear.Element, E] {
	return proverOf(&variant[babybear.Element, babybear.Element, E]{
		scheme: s,
		units:  u,
		field:  ntt.BabyBear,
		vectors: vectors[babybear.Element, babybear.Element, E]{
			words:     func(f []babybear.Element) []babybear.Element { return f },
			collapse:  func(dst, sums []E) { copy(dst, sums) },
			combine:   babybear.CombineBase[E],
			mulAddSym: babybear.MulAddBase[E],
			mulAddExt: babybear.MulAddExt[E],
			dotExt:    babybear.DotExt[E],
			foldExt:   babybear.FoldExt[E],
			roundExt:  babybear.RoundExt[E],
		},
	})
}

// KoalaBear4 is the prover over KoalaBear and its quartic extension.
func KoalaBear4(h whir.Hash) *ProverKoalaBear4 {
	return koalaBear(whir.KoalaBear4(h), unitKoalaBear4)
}

// KoalaBear5 is the prover over KoalaBear and its quintic extension.
func KoalaBear5(h whir.Hash) *ProverKoalaBear5 {
	return koalaBear(whir.KoalaBear5(h), unitKoalaBear5)
}

func koalaBear[E koalabear.Ext[E]](s *whir.Scheme[koalabear.Element, koalabear.Element, E], u *unit) *Prover[koalabear.Element, koalabear.Element, E] {
	return proverOf(&variant[koalabear.Element, koalabear.Element, E]{
		scheme: s,
		units:  u,
		field:  ntt.KoalaBear,
		vectors: vectors[koalabear.Element, koalabear.Element, E]{
			words:     func(f []koalabear.Element) []koalabear.Element { return f },
			collapse:  func(dst, sums []E) { copy(dst, sums) },
			combine:   koalabear.CombineBase[E],
			mulAddSym: koalabear.MulAddBase[E],
			mulAddExt: koalabear.MulAddExt[E],
			dotExt:    koalabear.DotExt[E],
			foldExt:   koalabear.FoldExt[E],
			roundExt:  koalabear.RoundExt[E],
		},
	})
}

// CM31 is the prover over CM31 and QM31.
func CM31(h whir.Hash) *ProverCM31 {
	return proverOf(&variant[m31.Element, m31.CM31, m31.QM31]{
		scheme: whir.CM31With(h),
		units:  unitM31,
		field:  ntt.CM31,
		vectors: vectors[m31.Element, m31.CM31, m31.QM31]{
			words:     m31.PairWords,
			collapse:  collapseCM31,
			combine:   combineM31,
			mulAddSym: mulAddCM31,
			mulAddExt: m31.MulAddQM31,
			dotExt:    m31.DotQM31,
			foldExt:   m31.FoldQM31,
			roundExt:  roundQM31,
		},
	})
}

// collapseCM31 makes sums over symbols of those over their real and imaginary
// words.
func collapseCM31(dst, sums []m31.QM31) {
	for i := range dst {
		dst[i] = sums[2*i].Add(sums[2*i+1].MulI())
	}
}

func combineM31(acc []m31.QM31, x []m31.Element, stride int, c []m31.QM31) {
	for k, e := range c {
		m31.MulAddBase(acc, x[k*stride:k*stride+len(acc)], e)
	}
}

func mulAddCM31(acc []m31.QM31, x []m31.CM31, c m31.QM31) {
	for i, v := range x[:len(acc)] {
		acc[i] = acc[i].Add(c.MulCM31(v))
	}
}

func roundQM31(loF, hiF, loW, hiW []m31.QM31) (atZero, lead m31.QM31) {
	var f, w [tile]m31.QM31
	for at := 0; at < len(loF); at += tile {
		end := min(at+tile, len(loF))
		df, dw := f[:end-at], w[:end-at]
		m31.SubVecQM31(df, hiF[at:end], loF[at:end])
		m31.SubVecQM31(dw, hiW[at:end], loW[at:end])
		atZero = atZero.Add(m31.DotQM31(loF[at:end], loW[at:end]))
		lead = lead.Add(m31.DotQM31(df, dw))
	}
	return atZero, lead
}

func proverOf[W field.Base[W], F field.Element[F], E field.Element[E]](v *variant[W, F, E]) *Prover[W, F, E] {
	return &Prover[W, F, E]{v}
}
