package prover

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/mapped"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
)

// ProvingKey is a verifying key together with the weights. It keeps the
// weights' commitment once it has been computed. It is safe for concurrent
// use.
type ProvingKey struct {
	vk      *zkml.VerifyingKey
	weights *graph.Weights

	check func() error // waits for OpenProvingKey's checks; nil if there were none

	mu        sync.Mutex
	of        *graph.Program // until there is vk
	stack     []m31.Element  // the parameters, stacked, where they are not what the weights say: tests cheat so
	committed *commitment    // on the host; nil until needed
	laid      *layout        // nil until needed
}

// NewProvingKey joins a verifying key with its weights, which must have the
// key's digest.
func NewProvingKey(vk *zkml.VerifyingKey, w *graph.Weights) (*ProvingKey, error) {
	if err := given.Check(given.Arg{Name: "verifying key", Given: vk != nil}, given.Arg{Name: "weights", Given: w != nil}); err != nil {
		return nil, fmt.Errorf("zkml: proving key: %w", err)
	}
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

// ErrKey is the class of errors of proofs about a key that was opened and is not what it should be.
var ErrKey = errors.New("the proving key is spoiled")

// OpenProvingKey is DecodeProvingKey for large keys: that the weights have the verifying key's digest, and what VerifyingKey.Check finds, is looked into
// beside other work, on a goroutine of its own. A proof waits for that before it is given out; the error is an ErrKey then. data, which may be a mapped
// file, must be there, unchanged, as long as the key is used, and until Check has returned.
func OpenProvingKey(data []byte) (*ProvingKey, error) {
	vk, w, digest, err := zkml.OpenProvingKey(data)
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		err := mapped.Guard(func() error {
			err := vk.Check()
			if e := digest(); e != nil {
				err = e
			}
			return err
		})
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrKey, err)
		}
		done <- err
	}()
	return &ProvingKey{vk: vk, weights: w, check: sync.OnceValue(func() error { return <-done })}, nil
}

// Check waits for the checks that OpenProvingKey has begun, and says what they found. Keys that were not opened so were checked before.
func (pk *ProvingKey) Check() error {
	if pk.check == nil {
		return nil
	}
	return pk.check()
}

// CheckRoot is Check, and commits to the weights on q: a key of which only the commitment is to other weights has the right digest and a proof that
// holds. Proofs find that out by themselves. It is for who takes a key from elsewhere in place of one that Setup would make, and gives the
// verifying key to others.
func (pk *ProvingKey) CheckRoot(q *device.Queue) error {
	if err := pk.Check(); err != nil {
		return err
	}
	r, err := pk.Load(q)
	if err != nil {
		return err
	}
	defer r.Drop()
	return r.Wait(q.Context())
}

// Encode is the key's canonical encoding.
func (pk *ProvingKey) Encode() ([]byte, error) { return zkml.EncodeProvingKey(pk.vk, pk.weights) }

// Write writes the key's canonical encoding, a tensor after the other, without having all of it in memory once more.
func (pk *ProvingKey) Write(w io.Writer) error { return zkml.WriteProvingKey(w, pk.vk, pk.weights) }

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

// Forget gives up what the key keeps for the next proof: on the host, the weights' commitment. It is made again when it is needed. Where the key
// is loaded, that goes on with the commitment, and gives it up in the end.
func (pk *ProvingKey) Forget() {
	pk.mu.Lock()
	c := pk.committed
	pk.committed = nil
	unused := c != nil && c.users == 0
	pk.mu.Unlock()
	if unused {
		c.free()
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
