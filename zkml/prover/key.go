package prover

import (
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// ProvingKey is a verifying key together with the weights. It keeps the
// weights' commitment once it has been computed. It is safe for concurrent
// use.
type ProvingKey struct {
	vk      *zkml.VerifyingKey
	weights *graph.Weights

	mu        sync.Mutex
	of        *graph.Program           // until there is vk
	stack     []m31.Element            // the parameters, stacked, where they are not what the weights say: tests cheat so
	committed *whirprover.CommittedM31 // on the host; nil until needed
	laid      *layout                  // nil until needed
}

// NewProvingKey joins a verifying key with its weights, which must have the
// key's digest.
func NewProvingKey(vk *zkml.VerifyingKey, w *graph.Weights) (*ProvingKey, error) {
	got, err := w.Digest(vk.Program())
	if err != nil {
		return nil, fmt.Errorf("zkml: proving key: %w", err)
	}
	if got != vk.WeightsDigest() {
		return nil, fmt.Errorf("zkml: proving key: these weights are not the verifying key's")
	}
	return &ProvingKey{vk: vk, weights: w}, nil
}

// DecodeProvingKey reads a proving key from exactly data.
func DecodeProvingKey(data []byte) (*ProvingKey, error) {
	vk, w, err := zkml.DecodeProvingKey(data)
	if err != nil {
		return nil, err
	}
	return &ProvingKey{vk: vk, weights: w}, nil
}

// Encode is the key's canonical encoding.
func (pk *ProvingKey) Encode() ([]byte, error) { return zkml.EncodeProvingKey(pk.vk, pk.weights) }

// VerifyingKey of the key.
func (pk *ProvingKey) VerifyingKey() *zkml.VerifyingKey { return pk.vk }

// Weights of the key. They must not be changed.
func (pk *ProvingKey) Weights() *graph.Weights { return pk.weights }

// program is the program, in setup too.
func (pk *ProvingKey) program() *graph.Program {
	if pk.vk == nil {
		return pk.of
	}
	return pk.vk.Program()
}

// Forget gives up what the key keeps for the next proof: on the host, the weights' commitment. It is made again when it is needed. Proofs must not
// be going on.
func (pk *ProvingKey) Forget() {
	pk.mu.Lock()
	defer pk.mu.Unlock()
	if pk.committed != nil {
		pk.committed.Free()
		pk.committed = nil
	}
}

// layout returns where proofs keep what, on any device.
func (pk *ProvingKey) layout() (*layout, error) {
	pk.mu.Lock()
	defer pk.mu.Unlock()
	if pk.laid == nil {
		l, err := newLayout(pk.vk.Inference().Plan, pk.vk.Program())
		if err != nil {
			return nil, err
		}
		pk.laid = l
	}
	return pk.laid, nil
}

// commitment returns the parameters' commitment, nil if the key has none, and
// whether it is the key's own. That is on the host and made once. The stack is the
// first of words. The root must be the verifying key's.
func (pk *ProvingKey) commitment(q *device.Queue, words device.Buffer[m31.Element]) (c *whirprover.CommittedM31, own bool, err error) {
	params := pk.vk.Inference().Commitments[plan.Parameters]
	if params == nil {
		return nil, false, nil
	}
	stack := words.Slice(0, 1<<params.Vars())
	if q.OnHost() {
		pk.mu.Lock()
		defer pk.mu.Unlock()
		if pk.committed != nil {
			return pk.committed, true, nil
		}
		c, err = whirprover.CommitM31(q, params, stack.Host())
	} else {
		c, err = whirprover.CommitTableM31(q, params, stack)
	}
	if err != nil {
		return nil, false, fmt.Errorf("commit to the parameters: %w", err)
	}
	root, err := c.Root()
	if err == nil && root != pk.vk.Root() {
		err = fmt.Errorf("the weights' commitment is not the verifying key's")
	}
	if err != nil {
		c.Free()
		return nil, false, err
	}
	if q.OnHost() {
		pk.committed = c
	}
	return c, q.OnHost(), nil
}
