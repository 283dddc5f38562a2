package srs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"golang.org/x/sync/semaphore"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/bn254"
)

type points = Points[curve.G1Affine, fr.Element]

// data are multiples of the generator, scalars, and the sums over the first of them.
func data(t *testing.T, n int) ([]curve.G1Affine, []fr.Element, func(n int) curve.G1Affine) {
	_, _, g, _ := curve.Generators()
	scalars, multiples := make([]fr.Element, n), make([]fr.Element, n)
	for i := range scalars {
		scalars[i].MustSetRandom()
		multiples[i].MustSetRandom()
	}
	p := curve.BatchScalarMultiplicationG1(&g, multiples)
	return p, scalars, func(n int) (sum curve.G1Affine) {
		if _, err := sum.MultiExp(p[:n], scalars[:n], ecc.MultiExpConfig{}); err != nil {
			t.Fatal(err)
		}
		return sum
	}
}

func options(t *testing.T, list ...Option) (*Options, *bytes.Buffer) {
	t.Helper()
	o, err := Choose(list)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	return o, &log
}

func on(name string) Option { return func(o *Options) error { o.Device = name; return nil } }

func memory(bytes int64) Option { return func(o *Options) error { o.Memory = bytes; return nil } }

// Points that do not fit are uploaded for each sum, and none of the memory is kept.
func TestMemory(t *testing.T) {
	d := devicetest.Open(t, "simt")
	ps, scalars, want := data(t, 100)
	before := d.InUse()
	for _, c := range []struct{ memory, bytes int64 }{{6400, 6400}, {6399, 0}, {0, 6400}} {
		o, _ := options(t, on(d.Name()), memory(c.memory))
		p, err := New(bn254.G1, ps, o)
		if err != nil {
			t.Fatal(err)
		}
		if p.Bytes() != c.bytes {
			t.Errorf("%d bytes of %d, want %d", p.Bytes(), c.memory, c.bytes)
		}
		if got, err := p.Sum(context.Background(), scalars[:70]); err != nil || got != want(70) {
			t.Errorf("%d bytes of memory: right %v, error %v", c.memory, got == want(70), err)
		}
		p.Close()
		if n := d.InUse() - before; n != 0 {
			t.Errorf("%d bytes are left on the device", n)
		}
		if _, err := p.Sum(context.Background(), scalars); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// Bases are kept for the lengths that came last, and none that are in use are closed.
func TestLists(t *testing.T) {
	d := devicetest.Open(t, "simt")
	ps, _, _ := data(t, 100)
	o, _ := options(t, on(d.Name()))
	p, err := New(bn254.G1, ps, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	held, err := p.lists.take(100)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2*most; n++ {
		x, err := p.lists.take(n)
		if err != nil {
			t.Fatal(err)
		}
		if x.bases.Len() != n {
			t.Errorf("bases of %d points for %d", x.bases.Len(), n)
		}
		p.lists.release(x)
	}
	if len(p.lists.all) != most {
		t.Errorf("%d lists are kept, want %d", len(p.lists.all), most)
	}
	if again, err := p.lists.take(100); err != nil || again != held {
		t.Errorf("bases in use were not kept: %v", err)
	} else {
		p.lists.release(again)
	}
	if again, err := p.lists.take(2 * most); err != nil || again != p.lists.all[0] {
		t.Errorf("the latest bases: %v", err)
	} else {
		p.lists.release(again)
	}
	p.lists.drop()
	if len(p.lists.all) != 1 || p.lists.all[0] != held {
		t.Errorf("%d lists are left, want the one in use", len(p.lists.all))
	}
	p.lists.release(held)
}

// A device that adds up wrongly, or fails, is found out and logged, and the CPU's sum is
// returned.
func TestFaults(t *testing.T) {
	d := devicetest.Open(t, "simt")
	ps, scalars, want := data(t, 20)
	failed := &device.Error{Device: d.Name(), Op: "sum", Class: device.ErrFault, Text: "lost"}
	for name, c := range map[string]struct {
		wrong func(p curve.G1Affine) curve.G1Affine
		says  []string
	}{
		"x":        {func(p curve.G1Affine) curve.G1Affine { p.X.Double(&p.X); return p }, []string{"level=ERROR", "wrong=true", "not on the curve", "simt"}},
		"no fault": {func(p curve.G1Affine) curve.G1Affine { return p }, nil},
	} {
		lying := *bn254.G1
		combine := lying.Host.Combine
		lying.Host.Combine = func(sums []msm.Part) curve.G1Affine { return c.wrong(combine(sums)) }
		o, log := options(t, on(d.Name()))
		p, err := New(&lying, ps, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Sum(context.Background(), scalars); err != nil || got != want(20) {
			t.Errorf("%s: right %v, error %v", name, got == want(20), err)
		}
		if c.says == nil && log.Len() > 0 {
			t.Errorf("%s: logs %s", name, log)
		}
		for _, s := range c.says {
			if !strings.Contains(log.String(), s) {
				t.Errorf("%s: logs %s, want %q", name, log, s)
			}
		}
		p.Close()
	}
	// Only of a device that nobody asked for by name the CPU takes a failure.
	t.Setenv(device.EnvDevice, "")
	for name, replaced := range map[string]bool{"auto": true, d.Name(): false} {
		p := &points{devices: []*device.Device{d}, o: &Options{Device: name}}
		if p.replaceable(failed) != replaced || p.replaceable(msm.ErrInput) || p.replaceable(context.Canceled) {
			t.Errorf("device %s: wrong errors are replaced", name)
		}
	}
}

// Where other sums leave too little memory, a sum is made alone; the points that are there
// for other lengths leave.
func TestShortOfMemory(t *testing.T) {
	d := devicetest.Open(t, "simt")
	ps, scalars, want := data(t, 300)
	o, _ := options(t, on(d.Name()))
	p, err := New(bn254.G1, ps, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx := context.Background()
	if _, err := p.Sum(ctx, scalars[:200]); err != nil {
		t.Fatal(err)
	}
	kept := d.InUse() // with what a sum of 200 keeps ready
	d.SetBudget(kept + 1<<10)
	defer d.SetBudget(0)
	if got, err := p.Sum(ctx, scalars); err != nil || got != want(300) {
		t.Fatalf("right %v, error %v", got == want(300), err)
	}
	if len(p.lists.all) != 1 {
		t.Errorf("%d lists are kept", len(p.lists.all))
	}
	d.SetBudget(1)
	if _, err := p.Sum(ctx, scalars[:10]); !errors.Is(err, device.ErrNoMemory) {
		t.Errorf("no memory at all: %v", err)
	}
}

// Several devices share each sum, and each has the points.
func TestSeveralDevices(t *testing.T) {
	d := devicetest.Open(t, "simt")
	ps, scalars, want := data(t, 90)
	before := d.InUse()
	o, _ := options(t, on(d.Name()))
	p := &points{curve: bn254.G1, points: ps, o: o, devices: []*device.Device{d, d}, turns: semaphore.NewWeighted(atATime)}
	if err := p.load(); err != nil {
		t.Fatal(err)
	}
	if n := d.InUse() - before; n < 2*p.Bytes() {
		t.Errorf("%d bytes on two devices, want twice %d", n, p.Bytes())
	}
	sums, err := p.SumMany(context.Background(), [][]fr.Element{scalars, scalars[:60]})
	if err != nil || sums[0] != want(90) || sums[1] != want(60) {
		t.Errorf("wrong sums, error %v", err)
	}
	p.Close()
	if n := d.InUse() - before; n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}
