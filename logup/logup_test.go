package logup_test

import (
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
	"github.com/zkwarp/zkwarp/logup/loguptest"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	"github.com/zkwarp/zkwarp/transcript"
)

func newTranscript() *transcript.Transcript { return transcript.New(transcript.TagTest) }

// leaves are 2^n random fractions with sum zero.
func leaves(seed uint64, n int) (num, den []m31.QM31) {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	num, den = sumchecktest.Random(rng, 1<<n), sumchecktest.Random(rng, 1<<n)
	loguptest.ZeroSum(num, den)
	return num, den
}

func TestCompleteness(t *testing.T) {
	for n := range 8 {
		num, den := leaves(1, n)
		ptr, vtr := newTranscript(), newTranscript()
		proof := loguptest.Prove(ptr, num, den, loguptest.Cheat{})
		data, err := proof.AppendBinary(nil)
		if err != nil || len(data) != 4*logup.Words(n) {
			t.Fatalf("n %d: %d bytes, %v", n, len(data), err)
		}
		decoded, err := logup.DecodeProof(n, data)
		if err != nil {
			t.Fatalf("n %d: %v", n, err)
		}
		c, err := logup.Verify(vtr, n, decoded)
		if err != nil {
			t.Fatalf("n %d: %v", n, err)
		}
		if len(c.Point) != n || mle.Evaluate(num, c.Point) != c.P || mle.Evaluate(den, c.Point) != c.Q {
			t.Errorf("n %d: the final claim is not the leaves' extensions'", n)
		}
		if ptr.Challenge() != vtr.Challenge() {
			t.Errorf("n %d: transcripts ended in different states", n)
		}
	}
}

func TestErrorNumerator(t *testing.T) {
	for n := range 30 {
		want := 0.0
		for k := range n {
			want += float64(3*k + 2)
		}
		got := logup.ErrorNumerator(n)
		if got != want || got > 1.5*float64(n*n)+2*float64(n) {
			t.Errorf("depth %d: %v, want %v", n, got, want)
		}
	}
	if got := logup.IdentityErrorNumerator(1<<24+1<<16, 3); got != (1<<24+1<<16)*4 {
		t.Errorf("identity: %v", got)
	}
}
