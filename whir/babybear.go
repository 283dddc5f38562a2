package whir

import (
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/merkle"
)

// The protocol over BabyBear, with challenges in its quartic or quintic extension.
type (
	// SchemeBabyBear4 is the protocol with challenges in the quartic extension.
	SchemeBabyBear4 = Scheme[babybear.Element, babybear.Element, babybear.E4]
	// SchemeBabyBear5 is the protocol with challenges in the quintic extension.
	SchemeBabyBear5 = Scheme[babybear.Element, babybear.Element, babybear.E5]
)

// SpecBabyBear4 is symbols in BabyBear and challenges in its quartic extension.
func SpecBabyBear4(h Hash) Spec { return specBabyBear("X^4-11", h, 4) }

// SpecBabyBear5 is symbols in BabyBear and challenges in its quintic extension.
func SpecBabyBear5(h Hash) Spec { return specBabyBear("X^5-2", h, 5) }

func specBabyBear(polynomial string, h Hash, degree int) Spec {
	return Spec{
		Name:           "BabyBear; BabyBear[X]/(" + polynomial + "); " + h.String(),
		Modulus:        babybear.P,
		SymbolWords:    1,
		ChallengeWords: degree,
		MaxLogDomain:   babybear.TwoAdicity,
		CollisionBits:  h.collisionBits(babybear.P),
	}
}

// BabyBear4 is the protocol over BabyBear and its quartic extension.
func BabyBear4(h Hash) *SchemeBabyBear4 {
	return schemeBabyBear(SpecBabyBear4(h), h, babybear.LiftE4, babybear.E4.MulBase)
}

// BabyBear5 is the protocol over BabyBear and its quintic extension.
func BabyBear5(h Hash) *SchemeBabyBear5 {
	return schemeBabyBear(SpecBabyBear5(h), h, babybear.LiftE5, babybear.E5.MulBase)
}

var poseidonBabyBear = merkle.Poseidon2(poseidon2.BabyBear())

func schemeBabyBear[E babybear.Ext[E]](spec Spec, h Hash, lift func(babybear.Element) E, scale func(E, babybear.Element) E) *Scheme[babybear.Element, babybear.Element, E] {
	return &Scheme[babybear.Element, babybear.Element, E]{
		Spec:       spec,
		Hash:       hashOf(h, poseidonBabyBear),
		Root:       babybear.Root,
		Embed:      lift,
		Scale:      scale,
		Symbols:    func(w []babybear.Element) []babybear.Element { return w },
		Challenges: babybear.Elements[E],
		Words:      babybear.Words[E],
	}
}
