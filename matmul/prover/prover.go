// Package prover makes the proofs that package matmul verifies, on a device.
//
// All matrices of a batch are restricted to their claims' points together, in a
// few launches, and one batch of sum-checks follows. Matrices are read once, in
// their real sizes. They lie on the device, where the caller keeps them, or in
// the host's memory, from where they are streamed: whole if they fit the memory
// budget and in tiles of the inner dimension otherwise, with the same result.
package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/matmul"
	"github.com/zkwarp/zkwarp/mle"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

// Matrix is one factor, row by row in its real size. One of the four storages is
// set: words of M31 or signed bytes, on the device or in the host's memory.
// Matrices are read, never written.
type Matrix struct {
	Words     device.Buffer[m31.Element]
	Bytes     device.Buffer[int8]
	HostWords []m31.Element
	HostBytes []int8
	// Transposed says that what is stored is the transpose: a factor of r x c
	// entries as c rows of r.
	Transposed bool
}

func (m Matrix) streamed() bool { return len(m.HostWords)+len(m.HostBytes) > 0 }

// entrySize is the bytes of an entry.
func (m Matrix) entrySize() int {
	if m.Bytes.Len()+len(m.HostBytes) > 0 {
		return 1
	}
	return 4
}

func (m Matrix) check(name string, entries int) error {
	sizes := [...]int{m.Words.Len(), m.Bytes.Len(), len(m.HostWords), len(m.HostBytes)}
	set, have := 0, 0
	for _, n := range sizes {
		if n > 0 {
			set, have = set+1, n
		}
	}
	if set != 1 || have != entries {
		return fmt.Errorf("%w: %s has %d words and %d bytes on the device, %d words and %d bytes on the host; want %d in one place",
			matmul.ErrShape, name, sizes[0], sizes[1], sizes[2], sizes[3], entries)
	}
	return nil
}

// Instance is one claim of a batch as the prover knows it.
type Instance struct {
	matmul.Shape
	A, B     Matrix
	Row, Col device.Buffer[m31.QM31] // the claim's point
}

func (in Instance) check() error {
	if err := in.Shape.Check(); err != nil {
		return err
	}
	if m, n := mle.Log(in.M), mle.Log(in.N); in.Row.Len() != m || in.Col.Len() != n {
		return fmt.Errorf("%w: point of %d and %d coordinates for a product of %d x %d, want %d and %d", matmul.ErrShape, in.Row.Len(), in.Col.Len(), in.M, in.N, m, n)
	}
	if err := in.A.check("A", in.M*in.K); err != nil {
		return err
	}
	return in.B.check("B", in.K*in.N)
}

// Factors are the matrices of a claim.
type Factors struct{ A, B Matrix }

// Prove proves a batch of claims, whose values are not checked; factors are in the
// claims' order. tr must be where the verifier's transcript is when it calls
// matmul.Verify; FromHost of package transcript/prover takes one there from the
// host. Prove waits for the device to read the proof. Proof and result are as
// package matmul describes them. Errors are matmul.ErrShape for claims and matrices
// that do not fit, *TileError for matrices in the host's memory that cannot be
// streamed within the memory budget, and those of the device.
func Prove(q *device.Queue, tr *transcript.Transcript, claims []matmul.Claim, factors []Factors) (*matmul.Proof, []matmul.Reduced, error) {
	if len(claims) != len(factors) || len(claims) == 0 {
		return nil, nil, fmt.Errorf("%w: %d claims about %d products", matmul.ErrShape, len(claims), len(factors))
	}
	// One upload for all values and points.
	known := make([]m31.QM31, len(claims))
	shapes := make([]sumcheck.Shape, len(claims))
	for i, c := range claims {
		if err := c.Check(); err != nil {
			return nil, nil, fmt.Errorf("claim %d: %w", i, err)
		}
		shapes[i], known[i] = c.Sumcheck(), c.Value
		known = append(append(known, c.Row...), c.Col...)
	}
	uploaded, err := device.Upload(q, known)
	if err != nil {
		return nil, nil, fmt.Errorf("matmul: claims: %w", err)
	}
	defer uploaded.Free()
	instances := make([]Instance, len(claims))
	at := len(claims)
	for i, c := range claims {
		m, n := at+len(c.Row), at+len(c.Row)+len(c.Col)
		instances[i] = Instance{Shape: c.Shape, A: factors[i].A, B: factors[i].B, Row: uploaded.Slice(at, m), Col: uploaded.Slice(m, n)}
		at = n
	}
	n, d, e := sumcheck.Rounds(shapes), sumcheck.Degree(shapes), sumcheck.Evaluations(shapes)
	all, err := device.Alloc[m31.QM31](q, n*d+e+n)
	if err != nil {
		return nil, nil, fmt.Errorf("matmul: proof: %w", err)
	}
	defer all.Free()
	out := sumprover.Output{Rounds: all.Slice(0, n*d), Evals: all.Slice(n*d, n*d+e), Point: all.Slice(n*d+e, n*d+e+n)}
	if err := Run(q, tr, instances, uploaded.Slice(0, len(claims)), out); err != nil {
		return nil, nil, err
	}
	host, err := all.Read(q)
	if err != nil {
		return nil, nil, fmt.Errorf("matmul: read the proof: %w", err)
	}
	proof := &sumcheck.Proof{Rounds: host[: n*d : n*d], Evals: host[n*d : n*d+e : n*d+e]}
	res := sumcheck.NewResult(shapes, host[n*d+e:], proof.Evals)
	return &matmul.Proof{Batch: proof}, matmul.Reduce(claims, res), nil
}

// Run is Prove on the device alone: points and values are there, and the proof
// stays there, as that of the batch of sum-checks. It waits for the device only
// where streaming from the host does.
func Run(q *device.Queue, tr *transcript.Transcript, instances []Instance, values device.Buffer[m31.QM31], out sumprover.Output) error {
	for i, in := range instances {
		if err := in.check(); err != nil {
			return fmt.Errorf("claim %d: %w", i, err)
		}
	}
	p, err := newPlan(q, instances)
	if err != nil {
		return err
	}
	defer p.tables.Free()
	if err := mleprover.Restrict(q, p.resident); err != nil {
		return fmt.Errorf("matmul: restrict: %w", err)
	}
	for _, s := range p.streams {
		if err := s.run(q); err != nil {
			return fmt.Errorf("matmul: %s: %w", s.name(), err)
		}
	}
	if err := sumprover.Run(q, tr, p.sums, values, out); err != nil {
		return fmt.Errorf("matmul: %w", err)
	}
	return nil
}
