package groth16

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/zkwarp/zkwarp/gnark/groth16/internal/resident"
)

// Option is a choice of NewProver.
type Option func(*options) error

type options struct {
	device string
	memory int64
	vk     VerifyingKey
	random io.Reader
	logger *slog.Logger
	trace  resident.Trace
	serial bool
}

func newOptions(list []Option) (*options, error) {
	o := &options{device: "auto", random: rand.Reader, logger: slog.Default()}
	for _, option := range list {
		if err := option(o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// WithDevice says where sums are computed: "auto" (the default) is the first GPU, if
// there is one and the circuit is not a small one, else the CPU; "cuda:N" and "cpu" are
// just that, and "cuda:all" is all GPUs, which share each proof. The environment variable
// ZKWARP_DEVICE stands in for "auto".
func WithDevice(name string) Option {
	return func(o *options) error { o.device = name; return nil }
}

// WithMemory limits what the key's points may take of each device's memory, in bytes; 0
// is what proofs leave of the memory that is free when the Prover is made. Points beyond
// that are uploaded for each proof.
func WithMemory(bytes int64) Option {
	return func(o *options) error {
		if bytes < 0 {
			return fmt.Errorf("%w: %d bytes of memory", ErrInput, bytes)
		}
		o.memory = bytes
		return nil
	}
}

// WithVerifyingKey makes Prove verify each proof before it returns it. Without one only B
// of a device's proof is checked, in G1 against G2, nothing of A and C, and nothing of a
// proof that was made on the CPU: the proving key alone does not tell more. NewProver refuses
// a key of another setup than the proving key.
func WithVerifyingKey(vk VerifyingKey) Option {
	return func(o *options) error {
		if isNil(vk) {
			return fmt.Errorf("%w: no verifying key", ErrInput)
		}
		o.vk = vk
		return nil
	}
}

// WithRandom says where the blinding of proofs, r and s, comes from; crypto/rand is the
// default. Proofs are zero-knowledge only if nobody can guess it. Reads are one at a
// time.
func WithRandom(random io.Reader) Option {
	return func(o *options) error {
		if random == nil {
			return fmt.Errorf("%w: no source of randomness", ErrInput)
		}
		o.random = &serial{r: random}
		return nil
	}
}

// WithLogger says where faults of devices are reported; slog.Default() is the default.
func WithLogger(l *slog.Logger) Option {
	return func(o *options) error {
		if l == nil {
			return fmt.Errorf("%w: no logger", ErrInput)
		}
		o.logger = l
		return nil
	}
}

// WithTrace makes proofs report how long their stages took. The function is called by
// several goroutines at a time. Stages are
//
//	solve        gnark's solver, with the commitments that it asks for
//	commitments  the proofs that openings of commitments are known
//	wires        wires go to the devices, and those of each query are picked there
//	msm-digits   scalars that several sums share are cut and sorted
//	ntt          values of A, B and C go to the devices and become the quotient
//	msm-a, msm-b1, msm-b2, msm-k, msm-z
//	             the sum over each query
//	assemble     the proof from the sums
//	check        verification, or what is done in its place
//	prove        all but solve
//
// They go on at the same time, and each is the longer for that: see [WithSerial]. Every
// device reports its part of a stage.
func WithTrace(f func(stage string, d time.Duration)) Option {
	return func(o *options) error {
		if f == nil {
			return fmt.Errorf("%w: no function to trace to", ErrInput)
		}
		o.trace = f
		return nil
	}
}

// WithSerial makes a proof's stages come one after the other and not at the same time, so
// that a trace tells what each of them takes. Proofs are slower by it.
func WithSerial() Option {
	return func(o *options) error { o.serial = true; return nil }
}

// ErrInput is the class of errors in what the caller passes: keys, constraint systems
// and witnesses that do not belong together, options out of range.
var ErrInput = resident.ErrInput

// ErrClosed is what a Prover returns after Close.
var ErrClosed = errors.New("groth16: the prover was closed")

// serial is a reader for several goroutines.
type serial struct {
	mu sync.Mutex
	r  io.Reader
}

func (s *serial) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(p)
}

// tape remembers what was read, so that a proof can be made once more.
type tape struct {
	r    io.Reader
	seen []byte
	at   int
}

func (t *tape) Read(p []byte) (int, error) {
	if t.at < len(t.seen) {
		n := copy(p, t.seen[t.at:])
		t.at += n
		return n, nil
	}
	n, err := t.r.Read(p)
	t.seen = append(t.seen, p[:n]...)
	t.at = len(t.seen)
	return n, err
}

func (t *tape) rewind() { t.at = 0 }
