package suite

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
	cs "github.com/consensys/gnark/constraint/bn254"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/internal/synthetic"
)

// instance is a circuit, its keys and a witness.
type instance struct {
	r1cs         *cs.R1CS
	full, public witness.Witness
	pk           groth16.ProvingKey
	vk           groth16.VerifyingKey
	setup        time.Duration
	setupCold    time.Duration // the first time, if there was a second
	setupNote    string
}

func (x *instance) wires() int {
	internal, secret, public := x.r1cs.GetNbVariables()
	return internal + secret + public
}

// otherPublic is public inputs of which one is another.
func (x *instance) otherPublic() (witness.Witness, error) {
	other, err := x.full.Public()
	if err != nil {
		return nil, err
	}
	v, ok := other.Vector().(fr.Vector)
	if !ok || len(v) == 0 {
		return nil, fmt.Errorf("public inputs of type %T", other.Vector())
	}
	one := fr.One()
	v[0].Add(&v[0], &one)
	return other, nil
}

// seeded is random bytes that anybody can make again: for measuring, never for use.
func seeded(seed uint64, use string) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	copy(key[8:], use)
	return rand.NewChaCha8(key)
}

func (s *suite) makeInstance(ctx context.Context, dev *device.Device, o synthetic.Options) (*instance, error) {
	s.stage("making %d constraints", o.Constraints)
	var x instance
	var err error
	if x.r1cs, x.full, err = synthetic.New(ctx, o); err != nil {
		return nil, err
	}
	if x.public, err = x.full.Public(); err != nil {
		return nil, err
	}
	s.stage("setup")
	if err := s.makeKeys(ctx, dev, &x, o.Seed); err != nil {
		return nil, err
	}
	if o.Constraints > 1<<24 {
		debug.FreeOSMemory() // what setup used, as much again as the keys
	}
	return &x, nil
}
