package prover

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// commitment is one to a key's parameters that is being made, while other work goes on: the forward pass, the commitments to a witness, lookups. A proof
// needs it for the openings, which come last, since the transcript has the root that the verifying key says. So it is there that a proof waits for it, and
// finds out whether these are the key's weights.
type commitment struct {
	once   sync.Once
	finish func() (*whirprover.CommittedM31, error) // waits for it
	made   *whirprover.CommittedM31                 // once it is there
	err    error
	bad    atomic.Bool   // it failed, and will never be there
	bytes  int64         // of device memory that it takes
	done   chan struct{} // closed by the goroutine that makes it, if there is one
	stop   func()        // makes that goroutine give up
	users  int           // keys in memory, of those that share it
}

// wait waits until the commitment is there and known to be the key's.
func (c *commitment) wait(ctx context.Context) (*whirprover.CommittedM31, error) {
	if c.done != nil {
		select {
		case <-c.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c.end()
	return c.made, c.err
}

func (c *commitment) end() {
	c.once.Do(func() {
		c.made, c.err = c.finish()
		c.finish = nil
		c.bad.Store(c.err != nil)
	})
}

// failed says whether somebody waited in vain.
func (c *commitment) failed() bool { return c != nil && c.bad.Load() }

// making says whether a goroutine is making it.
func (c *commitment) making() bool {
	if c.done == nil {
		return false
	}
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// free waits until nothing reads the parameters any more, which may be at once, and gives the commitment's memory back.
func (c *commitment) free() {
	if c.stop != nil {
		c.stop()
	}
	if made, _ := c.wait(context.Background()); made != nil {
		made.Free()
	}
}

// finished is a commitment that is there.
func finished(made *whirprover.CommittedM31) *commitment {
	return &commitment{finish: func() (*whirprover.CommittedM31, error) { return made, nil }}
}

// commitAside begins to commit to a table, on a queue of its own and on the host by a goroutine of its own, which q's context does not stop. The table may
// be read once what q was given so far is done, must not change, and may be given back after wait or free. That the device has no memory for it is known at
// once; that the root is not the wanted one, with wait.
func commitAside(q *device.Queue, params *whir.M31Params, table device.Buffer[m31.Element], want [8]m31.Element) (*commitment, error) {
	if err := q.Err(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(q.Context()))
	own, err := q.Device().NewQueue(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	if own.OnHost() {
		c := &commitment{done: make(chan struct{}), stop: stop, finish: func() (*whirprover.CommittedM31, error) {
			defer stop()
			made, err := whirprover.CommitM31(own, params, table.Host())
			return checkRoot(made, err, want)
		}}
		go func() {
			defer close(c.done)
			c.end()
		}()
		return c, nil
	}
	err = own.After(q)
	var made *whirprover.CommittedM31
	if err == nil {
		made, err = whirprover.CommitTableM31(own, params, table)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("commit to the parameters: %w", err), own.Close())
		stop()
		return nil, err
	}
	return &commitment{bytes: made.Bytes(), finish: func() (*whirprover.CommittedM31, error) {
		defer stop()
		c, err := checkRoot(made, nil, want)
		if e := own.Close(); err == nil && e != nil {
			c.Free()
			c, err = nil, fmt.Errorf("commit to the parameters: %w", e)
		}
		return c, err
	}}, nil
}

// checkRoot waits for a commitment's root, and gives the commitment up if that is not the wanted one.
func checkRoot(c *whirprover.CommittedM31, err error, want [8]m31.Element) (*whirprover.CommittedM31, error) {
	if err != nil {
		return nil, fmt.Errorf("commit to the parameters: %w", err)
	}
	root, err := c.Root()
	switch {
	case err != nil:
		err = fmt.Errorf("commit to the parameters: %w", err)
	case root != want:
		err = fmt.Errorf("%w: the weights' commitment is not the verifying key's", ErrKey)
	}
	if err != nil {
		c.Free()
		return nil, err
	}
	return c, nil
}

// commit begins the parameters' commitment for a key in memory, if the key has one. That of the host is the proving key's own, and made once. The stack is
// the first of words.
func (k *keyMemory) commit(q *device.Queue, pk *ProvingKey) (err error) {
	params := pk.vk.Inference().Commitments[plan.Parameters]
	if params == nil {
		return nil
	}
	stack, root := k.words.Slice(0, 1<<params.Vars()), pk.vk.Root()
	if !q.OnHost() {
		k.committed, err = commitAside(q, params, stack, root)
		return err
	}
	pk.mu.Lock()
	defer pk.mu.Unlock()
	if pk.committed == nil || pk.committed.failed() {
		if pk.committed, err = commitAside(q, params, stack, root); err != nil {
			return err
		}
	}
	k.committed, k.of = pk.committed, pk
	k.committed.users++
	return nil
}

// uncommit ends what commit began.
func (k *keyMemory) uncommit() {
	c, pk := k.committed, k.of
	if c == nil {
		return
	}
	if pk == nil {
		c.free()
		return
	}
	// Others may still want it, or the next proof; unless it is not there yet, and nobody waits for it, or the proving key has given it up.
	pk.mu.Lock()
	c.users--
	dropped := c.users == 0 && (c.making() || pk.committed != c)
	if dropped && pk.committed == c {
		pk.committed = nil
	}
	pk.mu.Unlock()
	if dropped {
		c.free()
		return
	}
	_, _ = c.wait(context.Background()) // it may be reading the words
}
