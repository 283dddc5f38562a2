package prover

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/prover"
)

// Loaded is a chain on devices, for many proofs. Keys that fit stay in the devices' memory; the others are loaded for each proof, while the part
// before them is proved where there is room, and given up after it.
type Loaded struct {
	chain   *chunks.Chain
	devices []*device.Device
	memory  *Memory
	keys    []*prover.Resident // by part
	uploads []*prover.Uploader // by device; nil until needed
	proving sync.Mutex
}

// On puts a chain on devices. Nothing is loaded yet: Load does that, or the first proof.
func On(devices []*device.Device, chain *chunks.Chain, keys []*prover.ProvingKey) (*Loaded, error) {
	return on(devices, chain, keys, true)
}

// Once is On for a single proof, for which no key is kept narrow: each is used as soon as it is there.
func Once(devices []*device.Device, chain *chunks.Chain, keys []*prover.ProvingKey) (*Loaded, error) {
	return on(devices, chain, keys, false)
}

func on(devices []*device.Device, chain *chunks.Chain, keys []*prover.ProvingKey, narrow bool) (*Loaded, error) {
	if err := given.Check(given.Arg{Name: "chain", Given: chain != nil}); err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	if len(keys) != len(chain.Keys()) {
		return nil, fmt.Errorf("chain: %d proving keys for %d parts", len(keys), len(chain.Keys()))
	}
	for i, d := range devices {
		if err := given.Check(given.Arg{Name: fmt.Sprintf("device %d of %d", i+1, len(devices)), Given: d != nil}); err != nil {
			return nil, fmt.Errorf("chain: %w", err)
		}
	}
	for k, vk := range chain.Keys() {
		if err := given.Check(given.Arg{Name: fmt.Sprintf("proving key of part %d", k+1), Given: keys[k] != nil}); err != nil {
			return nil, fmt.Errorf("chain: %w", err)
		}
		if keys[k].VerifyingKey().Digest() != vk.Digest() {
			return nil, fmt.Errorf("chain: the proving key of part %d is of another program", k+1)
		}
	}
	memory, err := planMemory(devices, keys, narrow)
	if err != nil {
		return nil, err
	}
	l := &Loaded{chain: chain, devices: devices, memory: memory, uploads: make([]*prover.Uploader, len(devices))}
	for k, pk := range keys {
		l.keys = append(l.keys, pk.OnAs(devices[memory.Parts[k].Device], memory.Parts[k].Form))
	}
	return l, nil
}

// Memory is the plan that proofs follow.
func (l *Loaded) Memory() *Memory { return l.memory }

// Load loads the keys that stay, on all devices at once, each while the one before it is committed to.
func (l *Loaded) Load(ctx context.Context) error {
	l.proving.Lock()
	defer l.proving.Unlock()
	errs := make([]error, len(l.devices))
	var all sync.WaitGroup
	for d := range l.devices {
		all.Go(func() {
			errs[d] = l.withLoader(ctx, d, func(q *device.Queue, via *prover.Uploader) error {
				for _, k := range l.memory.Devices[d].Parts {
					if l.memory.Parts[k].Stays {
						if err := l.keys[k].Load(q, via); err != nil {
							return fmt.Errorf("chain: %s on %s: %w", l.chain.PartName(k), l.devices[d].Name(), err)
						}
					}
				}
				for _, k := range l.memory.Devices[d].Parts {
					if err := l.keys[k].Wait(ctx); err != nil {
						return fmt.Errorf("chain: %s on %s: %w", l.chain.PartName(k), l.devices[d].Name(), err)
					}
				}
				return nil
			})
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// withLoader calls f with a queue of device d for loading keys.
func (l *Loaded) withLoader(ctx context.Context, d int, f func(q *device.Queue, via *prover.Uploader) error) error {
	q, err := l.devices[d].NewQueue(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", l.devices[d].Name(), err)
	}
	if l.uploads[d] == nil && !q.OnHost() {
		if l.uploads[d], err = prover.NewUploader(l.devices[d]); err != nil {
			return errors.Join(err, q.Close())
		}
	}
	err = f(q, l.uploads[d])
	return errors.Join(err, q.Close())
}

// Close gives all memory back. Proofs must not be going on.
func (l *Loaded) Close() error {
	l.proving.Lock()
	defer l.proving.Unlock()
	var errs []error
	for _, k := range l.keys {
		errs = append(errs, k.Close())
	}
	for d, u := range l.uploads {
		errs = append(errs, u.Close())
		l.uploads[d] = nil
	}
	return errors.Join(errs...)
}

// loader loads keys of one device in order, on a queue of its own. Of those that do not stay at most two are in memory.
type loader struct {
	slots chan struct{}
	stop  context.CancelFunc
	ready map[int]chan loading
	ended chan struct{}
}

// loading is how the load of a key went.
type loading struct {
	err  error
	took time.Duration
}

// ahead starts to load the keys of parts, in order.
func (l *Loaded) ahead(ctx context.Context, d int, parts []int) *loader {
	ctx, stop := context.WithCancel(ctx)
	a := &loader{slots: make(chan struct{}, 2), stop: stop, ready: map[int]chan loading{}, ended: make(chan struct{})}
	for _, k := range parts {
		a.ready[k] = make(chan loading, 1)
	}
	go func() {
		defer close(a.ended)
		at := 0
		err := l.withLoader(ctx, d, func(q *device.Queue, via *prover.Uploader) error {
			for ; at < len(parts); at++ {
				k := parts[at]
				if !l.memory.Parts[k].Stays {
					select {
					case a.slots <- struct{}{}:
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				start := time.Now()
				err := l.keys[k].Load(q, via)
				if errors.Is(err, device.ErrNoMemory) {
					err = nil // its proof will load it, when the one before has ended
				}
				a.ready[k] <- loading{err, time.Since(start)}
			}
			return nil
		})
		for ; at < len(parts); at++ { // where the queue failed, or was stopped
			a.ready[parts[at]] <- loading{err: err}
		}
	}()
	return a
}

// wait waits for the key of a part.
func (a *loader) wait(k int) loading {
	r := <-a.ready[k]
	a.ready[k] <- r
	return r
}

// narrowed loads a part's key before its proof where it stays narrow and is not there: a proof that loads it takes more memory than planned.
func (l *Loaded) narrowed(q *device.Queue, k int) error {
	if p := &l.memory.Parts[k]; !p.Stays || p.Form != prover.Narrow || l.keys[k].Bytes() > 0 {
		return nil
	}
	return l.keys[k].Load(q, nil)
}

// done gives up a part's key unless it stays, and lets the loader go on.
func (l *Loaded) done(a *loader, k int) {
	if l.memory.Parts[k].Stays {
		return
	}
	if a == nil {
		l.keys[k].Drop()
		return
	}
	if _, ok := a.ready[k]; !ok {
		return // before the first part that had to be proved
	}
	a.wait(k)
	l.keys[k].Drop()
	select {
	case <-a.slots:
	default: // it was stopped before this part
	}
}

// close stops the loader and waits for it.
func (a *loader) close() {
	a.stop()
	<-a.ended
}
