package msm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
)

type (
	plainPoint  [4]uint32
	plainScalar [2]uint32
)

// plain is a curve whose host gives back what it is asked.
func plain(checked *bool) *Curve[plainPoint, plainScalar] {
	return &Curve[plainPoint, plainScalar]{Group: curve.Toy61, Host: Host[plainPoint, plainScalar]{
		Sum: func(_ context.Context, bases []plainPoint, scalars []plainScalar) (plainPoint, error) {
			return plainPoint{uint32(len(bases)), scalars[0][0]}, nil
		},
		Combine: func([]Part) plainPoint { return plainPoint{} },
		Check: func(points []plainPoint, subgroup bool) error {
			*checked = true
			if points[0] == (plainPoint{9}) {
				return errors.New("point 0 is not on the curve")
			}
			return nil
		},
	}}
}

func TestInput(t *testing.T) {
	cpu, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	var checked bool
	c := plain(&checked)
	bases := make([]plainPoint, 3)

	b, err := New(cpu, c, bases, Options{})
	if err != nil || checked {
		t.Fatalf("%v, checked %v", err, checked)
	}
	if got, err := b.Sum(ctx, []plainScalar{{7}, {8}, {9}}); err != nil || got != (plainPoint{3, 7}) {
		t.Errorf("%v, %v", got, err)
	}
	order := curve.Toy61Fr.Words(curve.Toy61Fr.Modulus)
	for name, scalars := range map[string][]plainScalar{
		"2 scalars for 3 bases": {{1}, {2}},
		"scalar 1: bad input":   {{1}, {order[0], order[1]}, {0xffffffff, 0xffffffff}},
		"scalar 2: bad input":   {{1}, {order[0] - 1, order[1]}, {order[0], order[1]}},
	} {
		if _, err := b.Sum(ctx, scalars); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := b.Sum(done, make([]plainScalar, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is over: %v", err)
	}
	b.Close()
	if _, err := b.Sum(ctx, make([]plainScalar, 3)); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}

	if got, err := Sum(ctx, cpu, c, nil, nil, Options{}); err != nil || got != (plainPoint{}) {
		t.Errorf("no points: %v, %v", got, err)
	}
	bad := []plainPoint{{9}}
	for name, o := range map[string]Options{
		"bases: bad input: point 0 is not on the curve": {Check: true},
		"windows of 27 bits":                            {Window: 27},
		"chunks of -1":                                  {Chunk: -1},
		"for tables":                                    {Tables: -1},
		"subgroup option 3":                             {Subgroup: 3},
		"device 0 is nil":                               {Devices: []*device.Device{nil}},
	} {
		if _, err := New(cpu, c, bad, o); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(nil, c, bases, Options{}); !errors.Is(err, ErrInput) {
		t.Errorf("no device: %v", err)
	}
	wide := *c
	wide.Group = curve.BN254G1
	if _, err := New(cpu, &wide, bases, Options{}); !errors.Is(err, ErrInput) {
		t.Errorf("another group: %v", err)
	}
}

// Narrow windows of long scalars are too many; the error says so.
func TestTooManyWindows(t *testing.T) {
	d, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	if w, err := chooseWindows(d, curve.MNT4753G1, 100, 1, &Options{Window: 3}, false); err != nil || len(w.List) != 251 {
		t.Errorf("3 bits: %v, %v", w, err)
	}
	if _, err := chooseWindows(d, curve.MNT4753G1, 100, 1, &Options{Window: 2}, false); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "2 bits: 753 bits of scalars take more than 256") {
		t.Errorf("2 bits: %v", err)
	}
}

// Points in Edwards form are in memory twice while they are made, which bounds the copies.
func TestEdwardsMemory(t *testing.T) {
	d, err := device.Open("simt")
	if err != nil {
		t.Skip(err)
	}
	const n, both = 1 << 16, 96 + 144
	defer d.SetBudget(0)
	o := &Options{Subgroup: Asserted, Tables: 1 << 40}
	for budget, fits := range map[int64]bool{4 * 144 * n: true, 9 * 144 * n: true, both*n - 1: false} {
		d.SetBudget(d.InUse() + budget)
		w, err := chooseWindows(d, curve.BLS12377G1, n, 1, o, false)
		e := (*device.Error)(nil)
		switch {
		case fits && (err != nil || int64(w.Copies)*both*n > budget):
			t.Errorf("%d bytes: %+v, %v", budget, w, err)
		case !fits && (!errors.As(err, &e) || !errors.Is(err, device.ErrNoMemory) || e.Bytes < both*n):
			t.Errorf("%d bytes: %v", budget, err)
		}
	}
}
