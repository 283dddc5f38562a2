package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/whirfile"
	"github.com/zkwarp/zkwarp/whir/whirfile/prover"
)

func (a *app) whirPlanCommand() *cobra.Command {
	var (
		f       whirFlags
		vars    int
		measure bool
	)
	c := &cobra.Command{
		Use:   "plan --vars N",
		Short: "Choose parameters for tables of 2^N elements, and say what proofs will cost",
		Long: "Prints the schedule, the security table, and the predicted size of proofs and time of provers and verifiers.\n" +
			"With --measure a random table is committed to, opened and verified on --device, a few times.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("vars") {
				return usageError("pass --vars N")
			}
			if err := f.checkVars(vars); err != nil {
				return err
			}
			p, err := a.whirParams(&f, vars)
			if err != nil {
				return err
			}
			machine, err := a.machineFor(&f)
			if err != nil {
				return err
			}
			var m *measured
			if measure {
				if m, err = a.measureWhir(cmd.Context(), p); err != nil {
					return err
				}
			}
			return a.result(planObject(p, machine, m), "%s", planText(p, machine, m))
		},
	}
	c.Flags().IntVar(&vars, "vars", 0, "base-2 logarithm of the number of elements in a table")
	c.Flags().IntVar(&f.tables, "tables", 1, "tables that share a commitment")
	c.Flags().BoolVar(&measure, "measure", false, "also measure, with a random table on --device")
	f.register(c)
	return c
}

// measured is what commitments, openings and verifications took: medians.
type measured struct {
	Device     string
	Runs       int
	Commit     time.Duration
	Open       time.Duration
	Verify     time.Duration
	ProofBytes int
}

// Runs of a measurement: as many as wanted after one to warm up, but none begins
// when the time is up.
const (
	measureRuns = 5
	measureTime = 20 * time.Second
)

// measureWhir makes and checks proofs about random tables. Points differ from
// run to run, so that work and paths do.
func (a *app) measureWhir(ctx context.Context, p *whirfile.Params) (*measured, error) {
	if err := a.enough("measuring", whirBytes(p)); err != nil {
		return nil, err
	}
	progress := a.startProgress("whir plan", 1+3*(1+measureRuns))
	defer progress.end()
	progress.begin("tables")
	var tables [][]uint32
	for i := range p.Tables() {
		tables = append(tables, p.RandomTable(fmt.Sprint("plan ", i)))
	}
	var m *measured
	err := a.onDeviceFor(ctx, a.device, "whir", p.TableWords(), func(q *device.Queue) error {
		m = &measured{Device: q.Device().Name()}
		var commits, opens, verifies []time.Duration
		begin := time.Now()
		for run := 0; run <= measureRuns && (run < 2 || time.Since(begin) < measureTime); run++ {
			progress.begin("commit")
			c, err := prover.Commit(q, p, tables...)
			if err != nil {
				return err
			}
			claims, err := c.Evaluate([]whirfile.Claim{{Kind: whirfile.Eval, Point: p.RandomPoint(fmt.Sprint("plan ", run), p.Vars())}})
			if err != nil {
				return err
			}
			progress.begin("open")
			start := time.Now()
			proof, err := c.Open(q, claims)
			if err != nil {
				return err
			}
			open := time.Since(start)
			progress.begin("verify")
			start = time.Now()
			if err := c.Commitment().Verify(claims, proof); err != nil {
				return fmt.Errorf("the proof that was just made does not verify: %w", err)
			}
			c.Free()
			if run > 0 {
				commits, opens, verifies = append(commits, c.Took()), append(opens, open), append(verifies, time.Since(start))
				m.ProofBytes = len(proof.Body)
			}
		}
		m.Runs, m.Commit, m.Open, m.Verify = len(commits), median(commits), median(opens), median(verifies)
		return nil
	})
	return m, err
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// whirBytes is what committing holds: tables, codeword and tree.
func whirBytes(p *whirfile.Params) int64 {
	inner := p.Inner()
	leaves := int64(1) << inner.LogLeaves(0)
	return 4*int64(p.TableWords())*int64(p.Tables()) + leaves*(4*int64(inner.RowWords(0))+2*32)
}

// machines for people, by whir.Machine.
var machines = map[whir.Machine]string{whir.CPU: "one core", whir.GPU: "an H100"}

func planObject(p *whirfile.Params, machine whir.Machine, m *measured) map[string]any {
	predicted := p.Inner().PredictOn(machine)
	out := map[string]any{
		"parameters": p.Describe(),
		"predicted": map[string]any{
			"proof_bytes": predicted.ProofBytes, "prove_ms": milliseconds(predicted.Prove), "prove_on": machines[machine], "verify_ms": milliseconds(predicted.Verify),
		},
	}
	if m != nil {
		out["measured"] = map[string]any{
			"device": m.Device, "runs": m.Runs, "commit_ms": milliseconds(m.Commit), "open_ms": milliseconds(m.Open),
			"verify_ms": milliseconds(m.Verify), "proof_bytes": m.ProofBytes,
		}
	}
	return out
}

func planText(p *whirfile.Params, machine whir.Machine, m *measured) string {
	d, predicted := p.Describe(), p.Inner().PredictOn(machine)
	var b strings.Builder
	b.WriteString(describeText(d))
	b.WriteString("\n" + scheduleTable(d).text() + "\n")
	row := func(what, proof, prove, verify, note string) {
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%-11s %-10s %-10s %-10s %s", what, proof, prove, verify, note), " "))
	}
	row("", "proof", "prove", "verify", "")
	row("predicted", sizeText(int64(predicted.ProofBytes)), durationText(predicted.Prove), durationText(predicted.Verify), "prover on "+machines[machine])
	if m != nil {
		row("measured", sizeText(int64(m.ProofBytes)), durationText(m.Commit+m.Open), durationText(m.Verify),
			fmt.Sprintf("prover on %s: commit %s, open %s; medians of %d", m.Device, durationText(m.Commit), durationText(m.Open), m.Runs))
	}
	b.WriteString("\n" + securityText(d))
	return b.String()
}

// describeText is the parameters without the schedule.
func describeText(d *whirfile.Description) string {
	var b strings.Builder
	many := ""
	if d.Tables > 1 {
		many = fmt.Sprintf("%d tables of ", d.Tables)
	}
	fmt.Fprintf(&b, "%-11s %s (%s)\n", "scheme", d.Scheme, d.About)
	fmt.Fprintf(&b, "%-11s %s2^%d elements; openings of up to %s\n", "committed", many, d.Vars, count(d.Claims, "claim"))
	fmt.Fprintf(&b, "%-11s arity %d\n", "trees", d.Arity)
	if d.BatchWork > 0 {
		fmt.Fprintf(&b, "%-11s %d bits of work before the tables are combined\n", "batch", d.BatchWork)
	}
	fmt.Fprintf(&b, "%-11s %d bits a line, weakest %.2f, sum of all errors %.2f; %s\n", "security", d.Lambda, d.Min, d.Sum, d.Bound)
	return b.String()
}

// scheduleTable has a line for each round.
func scheduleTable(d *whirfile.Description) *table {
	t := &table{Name: "schedule", Columns: []string{"round", "variables", "fold", "shrink", "rate", "leaves", "words a leaf", "radius", "samples", "queries", "fold work", "query work"}}
	for i, r := range d.Rounds {
		t.Rows = append(t.Rows, []any{i, r.Vars, r.Fold, r.Shrink, fmt.Sprintf("2^-%d", r.LogInvRate), fmt.Sprintf("2^%d", r.LogLeaves), r.RowWords, r.Regime, r.Samples, r.Queries, r.FoldWork, r.QueryWork})
	}
	t.Rows = append(t.Rows, []any{"final", d.FinalVars, "", "", "", "", "", "", "", "", "", ""})
	return t
}

// securityText is the security table.
func securityText(d *whirfile.Description) string {
	var b strings.Builder
	for _, l := range d.Lines {
		fmt.Fprintf(&b, "%-24s %8.2f  %s\n", l.Name, l.Bits, l.Note)
	}
	fmt.Fprintf(&b, "%-24s %8.2f\n%-24s %8.2f", "bits (weakest line)", d.Min, "bits-sum (all lines)", d.Sum)
	return b.String()
}
