package msm_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/msmtest"
)

// Sums need no more memory than Memory says, and prepared scalars about what it says; they
// come from buffers as from the host.
func TestMemoryOfSums(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	const n = 3000
	ctx := context.Background()
	x := &task{random(r, n), random(r, n)}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		m, err := msmtest.Toy61.Memory(d, n, msm.Options{Window: 7})
		if err != nil {
			t.Fatal(err)
		}
		b, err := msm.New(d, msmtest.Toy61, x.bases(), msm.Options{Window: 7})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		scalars := devicetest.Upload(t, q, x.scalars())
		if err := q.Sync(); err != nil {
			t.Fatal(err)
		}
		before := d.InUse()
		p, err := b.PrepareBuffer(ctx, scalars)
		if err != nil {
			t.Fatal(err)
		}
		if lists := d.InUse() - before; lists > m.Lists || lists < m.Lists/2 {
			t.Errorf("prepared scalars take %d bytes, not %d", lists, m.Lists)
		}
		if got, err := b.SumPrepared(ctx, p); err != nil || got != x.want() {
			t.Errorf("sum of prepared scalars: %v, %v", got, err)
		}
		p.Close()
		if q.OnHost() {
			if m != (msm.Memory{}) {
				t.Errorf("on the CPU: %+v", m)
			}
			return
		}
		if m.Points != n*16 || m.Least >= m.Sum || m.Lists >= m.Sum {
			t.Errorf("%+v", m)
		}
		defer d.SetBudget(0)
		for _, bytes := range []int64{m.Sum, m.Least} {
			d.SetBudget(d.InUse() + bytes)
			if got, err := b.SumBuffer(ctx, scalars); err != nil || got != x.want() {
				t.Errorf("%d bytes for a sum: %v, %v", bytes, got, err)
			}
		}
		d.SetBudget(0)
		if none, err := msmtest.Toy61.Memory(d, 0, msm.Options{}); none != (msm.Memory{}) || err != nil {
			t.Errorf("no points: %+v, %v", none, err)
		}
		if _, err := msmtest.Toy61.Memory(d, n, msm.Options{Window: 99}); !errors.Is(err, msm.ErrInput) {
			t.Errorf("windows of 99 bits: %v", err)
		}
		if _, err := b.PrepareBuffer(ctx, device.Buffer[fr.Element]{}); !errors.Is(err, msm.ErrInput) {
			t.Errorf("no scalars: %v", err)
		}
	})
}
