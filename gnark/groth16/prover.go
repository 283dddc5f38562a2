package groth16

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"

	"github.com/consensys/gnark/backend"
	gnark377 "github.com/consensys/gnark/backend/groth16/bls12-377"
	gnark381 "github.com/consensys/gnark/backend/groth16/bls12-381"
	gnark254 "github.com/consensys/gnark/backend/groth16/bn254"
	gnark761 "github.com/consensys/gnark/backend/groth16/bw6-761"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/groth16/internal/bls12377"
	"github.com/zkwarp/zkwarp/gnark/groth16/internal/bls12381"
	"github.com/zkwarp/zkwarp/gnark/groth16/internal/bn254"
	"github.com/zkwarp/zkwarp/gnark/groth16/internal/bw6761"
	"github.com/zkwarp/zkwarp/gnark/groth16/internal/resident"
)

// key is a proving key at a place, over one of the curves.
type key interface {
	Solve(ctx context.Context, ccs constraint.ConstraintSystem, full witness.Witness, opt backend.ProverConfig) (any, error)
	Finish(ctx context.Context, solved any, random io.Reader, again bool) (Proof, error)
	Bytes() int64
	Current() bool
	Whole() bool
	Close()
}

// at puts a key to a place.
func at(pk ProvingKey, place *resident.Place) (key, error) {
	switch pk := pk.(type) {
	case *gnark254.ProvingKey:
		return bn254.NewKey(pk, place)
	case *gnark377.ProvingKey:
		return bls12377.NewKey(pk, place)
	case *gnark381.ProvingKey:
		return bls12381.NewKey(pk, place)
	case *gnark761.ProvingKey:
		return bw6761.NewKey(pk, place)
	}
	return nil, fmt.Errorf("a proving key of type %T", pk)
}

// constraints is the size of a key's domain.
func constraints(pk ProvingKey) int {
	switch pk := pk.(type) {
	case *gnark254.ProvingKey:
		return int(pk.Domain.Cardinality)
	case *gnark377.ProvingKey:
		return int(pk.Domain.Cardinality)
	case *gnark381.ProvingKey:
		return int(pk.Domain.Cardinality)
	case *gnark761.ProvingKey:
		return int(pk.Domain.Cardinality)
	}
	return 0
}

// sameSetup says whether two keys over one curve have the points in common that keys of one
// setup have: proofs of others do not verify.
func sameSetup(pk ProvingKey, vk VerifyingKey) bool {
	switch pk := pk.(type) {
	case *gnark254.ProvingKey:
		vk, ok := vk.(*gnark254.VerifyingKey)
		return ok && pk.G1.Alpha == vk.G1.Alpha && pk.G2.Beta == vk.G2.Beta && pk.G2.Delta == vk.G2.Delta
	case *gnark377.ProvingKey:
		vk, ok := vk.(*gnark377.VerifyingKey)
		return ok && pk.G1.Alpha == vk.G1.Alpha && pk.G2.Beta == vk.G2.Beta && pk.G2.Delta == vk.G2.Delta
	case *gnark381.ProvingKey:
		vk, ok := vk.(*gnark381.VerifyingKey)
		return ok && pk.G1.Alpha == vk.G1.Alpha && pk.G2.Beta == vk.G2.Beta && pk.G2.Delta == vk.G2.Delta
	case *gnark761.ProvingKey:
		vk, ok := vk.(*gnark761.VerifyingKey)
		return ok && pk.G1.Alpha == vk.G1.Alpha && pk.G2.Beta == vk.G2.Beta && pk.G2.Delta == vk.G2.Delta
	}
	return false
}

func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}

// Prover makes proofs with one proving key, whose points stay on its devices. It is safe
// for concurrent proofs.
type Prover struct {
	pk      ProvingKey
	o       *options
	devices []*device.Device

	mu  sync.RWMutex // held for reading by proofs, for writing by Close
	key key          // nil once closed
}

// NewProver uploads a proving key, which must not change before Close.
func NewProver(pk ProvingKey, opts ...Option) (*Prover, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if isNil(pk) {
		return nil, fmt.Errorf("%w: no proving key", ErrInput)
	}
	if o.vk != nil && o.vk.CurveID() != pk.CurveID() {
		return nil, fmt.Errorf("%w: the proving key is over %s and the verifying key over %s", ErrInput, pk.CurveID(), o.vk.CurveID())
	}
	if o.vk != nil && !sameSetup(pk, o.vk) {
		return nil, fmt.Errorf("%w: the verifying key is of another setup than the proving key", ErrInput)
	}
	p := &Prover{pk: pk, o: o}
	if device.Automatic(o.device) && !device.Prefer("groth16", constraints(pk)) {
		p.devices, err = device.OpenList("cpu")
	} else {
		p.devices, err = device.OpenList(o.device)
	}
	if err != nil {
		return nil, fmt.Errorf("groth16: %w", err)
	}
	place, err := p.place(p.devices, o.memory)
	if err == nil {
		p.key, err = at(pk, place)
	}
	if err != nil && p.replaceable(err) {
		o.logger.Warn("groth16: the GPU failed, going on with the CPU", "device", p.devices[0].Name(), "reason", err)
		if p.devices, err = device.OpenList("cpu"); err == nil {
			p.key, err = p.onCPU()
		}
	}
	if err != nil {
		return nil, classify(err)
	}
	return p, nil
}

// place is a place for the key, with what the options say of proofs.
func (p *Prover) place(devices []*device.Device, memory int64) (*resident.Place, error) {
	place, err := resident.NewPlace(devices, memory)
	if err != nil {
		return nil, err
	}
	place.Serial, place.Trace, place.Verified = p.o.serial, p.o.trace, p.o.vk != nil
	return place, nil
}

// classify is an error of this package: what is not a device's is the caller's.
func classify(err error) error {
	for _, class := range []error{device.ErrUnavailable, device.ErrNoMemory, device.ErrFault, device.ErrUsage} {
		if errors.Is(err, class) {
			return fmt.Errorf("groth16: %w", err)
		}
	}
	return fmt.Errorf("%w: %w", ErrInput, err)
}

// replaceable says whether the CPU is to do what a device could not: where the choice of
// the device is the program's, and the failure is the device's.
func (p *Prover) replaceable(err error) bool {
	return device.Automatic(p.o.device) && p.devices[0].Kind() != device.CPU &&
		(errors.Is(err, device.ErrNoMemory) || errors.Is(err, device.ErrFault) || errors.Is(err, device.ErrUnavailable))
}

func (p *Prover) onCPU() (key, error) {
	devices, err := device.OpenList("cpu")
	if err != nil {
		return nil, err
	}
	place, err := p.place(devices, 0)
	if err != nil {
		return nil, err
	}
	return at(p.pk, place)
}

// Bytes is how much of a device's memory the key's points take, of the one that has the most of
// them; 0 on the CPU.
func (p *Prover) Bytes() int64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.key == nil {
		return 0
	}
	return p.key.Bytes()
}

// current says whether the prover is for the key as it is now.
func (p *Prover) current() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.key != nil && p.key.Current()
}

// whole says whether all of the key's points are resident.
func (p *Prover) whole() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.key != nil && p.key.Whole()
}

// Close gives the memory back, once proofs under way are done.
func (p *Prover) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.key != nil {
		p.key.Close()
		p.key = nil
	}
}

// Prove proves that the witness satisfies the constraint system, which must be the one
// that the proving key was made for. Options are gnark's. A witness that does not
// satisfy it is gnark's error, unchanged.
//
// Each proof is verified before it is returned if there is a verifying key; without one a
// device's is checked a little, and the CPU's not at all (see [WithVerifyingKey]). One that
// fails is made again on the CPU, from the same randomness, and the fault is logged. So is one
// for which a GPU that nobody asked for by name failed or had too little memory.
//
// When ctx ends Prove returns its error; the solver does not look at it.
func (p *Prover) Prove(ctx context.Context, ccs constraint.ConstraintSystem, fullWitness witness.Witness, opts ...backend.ProverOption) (Proof, error) {
	config, err := backend.NewProverConfig(opts...)
	if err != nil {
		return nil, fmt.Errorf("new prover config: %w", err)
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if err := p.ready(); err != nil {
		return nil, err
	}
	j := &job{ccs: ccs, full: fullWitness, config: config, random: &tape{r: p.o.random}}
	proof, err := p.attempt(ctx, p.key, j)
	return p.settle(ctx, j, proof, err)
}

// Solution is a satisfied constraint system, with its wires and the values of A, B and C
// in the host's memory.
type Solution struct {
	prover *Prover
	job    *job
	solved any
}

// Solve does the first part of Prove: it computes all wires, and commitments, on the CPU.
// The witness must not change as long as the solution is used. Its errors are those of Prove.
func (p *Prover) Solve(ctx context.Context, ccs constraint.ConstraintSystem, fullWitness witness.Witness, opts ...backend.ProverOption) (*Solution, error) {
	config, err := backend.NewProverConfig(opts...)
	if err != nil {
		return nil, fmt.Errorf("new prover config: %w", err)
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if err := p.ready(); err != nil {
		return nil, err
	}
	s := &Solution{prover: p, job: &job{ccs: ccs, full: fullWitness, config: config, turn: new(sync.Mutex)}}
	if s.solved, err = p.solve(ctx, p.key, s.job); err != nil {
		if p.devices[0].Kind() == device.CPU || !p.replaceable(err) {
			return nil, err
		}
		// A commitment that the device could not compute, to an automatic choice of it.
		k, err := p.onCPU()
		if err != nil {
			return nil, err
		}
		defer k.Close()
		if s.solved, err = p.solve(ctx, k, s.job); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ProveSolved does the rest of Prove. A solution of this prover is good for any number of
// proofs, also at the same time; each has fresh randomness, but those of a circuit with
// commitments have the same commitments, by which they can be told to be of one witness.
func (p *Prover) ProveSolved(ctx context.Context, s *Solution) (Proof, error) {
	if s == nil || s.prover != p {
		return nil, fmt.Errorf("%w: a solution of another prover", ErrInput)
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if err := p.ready(); err != nil {
		return nil, err
	}
	j := *s.job
	j.random = &tape{r: p.o.random}
	proof, err := p.finish(ctx, p.key, &j, s.solved, true)
	return p.settle(ctx, &j, proof, err)
}

// ProveBatch is Prove for several witnesses of one constraint system: while the device
// makes a proof the next witness is solved. It stops at the first error, which names the
// witness, and then returns the proofs of those before it. With a hash function among the
// options, which is one object, there is nothing that goes on at the same time.
func (p *Prover) ProveBatch(ctx context.Context, ccs constraint.ConstraintSystem, witnesses []witness.Witness, opts ...backend.ProverOption) ([]Proof, error) {
	config, err := backend.NewProverConfig(opts...)
	if err != nil {
		return nil, fmt.Errorf("new prover config: %w", err)
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if err := p.ready(); err != nil {
		return nil, err
	}
	var solver sync.WaitGroup
	defer solver.Wait() // it uses the key
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type solved struct {
		*job
		solution any
		err      error
		panicked any // a hint's, which is the caller's to recover from
	}
	solve := func(w witness.Witness) (s solved) {
		defer func() { s.panicked = recover() }()
		s.job = &job{ccs: ccs, full: w, config: config, random: &tape{r: p.o.random}}
		s.solution, s.err = p.solve(ctx, p.key, s.job)
		return s
	}
	next := make(chan solved)
	if config.HashToFieldFn == nil {
		solver.Go(func() {
			defer close(next)
			for _, w := range witnesses {
				s := solve(w)
				select {
				case next <- s:
				case <-ctx.Done():
					return
				}
				if s.err != nil || s.panicked != nil {
					return
				}
			}
		})
	}
	var proofs []Proof
	for i, w := range witnesses {
		var s solved
		if config.HashToFieldFn != nil {
			s = solve(w)
		} else {
			select {
			case solved, ok := <-next:
				if s = solved; !ok {
					return proofs, cmp.Or(ctx.Err(), fmt.Errorf("witness %d: a hint ended its goroutine", i))
				}
			case <-ctx.Done():
				return proofs, ctx.Err()
			}
		}
		if s.panicked != nil {
			panic(s.panicked)
		}
		var proof Proof
		err := s.err
		if err == nil {
			proof, err = p.finish(ctx, p.key, s.job, s.solution, false)
		}
		if proof, err = p.settle(ctx, s.job, proof, err); err != nil {
			return proofs, fmt.Errorf("witness %d: %w", i, err)
		}
		proofs = append(proofs, proof)
	}
	return proofs, nil
}

// ready says whether proofs can be made.
func (p *Prover) ready() error {
	if p.key == nil {
		return ErrClosed
	}
	if !p.key.Current() {
		return fmt.Errorf("%w: the proving key has changed since the prover was made", ErrInput)
	}
	return nil
}

// job is a proof to be made.
type job struct {
	ccs    constraint.ConstraintSystem
	full   witness.Witness
	config backend.ProverConfig
	random *tape
	turn   *sync.Mutex // of proofs of one solution, for the hash function; else nil
}

// hash waits until the hash function among the options, which is one object, may be used;
// leave says that it was.
func (j *job) hash() (leave func()) {
	if j.turn == nil || j.config.HashToFieldFn == nil {
		return func() {}
	}
	j.turn.Lock()
	return j.turn.Unlock
}

// settle is a proof, or an error, as it came, but where a device is to blame: then the
// CPU makes the proof again.
func (p *Prover) settle(ctx context.Context, j *job, proof Proof, err error) (Proof, error) {
	if err == nil || p.devices[0].Kind() == device.CPU {
		return proof, err
	}
	wrong := errors.Is(err, resident.ErrWrong)
	if !wrong && !p.replaceable(err) {
		return nil, err
	}
	p.o.logger.Error("groth16: a proof failed on the device, making it again on the CPU", "device", p.devices[0].Name(), "devices", len(p.devices), "wrong", wrong, "reason", err)
	k, err := p.onCPU()
	if err != nil {
		return nil, err
	}
	defer k.Close()
	j.random.rewind()
	return p.attempt(ctx, k, j)
}

// attempt makes a proof at a place.
func (p *Prover) attempt(ctx context.Context, k key, j *job) (Proof, error) {
	solved, err := p.solve(ctx, k, j)
	if err != nil {
		return nil, err
	}
	return p.finish(ctx, k, j, solved, false)
}

func (p *Prover) solve(ctx context.Context, k key, j *job) (any, error) {
	defer p.o.trace.Stage("solve")()
	defer j.hash()()
	return k.Solve(ctx, j.ccs, j.full, j.config)
}

// finish makes the proof of a solution and verifies it. The solution can be used again if
// that is said.
func (p *Prover) finish(ctx context.Context, k key, j *job, solved any, again bool) (Proof, error) {
	defer p.o.trace.Stage("prove")()
	proof, err := k.Finish(ctx, solved, j.random, again)
	if err != nil || p.o.vk == nil {
		return proof, err
	}
	defer p.o.trace.Stage("check")()
	defer j.hash()()
	public, err := j.full.Public()
	if err != nil {
		return nil, err
	}
	var opts []backend.VerifierOption
	if j.config.HashToFieldFn != nil {
		opts = append(opts, backend.WithVerifierHashToFieldFunction(j.config.HashToFieldFn))
	}
	if err := Verify(proof, p.o.vk, public, opts...); err != nil {
		return nil, fmt.Errorf("groth16: %w: it does not verify: %w", resident.ErrWrong, err)
	}
	return proof, nil
}
