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
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// newTranscript is one that something happened on before the sum-check.
func newTranscript() *tower.Transcript {
	tr := tower.New(tower.LabelTest)
	tr.Absorb([]gf2.Element{{Lo: 2, Hi: 7}})
	return tr
}

var kinds = []binary.Kind{binary.ExtBits, binary.AllExt, binary.EqBits}

func upload(t testing.TB, q *device.Queue, in *binarytest.Instance) prover.Instance {
	t.Helper()
	out := prover.Instance{Shape: in.Claim.Shape, Z: in.Claim.Z}
	for _, v := range in.Ext {
		out.Ext = append(out.Ext, devicetest.Upload(t, q, v))
	}
	for _, v := range in.Bits {
		out.Bits = append(out.Bits, devicetest.Upload(t, q, v))
	}
	return out
}

func read[T any](t testing.TB, q *device.Queue, list []device.Buffer[T]) (out [][]T) {
	t.Helper()
	for _, b := range list {
		v, err := b.Read(q)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// reference is a claim with what the naive prover makes of it.
type reference struct {
	in    *binarytest.Instance
	proof *binary.Proof
	state tower.State
}

func refer(seed uint64, s binary.Shape) *reference {
	r := &reference{in: binarytest.NewInstance(seed, s)}
	tr := newTranscript()
	r.proof = binarytest.Prove(tr, r.in, binarytest.Cheat{})
	r.state = tr.State()
	return r
}

// compare proves on q and compares every word with the reference's.
func (r *reference) compare(t *testing.T, q *device.Queue, a prover.Algorithm) {
	t.Helper()
	in := upload(t, q, r.in)
	tr := newTranscript()
	proof, result, err := prover.Prove(context.Background(), q, tr, in, r.in.Claim.Value, prover.Options{Algorithm: a})
	if errors.Is(err, prover.ErrNotOnDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.proof.Rounds {
		if !slices.Equal(proof.Rounds[i], r.proof.Rounds[i]) {
			t.Fatalf("round %d: %v, by definition %v", i, proof.Rounds[i], r.proof.Rounds[i])
		}
	}
	if !slices.Equal(proof.Evals, r.proof.Evals) {
		t.Fatalf("evaluations %v, by definition %v", proof.Evals, r.proof.Evals)
	}
	if tr.State() != r.state {
		t.Fatal("transcripts ended in different states")
	}
	checked, err := binary.Verify(newTranscript(), r.in.Claim, proof)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(checked, result) {
		t.Fatalf("the verifier's result is %v, the prover's %v", checked, result)
	}
	if got := r.in.EvalAt(result.Point); !slices.Equal(got, result.Evals) {
		t.Fatalf("the polynomials' values at the point are %v, the proof says %v", got, result.Evals)
	}
	if !reflect.DeepEqual(read(t, q, in.Ext), r.in.Ext) || !reflect.DeepEqual(read(t, q, in.Bits), r.in.Bits) {
		t.Fatal("the prover changed its input")
	}
}

// sizes are the numbers of variables to try: the emulator is slow.
func sizes(q *device.Queue, d int) []int {
	switch {
	case q.Device().Kind() == device.SIMT:
		return [][]int{2: {3, 6, 11, 12}, 3: {4, 12}, 4: {3, 11}, 5: {5, 12}}[d]
	case testing.Short():
		return []int{3, 7, 11}
	case d > 3:
		return []int{1, 2, 3, 4, 5, 6, 9, 11, 12}
	}
	return []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
}

// TestAgainstDefinition compares all algorithms with the naive prover.
func TestAgainstDefinition(t *testing.T) {
	references := map[binary.Shape]*reference{}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, kind := range kinds {
			for d := 2; d <= 5; d++ {
				for _, n := range sizes(q, d) {
					s := binary.Shape{Vars: n, Degree: d, Kind: kind}
					if references[s] == nil {
						references[s] = refer(uint64(n*10+d), s)
					}
					for _, a := range prover.Algorithms() {
						if prover.Supports(kind, a) != nil {
							continue
						}
						t.Run(fmt.Sprintf("%v-n%d-d%d-%v", kind, n, d, a), func(t *testing.T) {
							references[s].compare(t, q, a)
						})
					}
				}
			}
		}
	})
}
