package groth16

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
)

// counted is a key that takes one unit of a device that has some.
type counted struct {
	room        *int
	mu          *sync.Mutex
	fits, stale bool
	closed      int
}

func (c *counted) Solve(context.Context, constraint.ConstraintSystem, witness.Witness, backend.ProverConfig) (any, error) {
	return nil, nil
}
func (c *counted) Finish(context.Context, any, io.Reader, bool) (Proof, error) { return nil, nil }
func (c *counted) Bytes() int64                                                { return 1 }
func (c *counted) Current() bool                                               { return !c.stale }
func (c *counted) Whole() bool                                                 { return c.fits }
func (c *counted) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed++
	if c.fits {
		*c.room++
	}
}

// counting is a cache over a device with room for so many keys, and the keys it made.
func counting(size, room int) (*cache, map[ProvingKey][]*counted) {
	var mu sync.Mutex
	made := map[ProvingKey][]*counted{}
	return &cache{size: size, make: func(pk ProvingKey) (*Prover, error) {
		mu.Lock()
		defer mu.Unlock()
		k := &counted{room: &room, mu: &mu, fits: room > 0}
		if k.fits {
			room--
		}
		made[pk] = append(made[pk], k)
		return &Prover{pk: pk, key: k}, nil
	}}, made
}

func use(t *testing.T, c *cache, pk ProvingKey) {
	t.Helper()
	e, err := c.take(pk)
	if err != nil {
		t.Fatal(err)
	}
	c.release(e)
}

func TestCache(t *testing.T) {
	c, made := counting(2, 100)
	a, b, d := NewProvingKey(ecc.BN254), NewProvingKey(ecc.BN254), NewProvingKey(ecc.BLS12_381)
	use(t, c, a)
	use(t, c, b)
	use(t, c, a)
	if len(made[a]) != 1 || len(made[b]) != 1 {
		t.Fatalf("made %d and %d times, want once", len(made[a]), len(made[b]))
	}
	use(t, c, d) // b leaves, who was not used for longest
	if made[b][0].closed != 1 || made[a][0].closed != 0 {
		t.Errorf("b closed %d times, a %d times", made[b][0].closed, made[a][0].closed)
	}
	held, err := c.take(a)
	if err != nil {
		t.Fatal(err)
	}
	use(t, c, b)
	use(t, c, d) // a leaves while it is in use
	if made[a][0].closed != 0 {
		t.Error("closed a key in use")
	}
	c.release(held)
	if made[a][0].closed != 1 {
		t.Errorf("a closed %d times after its last user", made[a][0].closed)
	}
	if len(made[d]) != 2 {
		t.Fatalf("d was made %d times, want again after it left", len(made[d]))
	}
	if held, err = c.take(d); err != nil {
		t.Fatal(err)
	}
	made[d][1].stale = true
	use(t, c, d) // its prover says so
	if len(made[d]) != 2 || made[d][1].closed != 0 {
		t.Error("a key that changed under a proof was made anew")
	}
	c.release(held)
	use(t, c, d)
	if len(made[d]) != 3 || made[d][1].closed != 1 {
		t.Error("a key that changed was not made anew")
	}
	c.forget(d)
	c.forget(b)
	c.forget(b)
	for pk, list := range made {
		for i, k := range list {
			if k.closed != 1 {
				t.Errorf("%v: prover %d closed %d times", pk.CurveID(), i, k.closed)
			}
		}
	}
}

// Keys leave where a device has no room for a new one, but for those in use.
func TestCacheRoom(t *testing.T) {
	c, made := counting(10, 2)
	keys := []ProvingKey{NewProvingKey(ecc.BN254), NewProvingKey(ecc.BN254), NewProvingKey(ecc.BN254), NewProvingKey(ecc.BN254)}
	held, err := c.take(keys[0])
	if err != nil {
		t.Fatal(err)
	}
	use(t, c, keys[1])
	use(t, c, keys[2])
	if made[keys[0]][0].closed != 0 || made[keys[1]][0].closed != 1 {
		t.Error("not the key without users made room")
	}
	if n := len(made[keys[2]]); n != 2 || !made[keys[2]][1].fits {
		t.Errorf("made %d times", n)
	}
	other, err := c.take(keys[2])
	if err != nil {
		t.Fatal(err)
	}
	use(t, c, keys[3]) // there is none to leave: it works from the host
	if n := len(made[keys[3]]); n != 1 || made[keys[3]][0].fits {
		t.Errorf("made %d times", n)
	}
	c.release(held)
	c.release(other)
}

func TestCacheFailure(t *testing.T) {
	fails := true
	wrong := errors.New("no")
	c := &cache{size: 2, make: func(pk ProvingKey) (*Prover, error) {
		if fails {
			return nil, wrong
		}
		return &Prover{pk: pk, key: &counted{mu: new(sync.Mutex), room: new(int), fits: true}}, nil
	}}
	pk := NewProvingKey(ecc.BN254)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := c.take(pk); !errors.Is(err, wrong) {
				t.Errorf("error %v", err)
			}
		})
	}
	wg.Wait()
	if len(c.list) != 0 {
		t.Errorf("%d entries are left", len(c.list))
	}
	fails = false
	use(t, c, pk)
}

// A panic while a prover is made is the caller's alone, and nothing of it stays.
func TestCachePanic(t *testing.T) {
	panics := true
	c := &cache{size: 2, make: func(pk ProvingKey) (*Prover, error) {
		if panics {
			panic("no")
		}
		return &Prover{pk: pk, key: &counted{mu: new(sync.Mutex), room: new(int), fits: true}}, nil
	}}
	pk := NewProvingKey(ecc.BN254)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			defer func() { _ = recover() }()
			if _, err := c.take(pk); err == nil {
				t.Error("there is a prover")
			}
		})
	}
	wg.Wait()
	if len(c.list) != 0 {
		t.Errorf("%d entries are left", len(c.list))
	}
	panics = false
	use(t, c, pk)
}
