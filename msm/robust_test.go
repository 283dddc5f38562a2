package msm_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/curve/toy61"
	toyfr "github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm"
	zkbn254 "github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/msmtest"
)

func TestMain(m *testing.M) { devicetest.Main(m) }

// Under budgets that fall the sums stay right, in more and more chunks, until an error
// says what is needed.
func TestMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const n = 6000
	few := &task{random(r, 50), random(r, 50)}
	x := &task{}
	for i := range n {
		x.k, x.s = append(x.k, few.k[i%50]), append(x.s, number(r))
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		b, err := msm.New(d, msmtest.Toy61, x.bases(), msm.WithGroups(msm.Options{Window: 11}, 2))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		defer d.SetBudget(0)
		used, right := d.InUse(), 0
		for budget := int64(16 << 20); ; budget = budget * 3 / 4 {
			d.SetBudget(used + budget)
			got, err := b.Sum(context.Background(), x.scalars())
			if err != nil {
				e := (*device.Error)(nil)
				if !errors.Is(err, device.ErrNoMemory) || !errors.As(err, &e) || e.Bytes <= budget {
					t.Errorf("%d bytes: %v", budget, err)
				}
				break
			}
			if got != x.want() {
				t.Errorf("%d bytes: wrong", budget)
			}
			right++
			if d.InUse() > used+budget {
				t.Errorf("%d bytes: %d in use", budget, d.InUse()-used)
			}
		}
		if right < 4 {
			t.Errorf("only %d budgets were enough", right)
		}
		d.SetBudget(used + 1<<10)
		if _, err := msm.New(d, msmtest.Toy61, x.bases(), msm.Options{}); !errors.Is(err, device.ErrNoMemory) {
			t.Errorf("bases without memory: %v", err)
		}
		d.SetBudget(0)
		if got, err := b.Sum(context.Background(), x.scalars()); err != nil || got != x.want() {
			t.Errorf("with memory again: %v, %v", got, err)
		}
	})
}

// Memory of points counts once: not again if they are on the device already, and in what
// an error says is needed.
func TestMemoryOfPoints(t *testing.T) {
	const n, size = 1 << 18, 16
	points := make([]toy61.G1Affine, n)
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		there := devicetest.Upload(t, q, points)
		defer d.SetBudget(0)
		d.SetBudget(d.InUse() + n*size)
		b, err := msm.NewBuffer(d, msmtest.Toy61, there, msm.Options{})
		if err != nil {
			t.Fatalf("points that are there, with as much memory again: %v", err)
		}
		b.Close()
		e := (*device.Error)(nil)
		if _, err := msm.New(d, msmtest.Toy61, points, msm.Options{}); !errors.Is(err, device.ErrNoMemory) || !errors.As(err, &e) || e.Bytes <= n*size {
			t.Fatalf("points that leave no memory: %v", err)
		}
		d.SetBudget(d.InUse() + e.Bytes)
		if b, err = msm.New(d, msmtest.Toy61, points, msm.Options{}); err != nil {
			t.Fatalf("with the %d bytes asked for: %v", e.Bytes, err)
		}
		b.Close()
	})
}

// countdown is a context that ends when it has been asked for its error some times.
type countdown struct {
	context.Context
	left *atomic.Int64
}

func (c countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancel(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	x := &task{random(r, 300), random(r, 300)}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, o := range []msm.Options{{}, msm.WithGroups(msm.Options{Window: 7, Chunk: 150}, 2)} {
			b, err := msm.New(q.Device(), msmtest.Toy61, x.bases(), o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Sum(context.Background(), x.scalars()); err != nil {
				t.Fatal(err)
			}
			used, stopped := q.Device().InUse(), 0
			for at := int64(0); ; at += 1 + at/8 {
				left := new(atomic.Int64)
				left.Store(at)
				got, err := b.Sum(countdown{context.Background(), left}, x.scalars())
				if err == nil {
					if got != x.want() {
						t.Error("wrong")
					}
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("stopped after %d: %v", at, err)
				}
				stopped++
			}
			if stopped == 0 {
				t.Error("nothing was stopped")
			}
			// What an allocation that was stopped leaves is the collector's.
			for i := 0; q.Device().InUse() > used && i < 200; i++ {
				runtime.GC()
				time.Sleep(5 * time.Millisecond)
			}
			if now := q.Device().InUse(); now > used {
				t.Errorf("%d bytes in use after %d", now, used)
			}
			if got, err := b.Sum(context.Background(), x.scalars()); err != nil || got != x.want() {
				t.Errorf("afterwards: %v, %v", got, err)
			}
			b.Close()
		}
	})
}

func TestConcurrent(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	tasks := make([]*task, 8)
	k := random(r, 200)
	for i := range tasks {
		tasks[i] = &task{k, random(r, 200)}
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		a, err := msm.New(q.Device(), msmtest.Toy61, tasks[0].bases(), msm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := msm.New(q.Device(), msmtest.Toy61, tasks[0].bases(), msm.WithGroups(msm.Options{Window: 6}, 3))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i, x := range tasks {
			wg.Go(func() {
				for j := range 4 {
					bases := []*msm.Bases[toy61.G1Affine, toyfr.Element]{a, b}[(i+j)%2]
					if got, err := bases.Sum(context.Background(), x.scalars()); err != nil || got != x.want() {
						t.Errorf("%d: %v, %v", i, got, err)
					}
				}
			})
		}
		wg.Wait()
		for range 3 { // Close while sums are running: they finish, or find the bases closed
			wg.Go(func() {
				if got, err := a.Sum(context.Background(), tasks[0].scalars()); err != nil && !errors.Is(err, msm.ErrClosed) || err == nil && got != tasks[0].want() {
					t.Errorf("while closing: %v, %v", got, err)
				}
			})
		}
		a.Close()
		wg.Wait()
		b.Close()
	})
}

// Several groups in one process, against gnark-crypto.
func TestWide(t *testing.T) {
	if os.Getenv("ZKWARP_SIMT_ORDER")+os.Getenv("ZKWARP_SIMT_SANITIZE") != "" {
		t.Skip("wide coordinates say nothing of orders")
	}
	const n = 5
	scalars := make([]fr.Element, n)
	g1, g2 := make([]bn254.G1Affine, n), make([]bn254.G2Affine, n)
	_, _, p, q2 := bn254.Generators()
	for i := range scalars {
		scalars[i].MustSetRandom()
		var k fr.Element
		k.MustSetRandom()
		g1[i].ScalarMultiplication(&p, k.BigInt(new(big.Int)))
		g2[i].ScalarMultiplication(&q2, k.BigInt(new(big.Int)))
	}
	g1[1], g2[1] = bn254.G1Affine{}, bn254.G2Affine{}
	g1[3].Neg(&g1[2])
	g2[3] = g2[2]
	scalars[3] = scalars[2]
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		same(t, q, zkbn254.G1, g1, scalars, msm.Options{Window: 6})
		same(t, q, zkbn254.G2, g2, scalars, msm.Options{Window: 6})
	})
}

// same compares a sum with the host's.
func same[P comparable, S any](t *testing.T, q *device.Queue, c *msm.Curve[P, S], points []P, scalars []S, o msm.Options) {
	t.Helper()
	want, err := c.Host.Sum(context.Background(), points, scalars)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := msm.Sum(context.Background(), q.Device(), c, points, scalars, o); err != nil || got != want {
		t.Errorf("%s: %v, %v", c.Group.Name, got, err)
	}
}
