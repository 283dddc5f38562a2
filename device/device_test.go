package device

import (
	"context"
	"errors"
	"testing"
)

func TestCPUBuffers(t *testing.T) {
	d, err := Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b, err := Upload(q, []uint32{1, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Alloc[uint32](q, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := Copy(q, c, b.Slice(1, 4)); err != nil {
		t.Fatal(err)
	}
	got, err := c.Read(q)
	if err != nil || got[0] != 2 || got[2] != 4 {
		t.Fatalf("got %v, %v", got, err)
	}
	if err := b.CopyTo(q, got); !errors.Is(err, ErrUsage) {
		t.Fatalf("short destination: %v", err)
	}
	for what, x := range map[string]struct{ got, want bool }{
		"itself":     {Overlap(b, b), true},
		"parts":      {Overlap(b.Slice(0, 3), View[byte](b).Slice(11, 20)), true},
		"beside":     {Overlap(b.Slice(0, 3), View[byte](b).Slice(12, 20)), false},
		"nothing":    {Overlap(b, b.Slice(2, 2)), false},
		"two pieces": {Overlap(b, c), false},
	} {
		if x.got != x.want {
			t.Errorf("%s: overlap %t", what, x.got)
		}
	}
	b.Free()
	b.Free()
	for what, err := range map[string]error{"zero": b.Zero(q), "use": b.Use(q), "part": b.Slice(1, 2).Use(q)} {
		if !errors.Is(err, ErrUsage) {
			t.Fatalf("%s after free: %v", what, err)
		}
	}
	other, err := Open("simt")
	if err != nil {
		t.Fatal(err)
	}
	p, err := other.NewQueue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Use(p); !errors.Is(err, ErrUsage) || c.Use(q) != nil || b.Slice(2, 2).Use(p) != nil {
		t.Fatalf("use on another device: %v; at home: %v; of nothing: %v", err, c.Use(q), b.Slice(2, 2).Use(p))
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := q.Launch(Kernel{}, D1(1), D1(1), 0); !errors.Is(err, ErrUsage) {
		t.Fatalf("launch on cpu: %v", err)
	}
}

func TestOpenUnknown(t *testing.T) {
	for _, name := range []string{"gpu", "cuda:x", "cuda:-1", "cuda:00", "cuda:1 "} {
		if _, err := Open(name); err == nil {
			t.Errorf("%q opened", name)
		}
	}
}

func TestCancelledQueue(t *testing.T) {
	d, _ := Open("cpu")
	ctx, cancel := context.WithCancel(context.Background())
	q, _ := d.NewQueue(ctx)
	cancel()
	if _, err := Alloc[uint32](q, 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("alloc after cancel: %v", err)
	}
}
