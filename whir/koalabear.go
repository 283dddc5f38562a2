package whir

import (
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/merkle"
)

// The protocol over KoalaBear, with challenges in its quartic or quintic extension.
type (
	// SchemeKoalaBear4 is the protocol with challenges in the quartic extension.
	SchemeKoalaBear4 = Scheme[koalabear.Element, koalabear.Element, koalabear.E4]
	// SchemeKoalaBear5 is the protocol with challenges in the quintic extension.
	SchemeKoalaBear5 = Scheme[koalabear.Element, koalabear.Element, koalabear.E5]
)

// SpecKoalaBear4 is symbols in KoalaBear and challenges in its quartic extension.
func SpecKoalaBear4(h Hash) Spec { return specKoalaBear("X^4-3", h, 4) }

// SpecKoalaBear5 is symbols in KoalaBear and challenges in its quintic extension.
func SpecKoalaBear5(h Hash) Spec { return specKoalaBear("X^5+X^2-1", h, 5) }

func specKoalaBear(polynomial string, h Hash, degree int) Spec {
	return Spec{
		Name:           "KoalaBear; KoalaBear[X]/(" + polynomial + "); " + h.String(),
		Modulus:        koalabear.P,
		SymbolWords:    1,
		ChallengeWords: degree,
		MaxLogDomain:   koalabear.TwoAdicity,
		CollisionBits:  h.collisionBits(koalabear.P),
	}
}

// KoalaBear4 is the protocol over KoalaBear and its quartic extension.
func KoalaBear4(h Hash) *SchemeKoalaBear4 {
	return schemeKoalaBear(SpecKoalaBear4(h), h, koalabear.LiftE4, koalabear.E4.MulBase)
}

// KoalaBear5 is the protocol over KoalaBear and its quintic extension.
func KoalaBear5(h Hash) *SchemeKoalaBear5 {
	return schemeKoalaBear(SpecKoalaBear5(h), h, koalabear.LiftE5, koalabear.E5.MulBase)
}

var poseidonKoalaBear = merkle.Poseidon2(poseidon2.KoalaBear())

func schemeKoalaBear[E koalabear.Ext[E]](spec Spec, h Hash, lift func(koalabear.Element) E, scale func(E, koalabear.Element) E) *Scheme[koalabear.Element, koalabear.Element, E] {
	return &Scheme[koalabear.Element, koalabear.Element, E]{
		Spec:       spec,
		Hash:       hashOf(h, poseidonKoalaBear),
		Root:       koalabear.Root,
		Embed:      lift,
		Scale:      scale,
		Symbols:    func(w []koalabear.Element) []koalabear.Element { return w },
		Challenges: koalabear.Elements[E],
		Words:      koalabear.Words[E],
	}
}
