package csfile

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"math/big"
	randv2 "math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs254 "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/debug"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/logger"
	"github.com/consensys/gnark/std/lookup/logderivlookup"
	"github.com/consensys/gnark/std/math/bits"
	"github.com/consensys/gnark/std/math/cmp"
	"github.com/consensys/gnark/std/rangecheck"
)

func init() {
	logger.Disable()
	solver.RegisterHint(double)
}

// much uses what instructions there are: products, hints, bits, lookups, range checks and commitments.
type much struct {
	X [8]frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

// double indexes inputs that a file may say it has none of.
func double(_ *big.Int, in, out []*big.Int) error {
	out[0].Lsh(in[0], 1)
	return nil
}

func (c *much) Define(api frontend.API) error {
	sum := frontend.Variable(0)
	table := logderivlookup.New(api)
	for i := range 16 {
		table.Insert(api.Mul(c.Y, i))
	}
	ranges := rangecheck.New(api)
	for i, x := range c.X {
		ranges.Check(x, 10+i)
		sum = api.Add(sum, api.Mul(x, x))
		out, err := api.NewHint(double, 1, x)
		if err != nil {
			return err
		}
		api.AssertIsEqual(out[0], api.Add(x, x))
	}
	low := bits.ToBinary(api, c.X[0], bits.WithNbDigits(4))
	sum = api.Add(sum, table.Lookup(c.X[1], c.X[2])[1], low[0], cmp.IsLess(api, c.X[3], c.X[4]))
	committed, err := api.(frontend.Committer).Commit(c.X[:]...)
	if err != nil {
		return err
	}
	api.AssertIsDifferent(committed, 0)
	api.AssertIsDifferent(sum, api.Inverse(c.X[5]))
	return nil
}

// plain is a handful of constraints.
type plain struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *plain) Define(api frontend.API) error {
	api.AssertIsEqual(c.Y, api.Add(api.Mul(c.X, c.X, c.X), c.X, 5))
	return nil
}

type example struct {
	ccs  constraint.ConstraintSystem
	full witness.Witness
	file []byte
}

func compile(t testing.TB, id ecc.ID, circuit, assignment frontend.Circuit) *example {
	t.Helper()
	ccs, err := frontend.Compile(id.ScalarField(), r1cs.NewBuilder, circuit)
	if err != nil {
		t.Fatal(err)
	}
	full, err := frontend.NewWitness(assignment, id.ScalarField())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := ccs.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return &example{ccs, full, b.Bytes()}
}

func examples(t testing.TB, id ecc.ID) []*example {
	x := &much{Y: 7}
	for i := range x.X {
		x.X[i] = i + 1
	}
	return []*example{compile(t, id, &plain{}, &plain{3, 35}), compile(t, id, &much{}, x)}
}

func wires(ccs constraint.ConstraintSystem) int {
	internal, secret, public := ccs.GetNbVariables()
	return internal + secret + public
}

// commits stands in for the prover.
func commits(_ *big.Int, _, out []*big.Int) error {
	out[0].SetInt64(12345)
	return nil
}

// solve solves a system. The mask of a commitment, which is random otherwise, is the same each time.
func solve(ccs constraint.ConstraintSystem, full witness.Witness, options []solver.Option) (any, error) {
	old := rand.Reader
	defer func() { rand.Reader = old }()
	rand.Reader = randv2.NewChaCha8([32]byte{1})
	return ccs.Solve(full, append(options, solver.OverrideHint(solver.GetHintID(cs.Bsb22CommitmentComputePlaceholder), commits))...)
}

// What gnark wrote is read as gnark reads it, and solved as gnark solves it.
func TestRead(t *testing.T) {
	for _, id := range []ecc.ID{ecc.BN254, ecc.BLS12_377, ecc.BLS12_381, ecc.BW6_761} {
		for _, x := range examples(t, id) {
			got, options, err := Read(id, x.file, wires(x.ccs))
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			want, err := solve(x.ccs, x.full, nil)
			if err != nil {
				t.Fatal(err)
			}
			solution, err := solve(got, x.full, options)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if !reflect.DeepEqual(solution, want) {
				t.Errorf("%s: another solution", id)
			}
			if _, _, err := Read(id, x.file, wires(x.ccs)-1); !errors.Is(err, ErrFormat) {
				t.Errorf("%s, more wires than the key has: %v", id, err)
			}
			other := ecc.BN254
			if id == other {
				other = ecc.BW6_761
			}
			if _, _, err := Read(other, x.file, wires(x.ccs)); !errors.Is(err, ErrFormat) {
				t.Errorf("%s as %s: %v", id, other, err)
			}
		}
	}
}

// Where a file is changed it is refused, or solved to the end or to an error: a panic in one of the solver's
// goroutines would end this test. And no more memory is taken than the file accounts for.
func TestChanged(t *testing.T) {
	for _, x := range examples(t, ecc.BN254) {
		step := max(1, len(x.file)/70)
		for n := 0; n < len(x.file); n += step {
			if _, _, err := Read(ecc.BN254, x.file[:n], wires(x.ccs)); !errors.Is(err, ErrFormat) {
				t.Errorf("%d bytes of %d: %v", n, len(x.file), err)
			}
		}
		if _, _, err := Read(ecc.BN254, append(bytes.Clone(x.file), 0), wires(x.ccs)); !errors.Is(err, ErrFormat) {
			t.Errorf("a byte too long: %v", err)
		}
		for at := 0; at < len(x.file); at += step {
			for _, v := range []byte{0, 1, 0x7f, 0xff, x.file[at] + 1, x.file[at] ^ 0x80} {
				b := bytes.Clone(x.file)
				b[at] = v
				try(t, b, x)
			}
		}
		for at := 0; at+8 <= len(x.file); at += max(1, step/2) {
			for _, v := range []uint64{1 << 32, 1<<64 - 1, 1 << 59, 1<<32 - 1} {
				b := bytes.Clone(x.file)
				binary.LittleEndian.PutUint64(b[at:], v)
				try(t, b, x)
			}
		}
	}
}

func try(t *testing.T, b []byte, x *example) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ccs, options, err := Read(ecc.BN254, b, wires(x.ccs))
	runtime.ReadMemStats(&after)
	if took, most := after.TotalAlloc-before.TotalAlloc, uint64(8<<20+2000*len(b)); took > most {
		t.Errorf("%d bytes of memory for a file of %d (%v)", took, len(b), err)
	}
	if err == nil {
		_, _ = solve(ccs, x.full, options)
	}
}

// Systems that gnark's reader takes, but whose solving would end the program.
func TestChecked(t *testing.T) {
	for _, c := range []struct {
		name, says string
		change     func(s *cs254.R1CS)
	}{
		{"a wire", "wire 4294967294 of", func(s *cs254.R1CS) { s.CallData[s.Instructions[last(s)].StartCallData+5] = 1<<32 - 2 }},
		{"a coefficient", "coefficient 77777 of", func(s *cs254.R1CS) { s.CallData[s.Instructions[last(s)].StartCallData+4] = 77777 }},
		{"terms", "terms in", func(s *cs254.R1CS) { s.CallData[s.Instructions[last(s)].StartCallData+1]++ }},
		{"call data", "call data from", func(s *cs254.R1CS) { s.Instructions[3].StartCallData = 1 << 40 }},
		{"a blueprint", "blueprint 99 of", func(s *cs254.R1CS) { s.Instructions[3].BlueprintID = 99 }},
		{"a constraint", "constraint 1000000 of", func(s *cs254.R1CS) { s.Instructions[last(s)].ConstraintOffset = 1000000 }},
		{"constraints", "or a second time", func(s *cs254.R1CS) { s.NbConstraints-- }},
		{"many constraints", "constraints of", func(s *cs254.R1CS) { s.NbConstraints = 1 << 50 }},
		{"wires", "internal wires", func(s *cs254.R1CS) { s.NbInternalVariables = 1 << 50 }},
		{"no wires", "internal wires", func(s *cs254.R1CS) { s.NbInternalVariables = -1 }},
		{"an instruction", "a second time", func(s *cs254.R1CS) { s.Levels[1][0] = s.Levels[0][0] }},
		{"the order", "", func(s *cs254.R1CS) { s.Levels[0], s.Levels[1] = s.Levels[1], s.Levels[0] }},
		{"levels", "at the same time", func(s *cs254.R1CS) {
			all := []uint32{}
			for _, l := range s.Levels {
				all = append(all, l...)
			}
			s.Levels = [][]uint32{all}
		}},
		{"a commitment", "commitment 0 is to wires", func(s *cs254.R1CS) { s.CommitmentInfo.(constraint.Groth16Commitments)[0].PrivateCommitted[0] = -1 }},
		{"public commitments", "commitment 0 is to wires", func(s *cs254.R1CS) { s.CommitmentInfo.(constraint.Groth16Commitments)[0].NbPublicCommitted = 9 }},
		{"commitments", "commitments, and", func(s *cs254.R1CS) { s.CommitmentInfo = constraint.Groth16Commitments{} }},
		{"a message", "message 77 of", func(s *cs254.R1CS) { s.MDebug[0] = 77 }},
		{"a place", "in the source", func(s *cs254.R1CS) { s.Logs = []constraint.LogEntry{{Stack: []int{1 << 40}}} }},
		{"a function", "function -1 of", func(s *cs254.R1CS) { s.SymbolTable.Locations = []debug.Location{{FunctionID: -1}} }},
		{"a message's wire", "message 0: wire", func(s *cs254.R1CS) {
			s.Logs = []constraint.LogEntry{{ToResolve: []constraint.LinearExpression{{{VID: 1 << 30}}}}}
		}},
		{"a message's width", "a format with", func(s *cs254.R1CS) { s.DebugInfo = []constraint.LogEntry{{Format: "%s %-01000s"}} }},
		{"a message's precision", "a format with", func(s *cs254.R1CS) { s.DebugInfo = []constraint.LogEntry{{Format: "%5.*f"}} }},
		{"a coefficient's value", "not below the modulus", func(s *cs254.R1CS) { s.Coefficients[3] = [4]uint64{1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1} }},
		{"a table", "entry 0 of a table", func(s *cs254.R1CS) { table(s).EntriesCalldata[0] = 1 << 31 }},
		{"a shorter table", "entries of a table of 1", func(s *cs254.R1CS) {
			table(s).EntriesCalldata = table(s).EntriesCalldata[:1+2*table(s).EntriesCalldata[0]]
		}},
		{"a range check of no bits", "is no constant, or out of range", func(s *cs254.R1CS) {
			for _, p := range s.Instructions {
				data := s.CallData[p.StartCallData:]
				if _, ok := s.Blueprints[p.BlueprintID].(*constraint.BlueprintGenericHint); ok && strings.HasSuffix(s.MHintsDependencies[solver.HintID(data[1])], "DecomposeHint") {
					data[7] = constraint.CoeffIdZero // 3 words, then 1 term, its coefficient and wire, 1 term, this
				}
			}
		}},
		{"kinds of instructions", "is not checked", func(s *cs254.R1CS) { s.AddBlueprint(&constraint.BlueprintSparseR1CAdd[constraint.U64]{}) }},
		{"no constant", "no wire for the constant", func(s *cs254.R1CS) { s.Public = nil }},
		{"its kind", "not an R1CS", func(s *cs254.R1CS) { s.Type = constraint.SystemSparseR1CS }},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := examples(t, ecc.BN254)[1]
			s := x.ccs.(*cs254.R1CS)
			n := wires(s)
			c.change(s)
			if _, err := check(s, ecc.BN254.ScalarField(), n); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
	ccs, err := frontend.Compile(ecc.BN254.ScalarField(), scs.NewBuilder, &plain{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := check(ccs, ecc.BN254.ScalarField(), wires(ccs)); !errors.Is(err, ErrFormat) {
		t.Errorf("a system of PLONK's: %v", err)
	}
}

// last is the last instruction that is a constraint.
func last(s *cs254.R1CS) int {
	for i := len(s.Instructions) - 1; ; i-- {
		if _, ok := s.Blueprints[s.Instructions[i].BlueprintID].(*constraint.BlueprintGenericR1C); ok {
			return i
		}
	}
}

func table(s *cs254.R1CS) *constraint.BlueprintLookupHint[constraint.U64] {
	for _, b := range s.Blueprints {
		if b, ok := b.(*constraint.BlueprintLookupHint[constraint.U64]); ok {
			return b
		}
	}
	panic("no table")
}

// A hint that panics for what the file says of its inputs is an error, on whatever goroutine.
func TestHintPanics(t *testing.T) {
	x := examples(t, ecc.BN254)[1]
	s := x.ccs.(*cs254.R1CS)
	id := solver.GetHintID(double)
	for i, p := range s.Instructions {
		data := s.CallData[p.StartCallData:]
		if _, ok := s.Blueprints[p.BlueprintID].(*constraint.BlueprintGenericHint); ok && solver.HintID(data[1]) == id {
			// The same with no input, behind all others.
			s.Instructions[i].StartCallData = uint64(len(s.CallData))
			s.CallData = append(s.CallData, 5, uint32(id), 0, data[6], data[7])
		}
	}
	options, err := check(s, ecc.BN254.ScalarField(), wires(s))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := solve(s, x.full, options); err == nil || !strings.Contains(err.Error(), "double: runtime error: index out of range") {
		t.Errorf("error %v", err)
	}
}

// FuzzRead reads bytes as a constraint system, and solves what comes out.
func FuzzRead(f *testing.F) {
	list := examples(f, ecc.BN254)
	for _, x := range list {
		f.Add(x.file)
		f.Add(x.file[:len(x.file)/2])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x := list[0]
		if len(b) > len(x.file)*2 {
			x = list[1]
		}
		try(t, b, x)
	})
}
