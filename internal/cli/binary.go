package cli

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/bitproof"
	bitprover "github.com/zkwarp/zkwarp/bitproof/prover"
	"github.com/zkwarp/zkwarp/device"
)

func (a *app) binaryCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "binary",
		Short: "Prove that columns of bits obey AND and XOR gates",
		Long: "A statement names columns of 2^N bits and gates that hold in each of their rows, such as c = a ^ ~b & d. Prove that you\n" +
			"know such columns, and let anybody check that in milliseconds. Proofs are binding, not zero-knowledge.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("no verb %q; zkwarp binary --help lists demo, prove and verify", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.json {
				return usageError("--json goes with a verb; zkwarp binary --help lists them")
			}
			return cmd.Help()
		},
	}
	c.AddCommand(a.binaryDemoCommand(), a.binaryProveCommand(), a.binaryVerifyCommand())
	return c
}

// loadStatement reads a statement and chooses the sizes of its proofs.
func (a *app) loadStatement(path string) (*bitproof.Params, error) {
	data, err := a.readUpTo("statement", path, bitproof.MaxText)
	if err != nil {
		return nil, err
	}
	s, err := bitproof.Parse(string(data))
	if err != nil {
		return nil, inputError("statement %s: %w", path, err)
	}
	p, err := bitproof.NewParams(s)
	if err != nil {
		return nil, inputError("statement %s: %w", path, err)
	}
	return p, nil
}

// columnSuffix ends the names of files of packed bits, which begin with a column's name.
const columnSuffix = ".bits"

// loadColumns reads a statement's columns: from a folder, a file each, or from one file in
// which they follow each other.
func (a *app) loadColumns(path string, s *bitproof.Statement) ([][]uint32, error) {
	size := 4 * s.ColumnWords()
	if err := a.enough("the columns", 2*int64(size)*int64(len(s.Names))); err != nil {
		return nil, err
	}
	columns := make([][]uint32, len(s.Names))
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		for j, name := range s.Names {
			file := filepath.Join(path, name+columnSuffix)
			data, err := a.readExactly("column", file, int64(size), fmt.Sprintf("for 2^%d bits", s.Vars))
			if err != nil {
				return nil, err
			}
			columns[j] = packedWords(data)
		}
		return columns, nil
	}
	data, err := a.readExactly("columns", path, int64(size)*int64(len(columns)), fmt.Sprintf("for %d columns of 2^%d bits", len(columns), s.Vars))
	if err != nil {
		return nil, err
	}
	for j := range columns {
		columns[j] = packedWords(data[j*size : (j+1)*size])
	}
	return columns, nil
}

// packedWords are little-endian words: bit x of a column is bit x%8 of its byte x/8.
func packedWords(data []byte) []uint32 {
	out := make([]uint32, len(data)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return out
}

func packedBytes(words []uint32) []byte {
	out := make([]byte, 0, 4*len(words))
	for _, w := range words {
		out = binary.LittleEndian.AppendUint32(out, w)
	}
	return out
}

// bitsProved is one proof about columns of bits, and how it came about.
type bitsProved struct {
	proof   *bitproof.Proof
	data    []byte
	device  *device.Device
	stages  []stageTime
	load    time.Duration // of the columns to the device
	kernel  time.Duration // to compile and load kernels, if that was done apart
	time    time.Duration
	stats   device.Stats
	kernels map[string]int64
}

// proveBits proves on a device. With again, if that is a GPU, kernels are compiled and loaded
// and one proof is made before: what is timed is what a process that goes on proving sees.
func (a *app) proveBits(ctx context.Context, name string, p *bitproof.Params, columns [][]uint32, o bitprover.Options, again bool) (*bitsProved, error) {
	out := &bitsProved{}
	progress := a.startProgress("binary prove", len(bitprover.Stages()))
	defer progress.end()
	s := p.Statement()
	err := a.onDeviceFor(ctx, name, "binary", len(columns)<<s.Vars, func(q *device.Queue) error {
		*out = bitsProved{device: q.Device()}
		if q.OnHost() {
			if err := a.enough("proving", bitsBytes(p)); err != nil {
				return err
			}
		}
		start := time.Now()
		c, err := bitprover.Upload(q, p, columns)
		if err != nil {
			return err
		}
		defer c.Free()
		if err := q.Sync(); err != nil {
			return err
		}
		out.load = time.Since(start)
		if again && !q.OnHost() {
			progress.begin("kernels")
			start = time.Now()
			if err := q.Device().Preload(bitprover.AllSources()...); err != nil {
				return err
			}
			out.kernel = time.Since(start)
			progress.begin("first proof")
			if _, err := bitprover.Prove(ctx, q, c, bitprover.Options{Unchecked: o.Unchecked}); err != nil {
				return err
			}
		}
		o.Stage = progress.begin
		before, launches := q.Stats(), q.Device().Launches()
		start = time.Now()
		if out.proof, err = bitprover.Prove(ctx, q, c, o); err != nil {
			return err
		}
		out.time = time.Since(start)
		if out.stages = progress.end(); out.kernel > 0 {
			out.stages = out.stages[2:]
		}
		out.stats, out.kernels = q.Stats().Since(before), q.Device().LaunchesSince(launches)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.data, err = p.AppendProof(nil, out.proof)
	return out, err
}

// bitsBytes is what a proof on the CPU takes at least: the columns with their codeword, and
// either the factors of the gates or two tables of elements a row.
func bitsBytes(p *bitproof.Params) int64 {
	s := p.Statement()
	table := int64(1) << (s.ColumnVars() + s.Vars) / 8
	return table + table<<p.Commitment().LogInvRate() + max(2*int64(1)<<(s.GateVars()+s.Vars)/8, 32<<s.Vars)
}

func (b *bitsProved) stageText() string {
	var parts []string
	for _, t := range b.stages {
		parts = append(parts, t.Name+" "+durationText(t.Time))
	}
	return strings.Join(parts, "  ")
}

func (b *bitsProved) stageObject() map[string]float64 {
	out := map[string]float64{}
	for _, t := range b.stages {
		out[t.Name] += milliseconds(t.Time)
	}
	return out
}

// rootText is a root's words as bytes, in hexadecimal.
func rootText(root [8]uint32) string { return hexText(packedBytes(root[:])) }

func (a *app) binaryProveCommand() *cobra.Command {
	var statement, columns, out string
	c := &cobra.Command{
		Use:   "prove --statement FILE --columns (DIR | FILE) -o FILE.proof",
		Short: "Prove that columns of bits obey a statement",
		Long: "The columns are files NAME.bits in a folder, or one file in which they follow each other in the statement's order. Bit x of a\n" +
			"column is bit x mod 8 of its byte x/8. Where a gate does not hold, the error names the first row.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if statement == "" || columns == "" || out == "" {
				return usageError("pass --statement FILE, --columns DIR and -o FILE.proof")
			}
			if err := a.checkOutputs(out); err != nil {
				return err
			}
			p, err := a.loadStatement(statement)
			if err != nil {
				return err
			}
			bits, err := a.loadColumns(columns, p.Statement())
			if err != nil {
				return err
			}
			made, err := a.proveBits(cmd.Context(), a.device, p, bits, bitprover.Options{}, false)
			var gate *bitprover.GateError
			if errors.As(err, &gate) {
				return inputError("columns %s: %w", columns, gate)
			}
			if err != nil {
				return err
			}
			if err := a.write(output{path: out, data: made.data}); err != nil {
				return err
			}
			r, digest := p.Report(), p.Digest()
			return a.wrote(out, map[string]any{
				"proof": out, "proof_bytes": len(made.data), "device": made.device.Name(), "prove_ms": milliseconds(made.time), "stages_ms": made.stageObject(),
				"statement_sha256": hexText(digest[:]), "root": rootText(made.proof.Root), "security_bits": r.Sum, "security_bits_min_round": r.Min,
			}, "statement %s\nprove     %s  total %s on %s\nroot      %s\nwritten   %s (%s), %.1f bits (union; weakest step %.1f)", p.Describe(), made.stageText(),
				durationText(made.time), made.device.Name(), rootText(made.proof.Root), out, sizeText(int64(len(made.data))), r.Sum, r.Min)
		},
	}
	c.Flags().StringVar(&statement, "statement", "", "the statement: rows, columns and gates (docs/bitproof.md)")
	c.Flags().StringVar(&columns, "columns", "", "folder of NAME.bits, or one file")
	c.Flags().StringVarP(&out, "output", "o", "", "the proof to write")
	return c
}

func (a *app) binaryVerifyCommand() *cobra.Command {
	var statement string
	c := &cobra.Command{
		Use:   "verify --statement FILE FILE.proof",
		Short: "Check a proof about columns of bits",
		Long: "Exit code 0 means: who made the proof knows columns with the root that is printed that obey the statement. Exit code 1 names the\n" +
			"check that failed.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if statement == "" {
				return usageError("pass --statement FILE")
			}
			p, err := a.loadStatement(statement)
			if err != nil {
				return err
			}
			data, err := a.readFile("proof", args[0])
			if err != nil {
				return err
			}
			start := time.Now()
			pf, err := verifyBits(p, data)
			took := time.Since(start)
			var r *bitproof.Rejection
			switch {
			case errors.As(err, &r) && r.Check == bitproof.CheckFormat:
				return inputError("proof %s: %w", args[0], r.Err)
			case errors.As(err, &r):
				return a.reject(rejected("proof %s: rejected: %w", args[0], r), r.Check)
			case err != nil:
				return inputError("proof %s: %w", args[0], err)
			}
			report, digest := p.Report(), p.Digest()
			return a.result(map[string]any{
				"verified": true, "verify_ms": milliseconds(took), "proof_bytes": len(data), "statement_sha256": hexText(digest[:]), "root": rootText(pf.Root),
				"security_bits": report.Sum, "security_bits_min_round": report.Min,
			}, "accepted in %s: %s (%.1f bits, union; weakest step %.1f)\nroot      %s", durationText(took), p.Describe(), report.Sum, report.Min, rootText(pf.Root))
		},
	}
	c.Flags().StringVar(&statement, "statement", "", "the statement that the proof is about")
	return c
}

func verifyBits(p *bitproof.Params, data []byte) (*bitproof.Proof, error) {
	pf, err := p.DecodeProof(data)
	if err != nil {
		return nil, err
	}
	return pf, p.Verify(pf)
}

// viewBitsProof shows what a proof about columns of bits says of itself.
func viewBitsProof(path string, data []byte) (*view, error) {
	digest, err := bitproof.ProofStatement(data)
	var root [8]uint32
	if err == nil {
		root, err = bitproof.ProofRoot(data)
	}
	var r *bitproof.Rejection
	if errors.As(err, &r) {
		return nil, inputError("proof %s: %w", path, r.Err)
	}
	if err != nil {
		return nil, inputError("proof %s: %w", path, err)
	}
	v := &view{Kind: "proof about bits"}
	v.fact("for statement", hexText(digest[:]))
	v.fact("root", rootText(root))
	v.fact("complete", "cannot be told without the statement; zkwarp binary verify takes both")
	return v, nil
}

// isStatement says whether a file is meant as a statement about columns of bits: its first
// line that is no comment begins with a word that statements begin with, right or wrong.
func isStatement(data []byte) bool {
	text := strings.TrimPrefix(string(data[:min(len(data), bitproof.MaxText)]), "\ufeff") // some editors' mark
	for line := range strings.Lines(text) {
		before, _, _ := strings.Cut(line, "#")
		if before = strings.TrimSpace(before); before == "" {
			continue
		}
		for _, word := range []string{"rows", "columns"} {
			if rest, ok := strings.CutPrefix(before, word); ok && (rest == "" || strings.ContainsAny(rest[:1], " \t:=^")) {
				return true
			}
		}
		return false
	}
	return false
}

func viewStatement(path string, data []byte) (*view, error) {
	s, err := bitproof.Parse(string(data))
	if err != nil {
		return nil, inputError("statement %s: %w", path, err)
	}
	p, err := bitproof.NewParams(s)
	if err != nil {
		return nil, inputError("statement %s: %w", path, err)
	}
	v := &view{Kind: "statement about bits"}
	r, digest := p.Report(), p.Digest()
	v.fact("rows", fmt.Sprintf("2^%d", s.Vars))
	v.fact("columns", strings.Join(s.Names, " "))
	v.fact("gates", fmt.Sprintf("%d AND, %d XOR", len(s.Ands), len(s.Zeros)))
	v.fact("digest", hexText(digest[:]))
	v.fact("security", fmt.Sprintf("%.2f bits in sum, weakest step %.2f", r.Sum, r.Min))
	gates := table{Name: "gates", Columns: []string{"gate", "holds in every row"}}
	for i := range len(s.Ands) + len(s.Zeros) {
		gates.Rows = append(gates.Rows, []any{i, s.Gate(i)})
	}
	lines := table{Name: "security", Columns: []string{"step", "bits", "note"}}
	for _, l := range r.Lines {
		lines.Rows = append(lines.Rows, []any{l.Name, l.Bits, l.Note})
	}
	v.Tables = append(v.Tables, gates, lines)
	return v, nil
}

// binarySecurity prints the soundness budget of a statement's proofs.
func (a *app) binarySecurity(path string, data []byte) error {
	s, err := bitproof.Parse(string(data))
	if err != nil {
		return inputError("statement %s: %w", path, err)
	}
	p, err := bitproof.NewParams(s)
	if err != nil {
		return inputError("statement %s: %w", path, err)
	}
	r := p.Report()
	type line struct {
		Name string  `json:"name"`
		Bits float64 `json:"bits"`
		Note string  `json:"note"`
	}
	lines := []line{}
	var text strings.Builder
	for _, l := range r.Lines {
		lines = append(lines, line(l))
		fmt.Fprintf(&text, "%-34s %8.2f  %s\n", l.Name, l.Bits, l.Note)
	}
	fmt.Fprintf(&text, "%-34s %8.2f\n%-34s %8.2f", "bits (weakest step)", r.Min, "bits-sum (all steps)", r.Sum)
	return a.result(map[string]any{"lines": lines, "min": r.Min, "sum": r.Sum}, "%s", text.String())
}
