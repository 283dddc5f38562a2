package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/internal/suite"
)

// benching is a run of bench and its flags.
type benching struct {
	*app
	o       bench.Options
	noCPU   bool
	results string
}

// benchCommand is the verb, whose rows say with which arguments the program was run.
func (a *app) benchCommand(args []string) *cobra.Command {
	b := &benching{app: a}
	b.o.Command = bench.Command("zkwarp-gnark", args)
	c := &cobra.Command{
		Use:   "bench SUITE",
		Short: "Measure this machine, keep results, and draw them",
		Long: "Runs a suite of measurements (see bench list): groth16, or card, which is what the card does at best. With --record the rows\n" +
			"go into the results file of this card; that takes a binary built from a commit without changes, and on a GPU, kernels that really ran.",
		Args: exactly(1, "one suite; bench list lists them"),
		RunE: b.run,
	}
	fs := c.Flags()
	fs.StringVar(&b.o.Pattern, "case", "", "measure only cases whose name matches this regular expression (2^ is literal)")
	fs.BoolVar(&b.o.Record, "record", false, "put the rows into the results file of this card")
	fs.IntVar(&b.o.Samples, "samples", bench.MinSamples, "timed runs of every case")
	fs.Uint64Var(&b.o.Seed, "seed", 1, "seed of the circuits, keys and blinding")
	fs.BoolVar(&b.noCPU, "no-cpu", false, "leave gnark's own prover out, which takes the most time")
	fs = c.PersistentFlags()
	fs.StringVar(&b.results, "results", "bench/results", "folder of the results files")
	c.AddCommand(b.listCommand(), b.mergeCommand(), b.reportCommand())
	return c
}

// exactly refuses other numbers of arguments.
func exactly(n int, want string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usage("%d arguments, want %s", len(args), want)
		}
		return nil
	}
}

// cases are those of this program.
func (b *benching) cases(stage func(text string, done, total int)) []bench.Case {
	cases := suite.Cases(suite.Options{NoCPU: b.noCPU, Stage: stage})
	for _, c := range bench.Cases() {
		if c.Suite == "card" {
			cases = append(cases, c)
		}
	}
	return cases
}

func (b *benching) run(cmd *cobra.Command, args []string) error {
	if b.o.Samples < 1 || b.o.Samples > bench.MaxSamples {
		return usage("--samples %d: want 1 to %d", b.o.Samples, bench.MaxSamples)
	}
	p := &teller{a: b.app}
	defer p.end()
	dev, err := device.Open(b.device)
	if err != nil {
		return &codeError{ExitDevice, fmt.Errorf("--device %s: %w", b.device, err)}
	}
	o := b.o
	o.Suite, o.Device, o.Cases = args[0], dev.Name(), b.cases(p.tell)
	o.Begin = p.begin
	var skipped []string
	o.Skip = func(_ string, err error) { skipped = append(skipped, err.Error()) }
	if _, err := bench.Select(o, dev.Kind()); err != nil {
		return &codeError{ExitUsage, err}
	}
	rows, err := bench.Run(cmd.Context(), o)
	p.end()
	switch {
	case errors.Is(err, bench.ErrRecord):
		return &codeError{ExitUsage, err}
	case err != nil:
		return coded(ExitDevice, err)
	}
	for _, s := range skipped {
		fmt.Fprintf(cmd.ErrOrStderr(), "left out: %s\n", oneLine(s))
	}
	var files []string
	if o.Record {
		if files, err = bench.Merge(b.results, rows); err != nil {
			return fmt.Errorf("recording results: %w", err)
		}
	}
	if b.json {
		return b.result(map[string]any{"rows": rows, "recorded": files}, "")
	}
	if err := bench.Print(b.out, rows); err != nil {
		return err
	}
	for _, f := range files {
		if !b.quiet {
			fmt.Fprintf(b.out, "recorded in %s\n", f)
		}
	}
	return nil
}

func (b *benching) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List suites and cases",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			list, text := bench.List(b.cases(nil))
			return b.result(map[string]any{"cases": list}, "%s", text)
		},
	}
}

func (b *benching) mergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge FILE...",
		Short: "Join rows measured elsewhere into the results files",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("no files to merge")
			}
			var rows []bench.Row
			for _, path := range args {
				data, err := os.ReadFile(path)
				if err != nil {
					return reading("results", path, err)
				}
				part, err := bench.Decode(data)
				if err != nil {
					return reading("results", path, err)
				}
				rows = append(rows, part...)
			}
			files, err := bench.Merge(b.results, rows)
			if err != nil {
				return fmt.Errorf("merging results: %w", err)
			}
			return b.result(map[string]any{"rows": len(rows), "files": files}, "%d rows into %s", len(rows), strings.Join(files, ", "))
		},
	}
}

func (b *benching) reportCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report -o FILE.html",
		Short: "Write a page with tables and plots of all results",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := needs("output", out); err != nil {
				return err
			}
			if err := b.check(nil, []string{out}); err != nil {
				return err
			}
			rows, err := bench.Load(b.results)
			if err == nil && len(rows) == 0 {
				err = errors.New("no results in " + b.results + "; --results names another folder")
			}
			if err != nil {
				return fmt.Errorf("reading results: %w", err)
			}
			page := output{out, func(w io.Writer) error { return bench.Report(w, rows) }}
			if err := b.write(cmd.Context(), page); err != nil {
				return err
			}
			return b.done([]output{page}, map[string]any{"file": out, "rows": len(rows)}, "%d rows drawn in %s", len(rows), out)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "the page to write")
	return c
}

// teller tells what a case does.
type teller struct {
	a          *app
	name, text string
	stage      *stage
}

func (t *teller) begin(name string) {
	t.name = name
	t.next("")
}

// tell is called again and again for what takes long: then with how much is done.
func (t *teller) tell(text string, done, total int) {
	if t.stage == nil || t.text != text {
		t.next(text)
	}
	t.stage.tell(int64(done), int64(total))
}

func (t *teller) next(text string) {
	t.end()
	t.text = text
	t.stage = t.a.begin(strings.TrimSuffix(fmt.Sprintf("bench: %s, %s", t.name, text), ", "))
}

func (t *teller) end() {
	if t.stage != nil {
		t.stage.end()
		t.stage = nil
	}
}
