package msm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/curve/toy61"
	"github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/msmtest"
)

// several is n devices: all cards of the machine in turn, or one emulator n times.
func several(t *testing.T, d *device.Device, n int) []*device.Device {
	t.Helper()
	all := []*device.Device{d}
	if d.Kind() == device.CUDA {
		var err error
		if all, err = device.OpenList("cuda:all"); err != nil {
			t.Fatal(err)
		}
	}
	out := make([]*device.Device, n)
	for i := range out {
		out[i] = all[i%len(all)]
	}
	return out
}

// spread is a copy of v on every device.
func spread[T any](t *testing.T, devices []*device.Device, v []T) []device.Buffer[T] {
	t.Helper()
	queues := map[*device.Device]*device.Queue{}
	var out []device.Buffer[T]
	for _, d := range devices {
		if queues[d] == nil {
			queues[d] = devicetest.Queue(t, d)
		}
		b := devicetest.Upload(t, queues[d], v)
		if err := queues[d].Sync(); err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// Devices share windows, and fractions of one where their number does not divide.
func TestDevices(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 300
	x := &task{random(r, n), random(r, n)}
	want := x.want()
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, c := range []struct{ devices, bits, sets int }{{1, 8, 0}, {2, 8, 0}, {3, 8, 2}, {5, 8, 3}, {4, 7, 1}, {20, 4, 2}} {
			t.Run(fmt.Sprintf("%d devices, %d sets", c.devices, c.sets), func(t *testing.T) {
				devices := several(t, q.Device(), c.devices)
				o, err := msm.WithSets(msm.Options{Devices: devices}, msmtest.Toy61.Group, c.bits, c.sets, n)
				if err != nil {
					t.Fatal(err)
				}
				b, err := msm.New(nil, msmtest.Toy61, x.bases(), o)
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				scalars := spread(t, devices, x.scalars())
				for range 2 {
					points, err := b.Sum(context.Background(), x.scalars())
					if err != nil {
						t.Fatal(err)
					}
					buckets, err := b.SumBuffers(context.Background(), scalars)
					if err != nil {
						t.Fatal(err)
					}
					if points != want || buckets != want {
						t.Errorf("by points %v, by buckets %v, not %v", points, buckets, want)
					}
				}
				slices.Reverse(devices)
				slices.Reverse(scalars)
				turned, err := msm.New(nil, msmtest.Toy61, x.bases(), o)
				if err != nil {
					t.Fatal(err)
				}
				defer turned.Close()
				if got, err := turned.SumBuffers(context.Background(), scalars); err != nil || got != want {
					t.Errorf("devices in reverse: %v, %v", got, err)
				}
			})
		}
	})
}

func TestNewBuffers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const n = 50
	x := &task{random(r, n), random(r, n)}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		devices := several(t, q.Device(), 3)
		scalars := spread(t, devices, x.scalars())
		for _, o := range []msm.Options{{}, {Check: true}, {Subgroup: msm.Verify}} {
			b, err := msm.NewBuffers(devices, msmtest.Toy61, spread(t, devices, x.bases()), o)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := b.SumBuffers(context.Background(), scalars); err != nil || got != x.want() {
				t.Errorf("%v, %v", got, err)
			}
			b.Close()
		}
		bad := x.bases()
		bad[41].X, bad[43].X = bad[41].Y, bad[43].Y
		_, lists := msm.NewBuffers(devices[:2], msmtest.Toy61, spread(t, devices, x.bases()), msm.Options{})
		_, none := msm.NewBuffers[toy61.G1Affine, fr.Element](nil, msmtest.Toy61, nil, msm.Options{})
		_, lengths := msm.NewBuffers(devices[:2], msmtest.Toy61, []device.Buffer[toy61.G1Affine]{spread(t, devices[:1], bad)[0], spread(t, devices[:1], bad[:9])[0]}, msm.Options{})
		_, buffer := msm.NewBuffer(devices[0], msmtest.Toy61, spread(t, devices[:1], bad)[0], msm.Options{Check: true})
		_, host := msm.New(devices[0], msmtest.Toy61, bad, msm.Options{Subgroup: msm.Verify})
		for name, err := range map[string]error{
			"points on 3 devices for 2":       lists,
			"points on 0 devices for 0":       none,
			"9 points on device 1":            lengths,
			"point 41 is not on the curve":    buffer,
			"bases: bad input: point 41 is n": host,
		} {
			if !errors.Is(err, msm.ErrInput) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A device that fails says why, the others stop, and the bases go on.
func TestOneFails(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const n = 400
	x := &task{random(r, n), random(r, n)}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		devices := several(t, q.Device(), 3)
		b, err := msm.New(nil, msmtest.Toy61, x.bases(), msm.Options{Devices: devices, Window: 8})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		good, broken := spread(t, devices, x.scalars()), spread(t, devices, x.scalars())
		broken[1].Free()
		ctx, cancel := context.WithCancel(context.Background())
		for range 3 {
			if _, err := b.SumBuffers(ctx, broken); !errors.Is(err, device.ErrUsage) || errors.Is(err, context.Canceled) {
				t.Errorf("a freed buffer on one device: %v", err)
			}
			if got, err := b.SumBuffers(ctx, good); err != nil || got != x.want() {
				t.Errorf("afterwards: %v, %v", got, err)
			}
		}
		for what, list := range map[string][]device.Buffer[fr.Element]{"2 devices": good[:2], "0 devices": nil} {
			if _, err := b.SumBuffers(ctx, list); !errors.Is(err, msm.ErrInput) || !strings.Contains(err.Error(), what) {
				t.Errorf("scalars on %s: %v", what, err)
			}
		}
		cancel()
		if _, err := b.SumBuffers(ctx, good); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that is over: %v", err)
		}
		bad := x.scalars()
		words := curveOrder()
		bad[n-1] = fr.Element{words}
		if _, err := b.Sum(context.Background(), bad); !errors.Is(err, msm.ErrInput) || !strings.Contains(err.Error(), fmt.Sprint("scalar ", n-1)) {
			t.Errorf("a bad scalar in the last device's share: %v", err)
		}
	})
}

// curveOrder is the order as a scalar's word, which no scalar may be.
func curveOrder() uint64 { return order.Uint64() }

func TestSimulate(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const n = 200
	x := &task{random(r, n), random(r, n)}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		b, err := msm.New(q.Device(), msmtest.Toy61, x.bases(), msm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		scalars := devicetest.Upload(t, q, x.scalars())
		if err := q.Sync(); err != nil {
			t.Fatal(err)
		}
		for _, devices := range []int{1, 3, 16} {
			s, err := b.Simulate(context.Background(), scalars, devices)
			if err != nil {
				t.Fatal(err)
			}
			longest := slices.Max(s.Shares)
			if s.Sum != x.want() || len(s.Shares) != devices || longest <= 0 || s.Total() != longest+s.Combine {
				t.Errorf("%d devices: %+v", devices, s)
			}
		}
		_, none := b.Simulate(context.Background(), scalars, 0)
		_, few := b.Simulate(context.Background(), scalars.Slice(0, 3), 2)
		if !errors.Is(none, msm.ErrInput) || !errors.Is(few, msm.ErrInput) {
			t.Error(none, few)
		}
	})
}

// Scalars that come in pieces while others are added up, from all kinds of memory.
func TestUploads(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	const n = 700
	x := &task{random(r, n), random(r, n)}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		pinned, err := device.AllocPinned[fr.Element](q.Device(), n)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := pinned.Free(); err != nil {
				t.Error(err)
			}
		}()
		for name, link := range map[string]float64{"slow": 1, "as fast as the additions": 4e6} {
			for devices := 1; devices <= 2; devices++ {
				o := msm.WithLink(msm.Options{Devices: several(t, q.Device(), devices), Window: 8}, link)
				b, err := msm.New(nil, msmtest.Toy61, x.bases(), msm.WithGroups(o, 3))
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					copy(pinned.Host(), x.scalars())
					fromPinned, err1 := b.SumPinned(context.Background(), pinned)
					clear(pinned.Host())
					fromHost, err2 := b.Sum(context.Background(), x.scalars())
					if want := x.want(); err1 != nil || err2 != nil || fromPinned != want || fromHost != want {
						t.Errorf("%s link, %d devices: %v, %v; %v, %v", name, devices, fromPinned, err1, fromHost, err2)
					}
				}
				bad := x.scalars()
				bad[n-2] = fr.Element{curveOrder()}
				if _, err := b.Sum(context.Background(), bad); !errors.Is(err, msm.ErrInput) || !strings.Contains(err.Error(), fmt.Sprint("scalar ", n-2, ":")) {
					t.Errorf("a bad scalar in the last piece: %v", err)
				}
				b.Close()
			}
		}
	})
}

// Sums of several goroutines are on a device two at a time, or one where memory is short.
func TestTwoAtATime(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	const n, tasks = 500, 6
	k := random(r, n)
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, short := range []bool{false, true} {
			b, err := msm.New(q.Device(), msmtest.Toy61, (&task{k: k}).bases(), msm.Options{Window: 8, Chunk: 200})
			if err != nil {
				t.Fatal(err)
			}
			if short {
				if _, err := b.Sum(context.Background(), (&task{k, random(r, n)}).scalars()); err != nil {
					t.Fatal(err)
				}
				q.Device().SetBudget(q.Device().InUse() + 3<<20)
			}
			var lists [][]fr.Element
			var want []toy61.G1Affine
			for range tasks {
				x := &task{k, random(r, n)}
				lists, want = append(lists, x.scalars()), append(want, x.want())
			}
			got, err := b.SumMany(context.Background(), lists)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("memory short %v: %v, %v, not %v", short, got, err, want)
			}
			lists[3][n-1] = fr.Element{curveOrder()}
			if _, err := b.SumMany(context.Background(), lists); !errors.Is(err, msm.ErrInput) || !strings.Contains(err.Error(), "sum 3") {
				t.Errorf("a bad scalar in sum 3: %v", err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := b.SumMany(ctx, lists); !errors.Is(err, context.Canceled) {
				t.Errorf("a context that is over: %v", err)
			}
			q.Device().SetBudget(0)
			b.Close()
		}
	})
}
