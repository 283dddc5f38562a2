package csfile

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"

	"github.com/consensys/gnark/constraint"
	cs377 "github.com/consensys/gnark/constraint/bls12-377"
	cs381 "github.com/consensys/gnark/constraint/bls12-381"
	cs254 "github.com/consensys/gnark/constraint/bn254"
	cs761 "github.com/consensys/gnark/constraint/bw6-761"
	"github.com/consensys/gnark/constraint/solver"
)

// field is what a system knows of its elements.
type field interface {
	GetNbCoefficients() int
	GetCoefficient(int) constraint.U64
	ToBigInt(constraint.U64) *big.Int
}

// system is a constraint system being checked.
type system struct {
	*constraint.System
	field
	coefficients int
	wires        int
	entries      map[*constraint.BlueprintLookupHint[constraint.U64]]int // lengths of tables

	// solved says of every wire in which level it is solved, from 1 on. Level 1 is the
	// witness.
	solved []uint32
	level  uint32
}

// check says whether gnark's solver can go over a system without panic: whether every
// index is within what it is an index of, a wire is solved once, a constraint has one wire to be
// solved at most, and the lists that instructions consist of end where they should.
func check(ccs constraint.ConstraintSystem, modulus *big.Int, wires int) (options []solver.Option, err error) {
	defer recovered(&err)
	s := &system{entries: map[*constraint.BlueprintLookupHint[constraint.U64]]int{}}
	switch ccs := ccs.(type) {
	case *cs254.R1CS:
		s.System, s.field = &ccs.System, ccs
	case *cs377.R1CS:
		s.System, s.field = &ccs.System, ccs
	case *cs381.R1CS:
		s.System, s.field = &ccs.System, ccs
	case *cs761.R1CS:
		s.System, s.field = &ccs.System, ccs
	default:
		return nil, bad("one of type %T", ccs)
	}
	s.coefficients = s.GetNbCoefficients()
	internal, secret, public := s.GetNbVariables()
	switch {
	case s.Type != constraint.SystemR1CS:
		return nil, bad("it is not an R1CS")
	case public < 1:
		return nil, bad("no wire for the constant 1")
	case internal < 0 || internal > wires || public+secret+internal != wires:
		return nil, bad("%d public, %d secret and %d internal wires, and a proving key for %d", public, secret, internal, wires)
	}
	s.wires = wires
	m := words(modulus)
	for i := range s.coefficients {
		if !below(s.GetCoefficient(i), m) {
			return nil, bad("coefficient %d is not below the modulus", i)
		}
	}
	if err := s.checkBlueprints(); err != nil {
		return nil, err
	}
	if err := s.checkTexts(); err != nil {
		return nil, err
	}
	hints, err := s.checkInstructions(public + secret)
	if err != nil {
		return nil, err
	}
	if err := s.checkCommitments(hints); err != nil {
		return nil, err
	}
	return s.guard(hints), nil
}

// checkBlueprints refuses kinds of instructions that an R1CS has none of, or nobody can check.
func (s *system) checkBlueprints() error {
	for i, b := range s.Blueprints {
		switch b := b.(type) {
		case *constraint.BlueprintGenericHint, *constraint.BlueprintGenericR1C, *constraint.BlueprintBatchInverse[constraint.U64]:
		case *constraint.BlueprintLookupHint[constraint.U64]:
			// It is a list of linear expressions.
			n := 0
			for at := 0; at < len(b.EntriesCalldata); n++ {
				size, err := s.expression(b.EntriesCalldata[at:])
				if err != nil {
					return bad("blueprint %d, entry %d of a table: %v", i, n, err)
				}
				at += size
			}
			s.entries[b] = n
		default:
			return bad("blueprint %d is a %T, which is not checked", i, b)
		}
	}
	return nil
}

// expression is how many numbers a linear expression consists of.
func (s *system) expression(data []uint32) (int, error) {
	if len(data) == 0 {
		return 0, fmt.Errorf("it ends before a linear expression")
	}
	n := int(data[0])
	if n > (len(data)-1)/2 {
		return 0, fmt.Errorf("a linear expression of %d terms in %d numbers", n, len(data)-1)
	}
	for i := range n {
		if err := s.term(data[1+2*i], data[2+2*i]); err != nil {
			return 0, err
		}
	}
	return 1 + 2*n, nil
}

// term checks a coefficient's index and a wire.
func (s *system) term(coefficient, wire uint32) error {
	t := constraint.Term{CID: coefficient, VID: wire}
	switch {
	case int(coefficient) >= s.coefficients:
		return fmt.Errorf("coefficient %d of %d", coefficient, s.coefficients)
	case !t.IsConstant() && int(wire) >= s.wires:
		return fmt.Errorf("wire %d of %d", wire, s.wires)
	}
	return nil
}

// wide are verbs of formats that pad with thousands of characters or as many as an argument says: a few
// bytes each, of which a message could be too large for memory.
var wide = regexp.MustCompile(`%[-+# 0]*(\*|\[|\d{4})|%[-+# 0\d]*\.(\*|\[|\d{4})`)

// checkTexts checks what the solver makes messages of.
func (s *system) checkTexts() error {
	for _, entries := range [][]constraint.LogEntry{s.Logs, s.DebugInfo} {
		for i, e := range entries {
			if at := wide.FindString(e.Format); at != "" {
				return bad("message %d: a format with %q", i, at)
			}
			for _, l := range e.ToResolve {
				for _, t := range l {
					if err := s.term(t.CID, t.VID); err != nil {
						return bad("message %d: %v", i, err)
					}
				}
			}
			for _, at := range e.Stack {
				if at < 0 || at >= len(s.SymbolTable.Locations) {
					return bad("message %d: place %d of %d in the source", i, at, len(s.SymbolTable.Locations))
				}
			}
		}
	}
	for i, l := range s.SymbolTable.Locations {
		if l.FunctionID < 0 || l.FunctionID >= len(s.SymbolTable.Functions) {
			return bad("place %d in the source: function %d of %d", i, l.FunctionID, len(s.SymbolTable.Functions))
		}
	}
	for at, i := range s.MDebug {
		if i < 0 || i >= len(s.DebugInfo) {
			return bad("constraint %d: message %d of %d", at, i, len(s.DebugInfo))
		}
	}
	return nil
}

// checkInstructions goes over all instructions as the solver does. It returns the hints that
// they call, with how often.
func (s *system) checkInstructions(given int) (map[solver.HintID]int, error) {
	if s.NbConstraints < 0 || s.NbConstraints > len(s.Instructions) {
		return nil, bad("%d constraints of %d instructions", s.NbConstraints, len(s.Instructions))
	}
	s.solved = make([]uint32, s.wires)
	for i := range given {
		s.solved[i] = 1
	}
	hints := map[solver.HintID]int{}
	done := make([]bool, len(s.Instructions))
	constrained := make([]bool, s.NbConstraints)
	constraints := 0
	for i, level := range s.Levels {
		s.level = uint32(i) + 2
		for _, at := range level {
			if int(at) >= len(s.Instructions) || done[at] {
				return nil, bad("level %d: instruction %d of %d, or a second time", i, at, len(s.Instructions))
			}
			done[at] = true
			p := s.Instructions[at]
			data, err := s.data(p)
			if err != nil {
				return nil, bad("instruction %d: %v", at, err)
			}
			switch b := s.Blueprints[p.BlueprintID].(type) {
			case *constraint.BlueprintGenericR1C:
				if int(p.ConstraintOffset) >= s.NbConstraints || constrained[p.ConstraintOffset] {
					return nil, bad("instruction %d: constraint %d of %d, or a second time", at, p.ConstraintOffset, s.NbConstraints)
				}
				constrained[p.ConstraintOffset] = true
				constraints++
				err = s.r1c(data)
			case *constraint.BlueprintGenericHint:
				hints[solver.HintID(data[1])]++
				err = s.hint(data)
			case *constraint.BlueprintLookupHint[constraint.U64]:
				err = s.lookup(b, data, p.WireOffset)
			case *constraint.BlueprintBatchInverse[constraint.U64]:
				err = s.inverses(data, p.WireOffset)
			default:
				err = fmt.Errorf("a %T", b)
			}
			if err != nil {
				return nil, bad("instruction %d: %v", at, err)
			}
		}
	}
	if constraints != s.NbConstraints {
		return nil, bad("%d constraints of %d", constraints, s.NbConstraints)
	}
	return hints, nil
}

// data is an instruction's part of the call data, which has its own length in front: two
// numbers at least.
func (s *system) data(p constraint.PackedInstruction) ([]uint32, error) {
	if int(p.BlueprintID) >= len(s.Blueprints) {
		return nil, fmt.Errorf("blueprint %d of %d", p.BlueprintID, len(s.Blueprints))
	}
	if p.StartCallData >= uint64(len(s.CallData)) {
		return nil, fmt.Errorf("call data from %d on, of %d", p.StartCallData, len(s.CallData))
	}
	rest := s.CallData[p.StartCallData:]
	if n := int(rest[0]); n < 2 || n > len(rest) {
		return nil, fmt.Errorf("%d numbers of call data, where %d are left", n, len(rest))
	}
	return rest[:rest[0]], nil
}

// solve is an instruction's output.
func (s *system) solve(wire int) error {
	if wire >= s.wires || s.solved[wire] != 0 {
		return fmt.Errorf("wire %d of %d is solved, or a second time", wire, s.wires)
	}
	s.solved[wire] = s.level
	return nil
}

// r1c is a constraint: the lengths of three linear expressions, and these, whose one wire
// that is not solved, if there is one, it solves.
func (s *system) r1c(data []uint32) error {
	if len(data) < 4 {
		return fmt.Errorf("a constraint of %d numbers", len(data))
	}
	terms := 0
	for _, n := range data[1:4] {
		terms += int(n)
	}
	if len(data) != 4+2*terms {
		return fmt.Errorf("a constraint of %d terms in %d numbers", terms, len(data))
	}
	unsolved := -1
	for i := range terms {
		coefficient, wire := data[4+2*i], data[5+2*i]
		switch {
		case int(coefficient) >= s.coefficients:
			return fmt.Errorf("coefficient %d of %d", coefficient, s.coefficients)
		case int(wire) >= s.wires:
			return fmt.Errorf("wire %d of %d", wire, s.wires)
		case s.solved[wire] == s.level:
			return fmt.Errorf("wire %d is solved at the same time", wire)
		case s.solved[wire] != 0:
		case unsolved >= 0:
			return fmt.Errorf("wires %d and %d are both to be solved", unsolved, wire)
		case coefficient == constraint.CoeffIdZero:
			return fmt.Errorf("wire %d has the coefficient 0", wire)
		default:
			unsolved = int(wire)
		}
	}
	if unsolved >= 0 {
		return s.solve(unsolved)
	}
	return nil
}

// hint is a call of a function: its number, how many inputs there are, these, and the first
// output and the one behind the last.
func (s *system) hint(data []uint32) error {
	if len(data) < 3 {
		return fmt.Errorf("a hint of %d numbers", len(data))
	}
	id, inputs, at := solver.HintID(data[1]), int(data[2]), 3
	constants := constantInputs[s.MHintsDependencies[id]]
	for i := range inputs {
		n, err := s.expression(data[at:])
		if err != nil {
			return fmt.Errorf("input %d of a hint: %w", i, err)
		}
		if i < len(constants) {
			if v, ok := s.constant(data[at : at+n]); !ok || v < constants[i][0] || v > constants[i][1] {
				return fmt.Errorf("input %d of a hint is no constant, or out of range", i)
			}
		}
		at += n
	}
	if len(data) != at+2 {
		return fmt.Errorf("a hint of %d numbers, of which there are %d", at+2, len(data))
	}
	first, end := int(data[at]), int(data[at+1])
	if first > end || end > s.wires {
		return fmt.Errorf("outputs of a hint from wire %d to %d", first, end)
	}
	for wire := first; wire < end; wire++ {
		if err := s.solve(wire); err != nil {
			return err
		}
	}
	return nil
}

// constantInputs are the first inputs of hints that gnark's solver computes by itself, where guard cannot
// reach: it divides by some of them. They have always been constants.
var constantInputs = map[string][][2]uint64{
	"github.com/consensys/gnark/std/internal/logderivarg.countHint": {{0, 1 << 31}, {1, 1 << 31}}, // rows, columns
	"github.com/consensys/gnark/std/rangecheck.DecomposeHint":       {{0, 1 << 31}, {1, 63}},      // bits, bits of a limb
}

// native are those hints, and others that gnark's solver computes by itself and that
// look at the number of inputs and outputs.
var native = []string{
	"github.com/consensys/gnark/std/internal/logderivarg.countHint",
	"github.com/consensys/gnark/std/internal/logderivarg.batchDivBySubHint",
	"github.com/consensys/gnark/std/rangecheck.DecomposeHint",
	"github.com/consensys/gnark/std/math/bits.nBits",
}

// constant is the value of a linear expression that has no wires but that of the constant 1.
func (s *system) constant(data []uint32) (uint64, bool) {
	sum := new(big.Int)
	for i := 1; i < len(data); i += 2 {
		t := constraint.Term{CID: data[i], VID: data[i+1]}
		if !t.IsConstant() && t.VID != 0 {
			return 0, false
		}
		sum.Add(sum, s.ToBigInt(s.GetCoefficient(int(t.CID))))
	}
	return sum.Uint64(), sum.IsUint64()
}

// lookup is queries of a table: its length, how many queries there are, these; as many
// outputs.
func (s *system) lookup(b *constraint.BlueprintLookupHint[constraint.U64], data []uint32, first uint32) error {
	if len(data) < 3 {
		return fmt.Errorf("queries of %d numbers", len(data))
	}
	if n := s.entries[b]; int(data[1]) > n {
		return fmt.Errorf("queries of the first %d entries of a table of %d", data[1], n)
	}
	return s.lists(data, 3, int(data[2]), first)
}

// inverses are inverses of linear expressions: how many, these; as many outputs.
func (s *system) inverses(data []uint32, first uint32) error {
	return s.lists(data, 2, int(data[1]), first)
}

// lists goes over n linear expressions from a place to the end, with an output for each.
func (s *system) lists(data []uint32, at, n int, first uint32) error {
	for i := range n {
		size, err := s.expression(data[at:])
		if err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
		at += size
		if err := s.solve(int(first) + i); err != nil {
			return err
		}
	}
	if at != len(data) {
		return fmt.Errorf("%d numbers of call data, of which there are %d", at, len(data))
	}
	return nil
}

// checkCommitments checks the wires that are committed to.
func (s *system) checkCommitments(hints map[solver.HintID]int) error {
	list, ok := s.CommitmentInfo.(constraint.Groth16Commitments)
	if !ok {
		return bad("commitments of type %T", s.CommitmentInfo)
	}
	if n := hints[commitmentHint]; n != len(list) {
		return bad("%d commitments, and %d wires for them", len(list), n)
	}
	inside := func(wire int) bool { return wire >= 0 && wire < s.wires }
	for i, c := range list {
		if !inside(c.CommitmentIndex) || c.NbPublicCommitted < 0 || c.NbPublicCommitted > len(c.PublicAndCommitmentCommitted) ||
			slices.ContainsFunc(c.PrivateCommitted, func(wire int) bool { return !inside(wire) }) ||
			slices.ContainsFunc(c.PublicAndCommitmentCommitted, func(wire int) bool { return !inside(wire) }) {
			return bad("commitment %d is to wires that there are not", i)
		}
	}
	return nil
}
