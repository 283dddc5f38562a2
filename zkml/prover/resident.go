package prover

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Errors of a Resident.
var (
	// ErrClosed is returned for a proof after Close.
	ErrClosed = errors.New("the resident key is closed")
	// ErrInUse is returned by Close while proofs are being made.
	ErrInUse = errors.New("the resident key is in use")
)

// Resident is a proving key with everything that proofs need of it alone in the
// memory of one device: stacked parameters, lookup tables, and the descriptors
// that kernels follow. It is safe for concurrent use, each proof on a queue of
// its own. Its memory counts as the device's buffers do.
type Resident struct {
	pk   *ProvingKey
	dev  *device.Device
	form Form

	mu     sync.Mutex
	key    *keyMemory // nil while evicted
	users  int        // proofs being made
	evict  bool       // as soon as there are none
	closed bool
}

// keyMemory is a key's part of device memory.
type keyMemory struct {
	words     device.Buffer[m31.Element]
	desc      device.Buffer[uint64] // empty where the queue runs on the host
	committed *commitment           // to the parameters, if they are committed
	of        *ProvingKey           // whose own the commitment is, if it is

	// Of keys that become narrow: the parameters as they are stored, and what follows them in words, which then has none.
	stored *storedParams
	rest   device.Buffer[m31.Element]
}

func (k *keyMemory) free() {
	k.uncommit()
	k.words.Free()
	k.desc.Free()
	k.rest.Free()
	if k.stored != nil {
		k.stored.free()
	}
}

// bytes of device memory.
func (k *keyMemory) bytes() int64 {
	n := 4*int64(k.words.Len()+k.rest.Len()) + 8*int64(k.desc.Len())
	if k.stored != nil {
		n += k.stored.size()
	}
	if k.committed != nil {
		n += k.committed.bytes
	}
	return n
}

// load puts what proofs need of the key to q's device, and begins the commitment to
// the parameters. via may be nil.
func (pk *ProvingKey) load(q *device.Queue, l *layout, via *Uploader, form Form) (*keyMemory, error) {
	k, err := loadKeyAs(q, l, pk, via, form)
	if err != nil {
		return nil, err
	}
	if err := k.commit(q, pk); err != nil {
		k.free()
		return nil, err
	}
	return k, nil
}

// loadKey uploads a key's memory and waits for it, so that other queues may
// read it.
func loadKey(q *device.Queue, l *layout, pk *ProvingKey, via *Uploader) (*keyMemory, error) {
	return loadKeyAs(q, l, pk, via, Wide)
}

// loadKeyAs is loadKey with what the key needs to become narrow.
func loadKeyAs(q *device.Queue, l *layout, pk *ProvingKey, via *Uploader, form Form) (*keyMemory, error) {
	if err := preload(q); err != nil {
		return nil, err
	}
	stack := 0 // words of the parameters, which come first
	if st := &l.plan.Stacks[plan.Parameters]; !st.Empty() {
		stack = 1 << st.Vars
	}
	rest := make([]m31.Element, l.fixed-stack)
	for i, columns := range l.tables {
		for k, at := range columns {
			if at != nowhere {
				t := &l.plan.Tables[i]
				t.Columns[k].Write(rest[int(at&^fixedBit)-stack:][:1<<t.Bits], 0)
			}
		}
	}
	k := new(keyMemory)
	var err error
	if k.words, err = device.Alloc[m31.Element](q, l.fixed); err == nil {
		err = k.words.Slice(stack, l.fixed).CopyFrom(q, rest)
	}
	switch {
	case err != nil:
	case form == Narrow && stack > 0 && pk.narrows(q):
		if k.stored, err = newStoredLayout(l.plan, pk.program(), pk.weights).upload(q, via); err == nil {
			err = k.stored.widen(q, k.words.Slice(0, stack))
		}
		if err == nil {
			k.rest, err = device.Upload(q, rest)
		}
	default:
		err = pk.params(q, l.plan, k.words.Slice(0, stack), via)
	}
	if err == nil && !q.OnHost() {
		k.desc, err = device.Upload(q, []uint64(l.desc))
	}
	if err == nil {
		err = q.Sync()
	}
	if err != nil {
		k.free()
		return nil, fmt.Errorf("key: %w", err)
	}
	return k, nil
}

// checkMemory says whether the device may have the memory for a key that is not
// loaded, and for a proof if there is to be one.
func checkMemory(q *device.Queue, l *layout, loaded, proving bool) error {
	key, proof := l.least()
	if loaded {
		key = 0
	}
	if !proving {
		proof = 0
	}
	return q.Device().CheckMemory(key + proof)
}

// Load puts the key into the memory of q's device. Close gives it back. The commitment to the weights is still being made then, on a queue of its own;
// a proof waits for it before its openings, and it is there, or with Wait, that weights which are not the verifying key's show.
func (pk *ProvingKey) Load(q *device.Queue) (*Resident, error) {
	r := pk.On(q.Device())
	if err := r.Load(q, nil); err != nil {
		return nil, err
	}
	return r, nil
}

// On is the key on a device, with nothing loaded yet: the first proof does that, or Load.
func (pk *ProvingKey) On(dev *device.Device) *Resident { return pk.OnAs(dev, Wide) }

// OnAs is On with the form in which the key stays there.
func (pk *ProvingKey) OnAs(dev *device.Device, form Form) *Resident {
	return &Resident{pk: pk, dev: dev, form: form}
}

// Load puts the key into the device's memory, unless it is there, before a proof needs it: on a queue of its own, beside proofs on others. via,
// which may be nil, is for those who load often.
func (r *Resident) Load(q *device.Queue, via *Uploader) error {
	if _, _, err := r.acquire(q, via, false); err != nil {
		return fmt.Errorf("zkml: load the key: %w", err)
	}
	r.release()
	return nil
}

// Wait waits for the commitment to the weights, which Load has begun, and says whether they are the verifying key's. Proofs do that by themselves.
func (r *Resident) Wait(ctx context.Context) error {
	r.mu.Lock()
	if r.key == nil || r.key.committed == nil {
		r.mu.Unlock()
		return nil
	}
	c := r.key.committed
	r.users++
	r.mu.Unlock()
	defer r.release()
	if _, err := c.wait(ctx); err != nil {
		return fmt.Errorf("zkml: load the key: %w", err)
	}
	return nil
}

// Key is the proving key.
func (r *Resident) Key() *ProvingKey { return r.pk }

// Bytes is the device memory that the key takes at the moment.
func (r *Resident) Bytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.key == nil {
		return 0
	}
	return r.key.bytes()
}

// acquire is the key's memory for one proof on q, or for none yet, loaded if need
// be.
func (r *Resident) acquire(q *device.Queue, via *Uploader, proving bool) (*layout, *keyMemory, error) {
	if q.Device() != r.dev {
		return nil, nil, fmt.Errorf("the key is resident on %s, the queue is on %s", r.dev.Name(), q.Device().Name())
	}
	l, err := r.pk.layout()
	if err != nil {
		return nil, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, ErrClosed
	}
	if err := checkMemory(q, l, r.key != nil && (!r.key.isNarrow() || !proving), proving); err != nil {
		return nil, nil, err
	}
	if r.key != nil && r.users == 0 && r.key.committed.failed() {
		r.drop()
	}
	if r.key == nil {
		if r.key, err = r.pk.load(q, l, via, r.form); err != nil {
			return nil, nil, err
		}
	}
	r.users++
	return l, r.key, nil
}

func (r *Resident) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users--; r.users > 0 {
		return
	}
	if r.evict {
		r.drop()
	} else if r.key != nil {
		r.key.narrow()
	}
}

func (r *Resident) drop() {
	r.evict = false
	if r.key != nil {
		r.key.free()
		r.key = nil
	}
}

// Prove is the function Prove with the key where it is.
func (r *Resident) Prove(q *device.Queue, x []int32, opts *Options) (*Result, error) {
	if opts == nil {
		opts = new(Options)
	}
	if err := r.pk.vk.Program().CheckInput(x); err != nil {
		return nil, fmt.Errorf("zkml: prove: input: %w", err)
	}
	l, key, err := r.acquire(q, nil, true)
	if err != nil {
		return nil, fmt.Errorf("zkml: prove: %w", err)
	}
	defer r.release()
	key, done, err := key.widen(q, l)
	if err != nil {
		return nil, fmt.Errorf("zkml: prove: %w", err)
	}
	defer done()
	result, err := prove(q, r.pk, l, key, x, opts)
	if err == nil || errors.Is(err, ErrKey) {
		if e := r.pk.Check(); e != nil {
			result, err = nil, e
		}
	}
	if err != nil {
		return nil, fmt.Errorf("zkml: prove: %w", err)
	}
	return result, nil
}

// Evict gives the key's device memory back, as soon as no proof needs it. The
// next proof loads it again.
func (r *Resident) Evict() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.evict = true; r.users == 0 {
		r.drop()
	}
}

// Drop is Evict, and gives up what the proving key keeps on the host for its next proof (ProvingKey.Forget).
func (r *Resident) Drop() {
	r.Evict()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users == 0 {
		r.pk.Forget()
	}
}

// Close gives the memory back for good: later proofs fail. While proofs are
// being made it is an error and does nothing.
func (r *Resident) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users > 0 {
		return fmt.Errorf("zkml: close: %w: %d proofs are being made", ErrInUse, r.users)
	}
	r.closed = true
	r.drop()
	return nil
}
