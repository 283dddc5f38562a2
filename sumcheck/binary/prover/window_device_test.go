package prover_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/binarytest"
	"github.com/zkwarp/zkwarp/sumcheck/binary/prover"
)

// TestWindowSizes: sizes from which on a device has a window, for the kinds that have
// bits, against the CPU's proof, which TestAgainstDefinition is about.
func TestWindowSizes(t *testing.T) {
	prove := func(t *testing.T, q *device.Queue, in *binarytest.Instance) *binary.Proof {
		t.Helper()
		tr := newTranscript()
		proof, _, err := prover.Prove(context.Background(), q, tr, upload(t, q, in), in.Claim.Value, prover.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := binary.Verify(newTranscript(), in.Claim, proof); err != nil {
			t.Fatal(err)
		}
		return proof
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		host, err := device.Open("cpu")
		if err != nil {
			t.Fatal(err)
		}
		cpu := devicetest.Queue(t, host)
		most := 13
		if q.Device().Kind() == device.CUDA {
			most = 18
		}
		for _, kind := range []binary.Kind{binary.ExtBits, binary.EqBits} {
			for d := 2; d <= binary.MaxDegree; d++ {
				for n := 11; n <= most; n++ {
					if n == 11 && d < 5 {
						continue // no window
					}
					t.Run(fmt.Sprintf("%s/d%d/n%d", kind, d, n), func(t *testing.T) {
						in := binarytest.NewInstance(uint64(100*n+d), binary.Shape{Vars: n, Degree: d, Kind: kind})
						want, got := prove(t, cpu, in), prove(t, q, in)
						for i := range want.Rounds {
							if !reflect.DeepEqual(got.Rounds[i], want.Rounds[i]) {
								t.Fatalf("round %d: %v, want %v", i, got.Rounds[i], want.Rounds[i])
							}
						}
						if !reflect.DeepEqual(got, want) {
							t.Fatalf("evaluations %v, want %v", got.Evals, want.Evals)
						}
					})
				}
			}
		}
	})
}

// TestRecorded: one recording proves changing tables.
func TestRecorded(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, shape := range []binary.Shape{{Vars: 6, Degree: 3, Kind: binary.ExtBits}, {Vars: 12, Degree: 2, Kind: binary.ExtBits}, {Vars: 12, Degree: 3, Kind: binary.EqBits}} {
			in := binarytest.NewInstance(1, shape)
			tables := upload(t, q, in)
			r, err := prover.Record(q, tables)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Free()
			for seed := range uint64(3) {
				next := binarytest.NewInstance(seed+2, shape)
				for j, v := range next.Ext {
					if err := tables.Ext[j].CopyFrom(q, v); err != nil {
						t.Fatal(err)
					}
				}
				for j, v := range next.Bits {
					if err := tables.Bits[j].CopyFrom(q, v); err != nil {
						t.Fatal(err)
					}
				}
				next.Claim.Z = in.Claim.Z // z belongs to the instance
				value := next.Sum()
				claim := binary.Claim{Shape: shape, Value: value, Z: in.Claim.Z}
				tr := newTranscript()
				proof, result, err := r.Prove(context.Background(), tr, value)
				if err != nil {
					t.Fatal(err)
				}
				want := newTranscript()
				verified, err := binary.Verify(want, claim, proof)
				if err != nil {
					t.Fatalf("%+v, %d: %v", shape, seed, err)
				}
				if !reflect.DeepEqual(verified, result) || tr.State() != want.State() {
					t.Fatalf("%+v, %d: result or transcript differ from the verifier's", shape, seed)
				}
			}
		}
		if _, err := prover.Record(q, prover.Instance{Shape: binary.Shape{Vars: 3, Degree: 2, Kind: binary.AllExt}}); err == nil {
			t.Fatal("recorded an instance without tables")
		}
	})
}

// TestRecordedChanges: the z of a recording is its own, and its tables are looked at anew for
// each proof.
func TestRecordedChanges(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		shape := binary.Shape{Vars: 4, Degree: 3, Kind: binary.EqBits}
		in := binarytest.NewInstance(1, shape)
		tables := upload(t, q, in)
		tables.Z = slices.Clone(in.Claim.Z)
		r, err := prover.Record(q, tables)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Free()
		prove := func() (*binary.Proof, error) {
			proof, _, err := r.Prove(context.Background(), newTranscript(), in.Claim.Value)
			return proof, err
		}
		kept := slices.Clone(tables.Bits)
		tables.Z[1], tables.Bits[0] = gf2.One(), tables.Bits[1]
		proof, err := prove()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := binary.Verify(newTranscript(), in.Claim, proof); err != nil {
			t.Errorf("z and the list of columns were changed after recording: %v", err)
		}
		if err := kept[1].CopyFrom(q, []uint32{1 << 16}); err != nil {
			t.Fatal(err)
		}
		var padding *gf2.PaddingError
		if _, err := prove(); !errors.As(err, &padding) || padding.Word != 1<<16 {
			t.Errorf("a bit above 2^n, written after recording: %v", err)
		}
		kept[0].Free()
		if _, err := prove(); !errors.Is(err, device.ErrUsage) {
			t.Errorf("a column given back after recording: %v", err)
		}
	})
}
