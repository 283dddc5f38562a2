package prover

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
	"github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// TestMissing calls what others may call with nil for each argument that is needed: an error names it (50 ms).
func TestMissing(t *testing.T) {
	c := zkmltest.MLP(2, 1, 3, 5, 4)
	dev := devicetest.Open(t, "cpu")
	q := devicetest.Queue(t, dev)
	vk, pk, err := prover.Setup(q, c.Program, c.Weights, nil)
	if err != nil {
		t.Fatal(err)
	}
	cutting, err := chunks.Cut(c.Program, c.Weights, []int{len(c.Program.Ops) / 2})
	if err != nil {
		t.Fatal(err)
	}
	chain, keys, err := Setup(q, cutting, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, w := c.Program, c.Weights
	proof := &chunks.Proof{}
	second := func(_ any, err error) error { return err }
	third := func(_, _ any, err error) error { return err }
	for name, call := range map[string]func() error{
		"zkml.Verify: verifying key":      func() error { return zkml.Verify(nil, c.X, nil, nil, nil) },
		"zkml.VerifyStatement: statement": func() error { return zkml.VerifyStatement(vk, nil, nil, nil) },
		"zkml.DecodeProof: verifying key": func() error { return second(zkml.DecodeProof(nil, nil)) },
		"zkml.EncodeProof: verifying key": func() error { return second(zkml.EncodeProof(nil, zkml.Digests{}, &zkml.Proof{})) },
		"zkml.EncodeProof: proof":         func() error { return second(zkml.EncodeProof(vk, zkml.Digests{}, nil)) },
		"zkml.Choose: program": func() error {
			return second(zkml.Choose(nil, zkml.Committed, zkml.Commits{}, zkml.MinSecurity, whir.Options{}))
		},
		"zkml.CostOf: program": func() error {
			return second(zkml.CostOf(nil, zkml.Committed, zkml.Commits{}, zkml.MinSecurity, whir.Options{}))
		},
		"zkml.EncodeProvingKey: weights":      func() error { return second(zkml.EncodeProvingKey(vk, nil)) },
		"zkml.WriteProvingKey: verifying key": func() error { return zkml.WriteProvingKey(io.Discard, nil, w) },
		"zkml.Mock: program":                  func() error { return second(zkml.Mock(nil, w, c.X)) },
		"zkml.Mock: weights":                  func() error { return second(zkml.Mock(p, nil, c.X)) },
		"CommittedTensor.Check: opening":      func() error { return (&zkml.CommittedTensor{}).Check(nil) },
		"chunks.Cut: program":                 func() error { return second(chunks.Cut(nil, w, nil)) },
		"chunks.Cut: weights":                 func() error { return second(chunks.Cut(p, nil, nil)) },
		"chunks.Plan: program":                func() error { return second(chunks.Plan(nil, 1, nil)) },
		"chunks.Link: key of part 2":          func() error { return second(chunks.Link([]*zkml.VerifyingKey{vk, nil})) },
		"chunks.NewChain: key of part 1": func() error {
			return second(chunks.NewChain([]*zkml.VerifyingKey{nil}, [][]chunks.Source{{{Part: -1}}}, []chunks.Source{{}}))
		},
		"chunks.Verify: chain":              func() error { return chunks.Verify(nil, c.X, nil, proof, nil) },
		"chunks.VerifyStatement: statement": func() error { return chunks.VerifyStatement(chain, nil, proof, nil) },
		"chunks.Join: chain":                func() error { return second(chunks.Join(nil, nil)) },
		"chunks.Join: proof number 1 of 1":  func() error { return second(chunks.Join(chain, []*chunks.PartProof{nil})) },
		"Chain.PartStatement: statement":    func() error { return second(chain.PartStatement(0, nil, proof)) },
		"Chain.PartStatement: proof":        func() error { return second(chain.PartStatement(0, &zkml.Statement{}, nil)) },
		"zkmlfile.NewAnswer: program":       func() error { return second(zkmlfile.NewAnswer(nil, nil)) },
		"zkmlfile.DecodeAnswer: program":    func() error { return second(zkmlfile.DecodeAnswer(nil, nil)) },
		"zkmlfile.ReadInput: program":       func() error { return second(zkmlfile.ReadInput(nil, nil)) },
		"zkmlfile.Integers: program":        func() error { return second(zkmlfile.Integers(nil, nil)) },
		"prover.Setup: queue":               func() error { return third(prover.Setup(nil, p, w, nil)) },
		"prover.Setup: program":             func() error { return third(prover.Setup(q, nil, w, nil)) },
		"prover.Setup: weights":             func() error { return third(prover.Setup(q, p, nil, nil)) },
		"prover.Prove: queue":               func() error { return second(prover.Prove(nil, pk, c.X, nil)) },
		"prover.Prove: proving key":         func() error { return second(prover.Prove(q, nil, c.X, nil)) },
		"prover.NewProvingKey: weights":     func() error { return second(prover.NewProvingKey(vk, nil)) },
		"prover.NewProvingKey: verifying":   func() error { return second(prover.NewProvingKey(nil, w)) },
		"prover.Commit: verifying key":      func() error { return second(prover.Commit(q, nil, 0, nil)) },
		"prover.NewUploader: device":        func() error { return second(prover.NewUploader(nil)) },
		"Setup: cutting":                    func() error { return third(Setup(q, nil, nil)) },
		"Setup: queue 1 of 1":               func() error { return third(Setup(nil, cutting, nil)) },
		"On: chain":                         func() error { return second(On([]*device.Device{dev}, nil, keys)) },
		"On: device 2 of 2":                 func() error { return second(On([]*device.Device{dev, nil}, chain, keys)) },
		"Once: proving key of part 2":       func() error { return second(Once([]*device.Device{dev}, chain, []*prover.ProvingKey{keys[0], nil})) },
		"Prove: chain":                      func() error { return second(Prove(t.Context(), []*device.Device{dev}, nil, keys, c.X, nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			_, argument, _ := strings.Cut(name, ": ")
			if err := call(); !errors.Is(err, zkml.ErrMissing) || !strings.Contains(err.Error(), "the "+argument) || zkml.FailedCheck(err) != "" {
				t.Errorf("%v, want one that the %s is nil", err, argument)
			}
		})
	}
}
