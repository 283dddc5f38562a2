package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/bitproof"
	bitprover "github.com/zkwarp/zkwarp/bitproof/prover"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/examples/chi"
)

func (a *app) binaryDemoCommand() *cobra.Command {
	d := &binaryDemo{app: a}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Prove a batch of Keccak's step chi, and show that forgeries are rejected",
		Long: "Needs nothing: the columns are random lanes and what chi makes of them, 2^N rows of five bits. With a GPU the same proof is made\n" +
			"on the CPU too.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.ctx = cmd.Context()
			return d.run()
		},
	}
	c.Flags().IntVar(&d.vars, "vars", 20, "base-2 logarithm of the number of rows")
	c.Flags().Uint64Var(&d.seed, "seed", 1, "of the random lanes")
	c.Flags().StringVar(&d.out, "out", "", "folder to leave statement, columns and proof in")
	return c
}

// binaryDemo is one run of binary demo.
type binaryDemo struct {
	*app
	ctx  context.Context
	vars int
	seed uint64
	out  string

	params  *bitproof.Params
	columns [][]uint32
	proved  *bitsProved
	result  binaryDemoResult
}

// binaryDemoResult is the object that binary demo --json prints.
type binaryDemoResult struct {
	Device           string             `json:"device"`
	Card             string             `json:"card"`
	Verified         bool               `json:"verified"`
	TamperedRejected bool               `json:"tampered_rejected"`
	Rows             int                `json:"rows"`
	Columns          int                `json:"columns"`
	ProveMS          float64            `json:"prove_ms"`
	KernelsMS        float64            `json:"kernels_ms,omitempty"`
	CPUProveMS       float64            `json:"cpu_prove_ms"`
	LoadMS           float64            `json:"load_ms"`
	Stages           map[string]float64 `json:"stages_ms"`
	VerifyMS         float64            `json:"verify_ms"`
	ProofBytes       int                `json:"proof_bytes"`
	ProofSHA256      string             `json:"proof_sha256"`
	Root             string             `json:"root"`
	SecurityBits     float64            `json:"security_bits"`
	SecurityMinRound float64            `json:"security_bits_min_round"`
	Rejections       binaryRejections   `json:"rejections"`
	Work             map[string]any     `json:"work"` // what the device did for the proof
}

// binaryRejections says why each forgery was rejected.
type binaryRejections struct {
	Column    string `json:"column"`
	Gate      string `json:"gate"`
	ProofByte string `json:"proof_byte"`
}

func (d *binaryDemo) run() error {
	if d.vars < bitproof.MinVars || d.vars > bitproof.MaxVars {
		return usageError("--vars %d: want %d to %d", d.vars, bitproof.MinVars, bitproof.MaxVars)
	}
	text := chi.Statement(d.vars)
	s, err := bitproof.Parse(text)
	if err != nil {
		return err
	}
	if d.params, err = bitproof.NewParams(s); err != nil {
		return err
	}
	if d.out != "" {
		if err := d.prepareFolder(); err != nil {
			return err
		}
	}
	if err := d.enough("the columns", 8*int64(s.ColumnWords())*int64(len(s.Names))); err != nil {
		return err
	}
	d.columns = chi.Columns(d.seed, s.ColumnWords())
	d.say("statement %s: Keccak's step chi, such as %s", d.params.Describe(), s.Gate(0))
	if err := d.prove(); err != nil {
		return err
	}
	if err := d.tamper(); err != nil {
		return err
	}
	if d.out != "" {
		if err := d.leave(text); err != nil {
			return err
		}
	}
	if d.json {
		if err := d.printJSON(d.result); err != nil {
			return err
		}
	}
	if !d.result.Verified || !d.result.TamperedRejected {
		return rejected("the demo did not go as it must: verified %t, forgeries rejected %t", d.result.Verified, d.result.TamperedRejected)
	}
	return nil
}

// prove makes the proof, on the CPU too if that is not where it was made, and checks it.
func (d *binaryDemo) prove() error {
	r := &d.result
	made, err := d.proveBits(d.ctx, d.device, d.params, d.columns, bitprover.Options{}, true)
	if err != nil {
		return err
	}
	cpu := made
	if made.device.Kind() != device.CPU {
		r.KernelsMS = milliseconds(made.kernel)
		if cpu, err = d.proveBits(d.ctx, device.CPU.String(), d.params, d.columns, bitprover.Options{}, false); err != nil {
			return err
		}
		if !bytes.Equal(cpu.data, made.data) {
			return fmt.Errorf("the proofs of %s and %s differ", made.device.Name(), cpu.device.Name())
		}
	}
	d.proved = made
	report, digest := d.params.Report(), sha256.Sum256(made.data)
	s := d.params.Statement()
	r.Device, r.Card, r.Rows, r.Columns = made.device.Name(), made.device.Info().String(), 1<<s.Vars, len(s.Names)
	r.ProveMS, r.CPUProveMS, r.LoadMS, r.Stages = milliseconds(made.time), milliseconds(cpu.time), milliseconds(made.load), made.stageObject()
	r.ProofBytes, r.ProofSHA256, r.Root = len(made.data), hexText(digest[:]), rootText(made.proof.Root)
	r.SecurityBits, r.SecurityMinRound = report.Sum, report.Min
	r.Work = map[string]any{"launches": made.stats.Launches, "launches_by_kernel": made.kernels, "syncs": made.stats.Syncs, "bytes_in": made.stats.BytesIn, "bytes_out": made.stats.BytesOut}
	d.say("device    %s", r.Card)
	d.say("prove     %s  total %s", made.stageText(), durationText(made.time))
	if cpu != made {
		d.say("          on the CPU %s, the same bytes; before, kernels were compiled or found in the cache, in %s", durationText(cpu.time), durationText(made.kernel))
	}
	d.say("proof     %s, %.1f bits (union; weakest step %.1f), binding, not zero-knowledge", sizeText(int64(r.ProofBytes)), r.SecurityBits, r.SecurityMinRound)
	start := time.Now()
	_, err = verifyBits(d.params, made.data)
	took := time.Since(start)
	r.VerifyMS, r.Verified = milliseconds(took), err == nil
	if err != nil {
		d.say("verify    rejected: %s", oneLine(err.Error()))
	} else {
		d.say("verify    accepted in %s", durationText(took))
	}
	return nil
}

// tamper tries three forgeries.
func (d *binaryDemo) tamper() error {
	r, s := &d.result, d.params.Statement()
	// One bit of one column is wrong, and the prover goes on all the same.
	row := 1 << s.Vars * 2 / 3
	columns := slices.Clone(d.columns)
	columns[8] = slices.Clone(columns[8])
	columns[8][row/32] ^= 1 << (row % 32)
	forged, err := d.proveBits(d.ctx, d.proved.device.Name(), d.params, columns, bitprover.Options{Unchecked: true}, false)
	if err != nil {
		return err
	}
	_, column := verifyBits(d.params, forged.data)
	r.Rejections.Column = d.forgery(fmt.Sprintf("%s in row %s", s.Names[8], grouped(int64(row))), column)

	// The same proof for a statement with another gate, made to name it.
	other := *s
	other.Ands = slices.Clone(s.Ands)
	other.Ands[2].Left.One = !other.Ands[2].Left.One
	changed, err := bitproof.NewParams(&other)
	if err != nil {
		return err
	}
	digest := changed.Digest()
	renamed := slices.Clone(d.proved.data)
	copy(renamed[len(bitproof.Magic)+4:], digest[:])
	_, gate := verifyBits(changed, renamed)
	r.Rejections.Gate = d.forgery("gate "+other.Gate(2), gate)

	at := len(d.proved.data) * 2 / 3
	data := slices.Clone(d.proved.data)
	data[at] ^= 1
	_, proofByte := verifyBits(d.params, data)
	r.Rejections.ProofByte = d.forgery("proof byte "+grouped(int64(at)), proofByte)
	r.TamperedRejected = column != nil && gate != nil && proofByte != nil
	return nil
}

// forgery prints what became of a forged proof and returns the reason.
func (d *binaryDemo) forgery(what string, err error) string {
	if err == nil {
		d.say("tamper    %-26s ACCEPTED", what)
		return ""
	}
	why := oneLine(err.Error())
	var r *bitproof.Rejection
	if errors.As(err, &r) {
		why = r.Check
		if r.Err != nil {
			why += " (" + oneLine(r.Err.Error()) + ")"
		}
	}
	d.say("tamper    %-26s rejected: %s", what, why)
	return why
}

func (d *binaryDemo) statementPath() string { return filepath.Join(d.out, "statement.txt") }
func (d *binaryDemo) proofPath() string     { return filepath.Join(d.out, "chi.proof") }

func (d *binaryDemo) columnPath(name string) string {
	return filepath.Join(d.out, "columns", name+columnSuffix)
}

func (d *binaryDemo) prepareFolder() error {
	if err := d.temps.folder(filepath.Join(d.out, "columns")); err != nil {
		return err
	}
	paths := []string{d.statementPath(), d.proofPath()}
	for _, name := range d.params.Statement().Names {
		paths = append(paths, d.columnPath(name))
	}
	return d.checkOutputs(paths...)
}

// leave writes everything that proving and verifying apart need.
func (d *binaryDemo) leave(text string) error {
	outputs := []output{{path: d.statementPath(), data: []byte(text)}, {path: d.proofPath(), data: d.proved.data}}
	for j, name := range d.params.Statement().Names {
		outputs = append(outputs, output{path: d.columnPath(name), data: packedBytes(d.columns[j])})
	}
	if err := d.write(outputs...); err != nil {
		return err
	}
	d.say("written   %s: check it with", d.out)
	d.say("          zkwarp binary verify --statement %s %s", d.statementPath(), d.proofPath())
	return nil
}
