package suite

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/logger"
	"github.com/rs/zerolog"
)

// withRandom calls f with random in place of the system's randomness, which is where gnark
// takes its own from. Nothing else may need any at that time.
func withRandom(random io.Reader, f func()) {
	old := rand.Reader
	defer func() { rand.Reader = old }()
	rand.Reader = random
	f()
}

// proveByGnark is gnark's own prover, on all cores, and the time that it takes for all but
// solving: that is what its log says. gnark's Prove knows no contexts: when ctx ends it is
// left to itself, and the program is about to end.
func proveByGnark(ctx context.Context, x *instance, random io.Reader) (groth16.Proof, time.Duration, error) {
	type result struct {
		proof groth16.Proof
		err   error
	}
	var log bytes.Buffer
	done := make(chan result, 1)
	go func() {
		var r result
		old := logger.Logger()
		logger.Set(zerolog.New(&log).Level(zerolog.DebugLevel))
		withRandom(random, func() { r.proof, r.err = groth16.Prove(x.r1cs, x.pk, x.full) })
		logger.Set(old)
		done <- r
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, 0, r.err
		}
		took, err := provingTime(&log)
		return r.proof, took, err
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
}

// provingTime finds the line of gnark's prover in its log.
func provingTime(log io.Reader) (time.Duration, error) {
	d := json.NewDecoder(log)
	for {
		var line struct {
			Message string  `json:"message"`
			Took    float64 `json:"took"` // milliseconds
		}
		if err := d.Decode(&line); err != nil {
			return 0, fmt.Errorf("gnark's log does not say how long its prover took: %w", err)
		}
		if line.Message == "prover done" && line.Took > 0 {
			return time.Duration(line.Took * float64(time.Millisecond)), nil
		}
	}
}
