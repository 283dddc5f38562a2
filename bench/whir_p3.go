package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
)

// referenceVariable names the file that holds what Plonky3's p3-whir took on the
// same machine: a JSON object with the fields of reference.
const referenceVariable = "ZKWARP_P3_WHIR"

// reference is a measurement of p3-whir: BabyBear and its quartic extension,
// Poseidon2 of width 16 in tree and transcript, the same fold in every round, domains
// that shrink by 2, unique decoding, one evaluation claim.
type reference struct {
	Version   string    `json:"version"`
	Vars      int       `json:"vars"`
	Fold      int       `json:"fold"`
	Rate      int       `json:"rate"`       // -log2 of the first
	Rounds    int       `json:"rounds"`     // with folds and queries
	QueryWork int       `json:"query_work"` // bits, of every round
	Queries   []int     `json:"queries"`    // of every round
	ProveMS   []float64 `json:"prove_ms"`   // commitment and opening, work included
	VerifyMS  float64   `json:"verify_ms"`
}

func (r *reference) check() error {
	if r.Vars < 8 || r.Vars > 28 || r.Fold < 1 || r.Rounds < 1 || r.Fold*r.Rounds > r.Vars || r.Rate < 1 || len(r.Queries) != r.Rounds {
		return fmt.Errorf("2^%d entries, %d rounds that fold %d, rate 2^-%d, queries %v", r.Vars, r.Rounds, r.Fold, r.Rate, r.Queries)
	}
	if len(r.ProveMS) < MinSamples || slices.Min(r.ProveMS) <= 0 {
		return fmt.Errorf("times %v, want at least %d", r.ProveMS, MinSamples)
	}
	return nil
}

// ErrReference marks that the times to compare with cannot be read.
var ErrReference = errors.New("p3-whir's times")

// referenceCase proves with the reference's schedule on the CPU and compares.
func referenceCase(e *Env) ([]Measurement, error) {
	path := os.Getenv(referenceVariable)
	if path == "" {
		return nil, fmt.Errorf("%w: set %s to a JSON file that has them, measured on this machine", ErrReference, referenceVariable)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrReference, referenceVariable, err)
	}
	var r reference
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrReference, path, err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrReference, path, err)
	}
	s := whir.Schedule{LogInvRate: r.Rate, Folds: slices.Repeat([]int{r.Fold}, r.Rounds), Shrinks: slices.Repeat([]int{1}, r.Rounds-1)}
	params, err := whir.Complete(whir.SpecBabyBear4(whir.Poseidon2), r.Vars, s, whir.Options{Lambda: whirLambda, UniqueOnly: true, QueryWork: r.QueryWork})
	if err != nil {
		return nil, err
	}
	out, err := e.whole(newOpened(e.Rand, whirprover.BabyBear4(whir.Poseidon2), transcript.BabyBear4(), params))
	if err != nil {
		return nil, err
	}
	out[0].Metric = "cpu-ms"
	theirs := Median(r.ProveMS)
	ratio := Measurement{Metric: "p3-whir-ratio", Unit: "x", Proof: out[0].Proof, Note: fmt.Sprintf("p3-whir %s takes %.4g ms here, with queries %v; its verifier %.3g ms; all of its rounds have %d bits of work before the queries",
		r.Version, theirs, r.Queries, r.VerifyMS, r.QueryWork)}
	for _, ms := range out[0].Samples {
		ratio.Samples = append(ratio.Samples, ms/theirs)
	}
	return append([]Measurement{ratio}, out...), nil
}
