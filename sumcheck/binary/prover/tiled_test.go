package prover_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/binarytest"
	"github.com/zkwarp/zkwarp/sumcheck/binary/prover"
)

func bytesOf(values []gf2.Element) (b []byte) {
	for _, v := range values {
		e := v.Bytes()
		b = append(b, e[:]...)
	}
	return b
}

// TestTiled compares proofs about a table that is read with the naive prover's, and
// those of more than one tile with the usual ones.
func TestTiled(t *testing.T) {
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	for d := 2; d <= 5; d++ {
		for _, n := range []int{1, 3, 6, 11} {
			t.Run(fmt.Sprintf("n%d-d%d", n, d), func(t *testing.T) {
				r := refer(8, binary.Shape{Vars: n, Degree: d, Kind: binary.ExtBits})
				in := upload(t, q, r.in)
				tr := newTranscript()
				tiled := prover.Tiled{Shape: in.Shape, First: bytes.NewReader(bytesOf(r.in.Ext[0])), Bits: in.Bits}
				proof, result, err := prover.ProveTiled(context.Background(), q, tr, tiled, r.in.Claim.Value)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(proof, r.proof) || tr.State() != r.state {
					t.Fatal("not the naive prover's proof")
				}
				if got := r.in.EvalAt(result.Point); !slices.Equal(got, result.Evals) {
					t.Fatalf("the polynomials' values at the point are %v, the proof says %v", got, result.Evals)
				}
			})
		}
	}
	in, value := bigInstance(t, q, binary.Shape{Vars: 19, Degree: 2, Kind: binary.ExtBits})
	tiled := prover.Tiled{Shape: in.Shape, First: bytes.NewReader(bytesOf(in.Ext[0].Host())), Bits: in.Bits}
	got, _, err := prover.ProveTiled(context.Background(), q, newTranscript(), tiled, value)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := prover.Prove(context.Background(), q, newTranscript(), in, value, prover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatal("not the proof of a table in memory")
	}
}

// failing is a reader that ends early or fails.
type failing struct {
	io.ReaderAt
	at int64
}

var errDisk = errors.New("disk")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.at {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestTiledFails proves about tables that cannot be read, and what is no instance.
func TestTiledFails(t *testing.T) {
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	b := binarytest.NewInstance(8, binary.Shape{Vars: 12, Degree: 3, Kind: binary.ExtBits})
	in := upload(t, q, b)
	all := bytesOf(b.Ext[0])
	prove := func(ctx context.Context, change func(*prover.Tiled)) error {
		tiled := prover.Tiled{Shape: in.Shape, First: bytes.NewReader(all), Bits: in.Bits}
		change(&tiled)
		before := q.Device().InUse()
		tr := newTranscript()
		_, _, err := prover.ProveTiled(ctx, q, tr, tiled, b.Claim.Value)
		if q.Device().InUse() != before {
			t.Errorf("%d bytes are kept", q.Device().InUse()-before)
		}
		if err != nil && tr.State() != newTranscript().State() {
			t.Error("the transcript has changed")
		}
		return err
	}
	ctx := context.Background()
	var tile *prover.TileError
	err := prove(ctx, func(in *prover.Tiled) { in.First = bytes.NewReader(all[:len(all)-1]) })
	if !errors.As(err, &tile) || !errors.Is(err, io.ErrUnexpectedEOF) || tile.Offset != int64(len(all)-1) {
		t.Errorf("a byte short: error %v", err)
	}
	err = prove(ctx, func(in *prover.Tiled) { in.First = failing{bytes.NewReader(all), 1 << 15} })
	if !errors.As(err, &tile) || !errors.Is(err, errDisk) || tile.Offset < 1<<15-16*512 {
		t.Errorf("a disk that fails: error %v", err)
	}
	var misfit *prover.InstanceError
	if err := prove(ctx, func(in *prover.Tiled) { in.First = nil }); !errors.As(err, &misfit) || misfit.Want != 1 {
		t.Errorf("no reader: error %v", err)
	}
	if err := prove(ctx, func(in *prover.Tiled) { in.Bits = in.Bits[1:] }); !errors.As(err, &misfit) || misfit.Got != 1 {
		t.Errorf("a column missing: error %v", err)
	}
	if err := prove(ctx, func(in *prover.Tiled) { in.Kind = binary.EqBits }); !errors.Is(err, binary.ErrShape) {
		t.Errorf("eq: error %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := prove(cancelled, func(*prover.Tiled) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	if err := prove(ctx, func(*prover.Tiled) {}); err != nil {
		t.Error(err)
	}
}
