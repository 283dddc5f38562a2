package prover

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

func open(t testing.TB, q *device.Queue, n *naive) (fribinius.Root, gf2.Element, *fribinius.Proof) {
	t.Helper()
	bits := devicetest.Upload(t, q, n.bits)
	c, root, err := Commit(context.Background(), q, n.p, bits)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Free()
	pf, value, err := c.Open(context.Background(), tower.New(tower.LabelFRIBinius), n.point)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := bits.Read(q); err != nil || !slices.Equal(after, n.bits) {
		t.Fatalf("the caller's bits changed (%v)", err)
	}
	return root, value, pf
}

func verify(n *naive, root fribinius.Root, value gf2.Element, pf *fribinius.Proof) error {
	return fribinius.Verify(tower.New(tower.LabelFRIBinius), n.p, root, n.point, value, pf)
}

// Every device's proof has the bytes of the naive prover's, verifies, and its value is
// the polynomial's.
func TestComplete(t *testing.T) {
	cases := [][2]int{{7, 1}, {8, 2}, {9, 3}, {11, 1}, {13, 2}, {14, 1}, {15, 3}, {18, 1}, {17, 2}}
	for _, c := range cases {
		t.Run(fmt.Sprintf("n=%d,rate=%d", c[0], c[1]), func(t *testing.T) {
			n := instance(t, c[0], c[1], 1)
			wantRoot, wantValue, want := n.prove(t, tower.New(tower.LabelFRIBinius))
			if v := evaluateBits(n.bits, n.point); v != wantValue {
				t.Fatalf("the naive prover's value is %v, the polynomial's %v", wantValue, v)
			}
			wantBytes, err := n.p.AppendProof(nil, want)
			if err != nil {
				t.Fatal(err)
			}
			devicetest.Each(t, func(t *testing.T, q *device.Queue) {
				root, value, pf := open(t, q, n)
				if root != wantRoot || value != wantValue {
					t.Fatalf("root %x and value %v, want %x and %v", root, value, wantRoot, wantValue)
				}
				if err := verify(n, root, value, pf); err != nil {
					t.Fatal(err)
				}
				got, err := n.p.AppendProof(nil, pf)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, wantBytes) {
					t.Fatalf("proof of %d bytes differs from the naive prover's of %d", len(got), len(wantBytes))
				}
			})
		})
	}
}

// The format's bytes stay what they are.
func TestGolden(t *testing.T) {
	n := instance(t, 18, 2, 7)
	root, value, pf := n.prove(t, tower.New(tower.LabelFRIBinius))
	data, err := n.p.AppendProof(nil, pf)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%08x %v %d %x", root, value, len(data), sha256.Sum256(data))
	const want = "[331ceb13 89640444 19d48f64 ce19d680 9a4fe842 6b7aa65f e6ff22ec e32f94ad] f09385e2b5b47695aa3f56ae60d79665 50100 " +
		"42303f527e4eb82e5afe5e359da981ab2fd11ddd7b9bde143669417addb1c7c9"
	if got != want {
		t.Errorf("root, value, length and SHA-256 of the proof are\n%s, want\n%s", got, want)
	}
}

// Openings at several points of one commitment, the transcript going on after each.
func TestOpenTwice(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		n := instance(t, 14, 2, 3)
		c, root, err := Commit(context.Background(), q, n.p, devicetest.Upload(t, q, n.bits))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Free()
		if c.Root() != root || c.Params() != n.p {
			t.Error("Root or Params")
		}
		prover, verifier := tower.New(tower.LabelFRIBinius), tower.New(tower.LabelFRIBinius)
		for i := range 3 {
			point := slices.Clone(n.point)
			point[i] = point[i].Add(gf2.One())
			pf, value, err := c.Open(context.Background(), prover, point)
			if err != nil {
				t.Fatal(err)
			}
			if want := evaluateBits(n.bits, point); value != want {
				t.Fatalf("opening %d: value %v, want %v", i, value, want)
			}
			if err := fribinius.Verify(verifier, n.p, root, point, value, pf); err != nil {
				t.Fatalf("opening %d: %v", i, err)
			}
		}
		if prover.State() != verifier.State() {
			t.Error("the transcripts of prover and verifier differ in the end")
		}
	})
}

func TestUsage(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		n := instance(t, 12, 1, 4)
		ctx := context.Background()
		bits := devicetest.Upload(t, q, append(slices.Clone(n.bits), 0, 0))
		var length *LengthError
		if _, _, err := Commit(ctx, q, n.p, bits); !errors.As(err, &length) || length.Want != 128 || length.Got != 130 {
			t.Errorf("bits too long: %v", err)
		}
		var off *AlignmentError
		if _, _, err := Commit(ctx, q, n.p, bits.Slice(1, 129)); !errors.As(err, &off) || off.Got != 4 {
			t.Errorf("bits in between: %v", err)
		}
		for name, b := range devicetest.Strange[uint32](t, q, 128) {
			if _, _, err := Commit(ctx, q, n.p, b); !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v", name, err)
			}
		}
		stopped, stop := context.WithCancel(ctx)
		stop()
		if _, _, err := Commit(stopped, q, n.p, bits.Slice(0, 128)); !errors.Is(err, context.Canceled) {
			t.Errorf("Commit after the context's end: %v", err)
		}
		c, _, err := Commit(ctx, q, n.p, bits.Slice(0, 128))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Free()
		tr := tower.New(tower.LabelFRIBinius)
		if _, _, err := c.Open(ctx, tr, n.point[1:]); !errors.As(err, &length) || length.Want != 12 || length.Got != 11 {
			t.Errorf("a point too short: %v", err)
		}
		if _, _, err := c.Open(stopped, tr, n.point); !errors.Is(err, context.Canceled) {
			t.Errorf("Open after the context's end: %v", err)
		}
		var bad *fribinius.ParamsError
		if _, _, err := Commit(ctx, q, &fribinius.Params{}, bits); !errors.As(err, &bad) {
			t.Errorf("Commit with parameters that nobody made: %v", err)
		}
		lost, err := device.Upload(q, n.bits)
		if err != nil {
			t.Fatal(err)
		}
		defer lost.Free()
		about, _, err := Commit(ctx, q, n.p, lost)
		if err != nil {
			t.Fatal(err)
		}
		defer about.Free()
		lost.Free()
		if _, _, err := about.Open(ctx, tr, n.point); !errors.Is(err, device.ErrUsage) {
			t.Errorf("Open after the bits were given back: %v", err)
		}
		c.Free()
		if _, _, err := c.Open(ctx, tr, n.point); !errors.Is(err, device.ErrUsage) {
			t.Errorf("Open after Free: %v", err)
		}
	})
}

// endsAt is a context that is done from the look at it with that number on.
type endsAt struct {
	context.Context
	left atomic.Int64
}

func (c *endsAt) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelAnywhere stops Commit and Open at each look that they take at the context:
// nothing is kept, and the transcript stays.
func TestCancelAnywhere(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		n := instance(t, 16, 2, 5)
		bits := devicetest.Upload(t, q, n.bits)
		before, looks := q.Device().InUse(), int64(0)
		run := func(ctx context.Context, tr *tower.Transcript) error {
			c, _, err := Commit(ctx, q, n.p, bits)
			if err != nil {
				return err
			}
			defer c.Free()
			_, _, err = c.Open(ctx, tr, n.point)
			return err
		}
		for ; ; looks++ {
			ctx, tr := &endsAt{Context: context.Background()}, tower.New(tower.LabelFRIBinius)
			ctx.left.Store(looks)
			err := run(ctx, tr)
			if now := q.Device().InUse(); now != before {
				t.Fatalf("%d bytes are kept when stopped at look %d", now-before, looks)
			}
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v, want context.Canceled", err)
			}
			if tr.State() != tower.New(tower.LabelFRIBinius).State() {
				t.Fatalf("the transcript has changed when stopped at look %d", looks)
			}
		}
		if looks < 5 {
			t.Errorf("%d looks at the context, want at least 5", looks)
		}
	})
}
