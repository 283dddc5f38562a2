package groth16_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// small is a circuit of so many constraints, whose witness can be all zero.
type small struct {
	X, Y  frontend.Variable
	Z     frontend.Variable `gnark:",public"`
	count int
}

func (c *small) Define(api frontend.API) error {
	z := c.Z
	for i := range c.count {
		z = api.Add(api.Mul(c.X, z), api.Mul(c.Y, i))
		api.AssertIsEqual(api.Mul(z, c.X), 0)
	}
	return nil
}

// nothing has no variable and no constraint; unused has both a variable and none that
// depends on it.
type nothing struct{}

func (nothing) Define(frontend.API) error { return nil }

type unused struct {
	X frontend.Variable `gnark:",public"`
}

func (unused) Define(frontend.API) error { return nil }

// oneSided has no wire in B but the constant one: all points of its query B but one are at
// infinity.
type oneSided struct {
	X [5]frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *oneSided) Define(api frontend.API) error {
	for i, x := range c.X {
		api.AssertIsEqual(x, api.Add(c.Y, i))
	}
	return nil
}

// The smallest circuits, those of sizes beside powers of two, and witnesses that are all zero
// are proved as by gnark, or not at all, as by gnark.
func TestEdges(t *testing.T) {
	type edge struct {
		name    string
		circuit frontend.Circuit
		right   frontend.Circuit
		emulate bool
	}
	edges := []edge{
		{"nothing", &nothing{}, &nothing{}, true},
		{"unused", &unused{}, &unused{7}, true},
		{"one-sided", &oneSided{}, &oneSided{[5]frontend.Variable{0, 1, 2, 3, 4}, 0}, true},
	}
	for _, n := range []int{1, 2, 5, 8, 21, 22, 43} {
		edges = append(edges, edge{fmt.Sprintf("%d steps", n), &small{count: n}, &small{X: 0, Y: 0, Z: 0}, n == 22})
	}
	for _, id := range curves {
		for i, x := range edges {
			if id != ecc.BN254 && i > 4 {
				break
			}
			t.Run(id.String()+"/"+x.name, func(t *testing.T) {
				field := id.ScalarField()
				ccs, err := frontend.Compile(field, r1cs.NewBuilder, x.circuit)
				if err != nil {
					t.Fatal(err)
				}
				full, err := frontend.NewWitness(x.right, field)
				if err != nil {
					t.Fatal(err)
				}
				public, err := full.Public()
				if err != nil {
					t.Fatal(err)
				}
				pk, vk, err := groth16.Setup(ccs)
				if err != nil {
					t.Fatal(err)
				}
				var want []byte
				var theirs error
				blind(t, func() {
					var proof groth16.Proof
					if proof, theirs = gnark.Prove(ccs, pk, full); theirs == nil {
						want = encode(t, proof)
					}
				})
				for _, name := range []string{"cpu", "simt", "cuda"} {
					t.Run(name, func(t *testing.T) {
						if name == "simt" && (id != ecc.BN254 || !x.emulate) {
							t.Skip("takes a second")
						}
						d := devicetest.Open(t, name)
						blind(t, func() {
							p, err := groth16.NewProver(pk, groth16.WithDevice(d.Name()))
							if err != nil {
								t.Fatal(err)
							}
							defer p.Close()
							proof, err := p.Prove(t.Context(), ccs, full)
							if (err == nil) != (theirs == nil) {
								t.Fatalf("error %v, gnark's is %v", err, theirs)
							}
							if err != nil {
								return
							}
							if !bytes.Equal(encode(t, proof), want) {
								t.Error("the proof is not gnark's")
							}
							if err := gnark.Verify(proof, vk, public); err != nil {
								t.Error(err)
							}
						})
					})
				}
			})
		}
	}
}

// Whatever part of a key there is room for, proofs are the same, and all memory is given back.
func TestMemoryLimits(t *testing.T) {
	for name, c := range map[string]struct {
		circuit string
		limits  []int64
	}{
		"simt": {"closed", []int64{1, 34300, 1 << 20}},
		"cuda": {"ranges", []int64{1, 1000, 20000, 100000, 200000, 400000, 600000, 1 << 20, 1 << 30}},
	} {
		t.Run(name, func(t *testing.T) {
			d := devicetest.Open(t, name)
			r := setUp(t, ecc.BN254, named(t, c.circuit))
			var want []byte
			blind(t, func() {
				proof, err := gnark.Prove(r.ccs, r.pk, r.right)
				if err != nil {
					t.Fatal(err)
				}
				want = encode(t, proof)
			})
			idle := d.InUse()
			for _, limit := range c.limits {
				blind(t, func() {
					p, err := groth16.NewProver(r.pk, groth16.WithDevice(d.Name()), groth16.WithVerifyingKey(r.vk), groth16.WithMemory(limit))
					if err != nil {
						t.Fatal(err)
					}
					proof, err := p.Prove(t.Context(), r.ccs, r.right)
					if err != nil {
						t.Errorf("%d bytes: %v", limit, err)
					} else if !bytes.Equal(encode(t, proof), want) {
						t.Errorf("%d bytes: the proof is not gnark's", limit)
					}
					t.Logf("%d bytes: %d taken, %d in use", limit, p.Bytes(), d.InUse()-idle)
					p.Close()
				})
				if n := d.InUse(); n != idle {
					t.Errorf("%d bytes: %d are left in use", limit, n-idle)
				}
			}
		})
	}
}

// Keys are forgotten, provers closed and proofs made at any moment: each call gives a proof
// that verifies or says that the prover was closed.
func TestCloseAnywhere(t *testing.T) {
	var all []*ready
	for _, name := range []string{"cubic", "open", "closed", "commits", "open commits", "hinted"} { // more than Prove keeps
		all = append(all, setUp(t, ecc.BN254, named(t, name)))
	}
	t.Setenv("ZKWARP_DEVICE", "cpu")
	p, err := groth16.NewProver(all[3].pk)
	if err != nil {
		t.Fatal(err)
	}
	var made, refused atomic.Int64
	var wg sync.WaitGroup
	for g := range 4 {
		random := rand.New(rand.NewPCG(uint64(g), 1))
		wg.Go(func() {
			for i := range 60 {
				r := all[random.IntN(len(all))]
				var proof groth16.Proof
				var err error
				switch k := random.IntN(10); {
				case k == 0:
					groth16.Forget(r.pk)
					continue
				case k < 4:
					r = all[3]
					proof, err = p.Prove(context.Background(), r.ccs, r.right)
				default:
					proof, err = groth16.Prove(r.ccs, r.pk, r.right)
				}
				if g == 0 && i == 30 {
					p.Close()
				}
				if errors.Is(err, groth16.ErrClosed) && r == all[3] {
					refused.Add(1)
				} else if err != nil {
					t.Error(err)
				} else if err := groth16.Verify(proof, r.vk, r.public); err != nil {
					t.Error(err)
				} else {
					made.Add(1)
				}
			}
		})
	}
	wg.Wait()
	for _, r := range all {
		groth16.Forget(r.pk)
	}
	if made.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d proofs made, %d refused", made.Load(), refused.Load())
	}
}

// Devices that are none, mixed or missing are errors that name them.
func TestDeviceNames(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "cubic"))
	for _, name := range []string{"cpu,simt", "cpu,cpu", "cuda:-1", "cuda:x", "cuda:99", " cpu", "CPU"} {
		_, err := groth16.NewProver(r.pk, groth16.WithDevice(name))
		if !errors.Is(err, device.ErrUsage) && !errors.Is(err, device.ErrUnavailable) {
			t.Errorf("%q: %v", name, err)
		}
		t.Log(err)
	}
}
