package cli

import (
	"bytes"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/bench"
)

func (a *app) benchCommand() *cobra.Command {
	var o bench.Options
	var results string
	c := &cobra.Command{
		Use:   "bench SUITE",
		Short: "Measure this machine, keep results, and draw them",
		Long: "Runs a suite of measurements (see bench list). With --record the rows go into the results file of this card;\n" +
			"that takes a binary built from a commit without changes, and on a GPU, kernels that really ran.",
		Args:      cobra.ExactArgs(1),
		ValidArgs: bench.Suites(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Suite = args[0]
			return a.bench(cmd, o, results)
		},
	}
	c.Flags().StringVar(&o.Pattern, "case", "", "measure only cases whose name matches this regular expression (2^ is literal)")
	c.Flags().BoolVar(&o.Record, "record", false, "put the rows into the results file of this card")
	c.Flags().IntVar(&o.Samples, "samples", bench.MinSamples, "timed runs of every case")
	c.Flags().IntVar(&o.SimulateGPUs, "simulate-gpus", 0, "add cases to suite msm that simulate so many GPUs on the one there is")
	c.Flags().Uint64Var(&o.Seed, "seed", 1, "seed of the random data")
	c.PersistentFlags().StringVar(&results, "results", "bench/results", "folder of the results files")
	c.AddCommand(a.benchListCommand(), a.benchMergeCommand(&results), a.benchReportCommand(&results))
	return c
}

func (a *app) bench(cmd *cobra.Command, o bench.Options, results string) error {
	if o.Samples < 1 || o.Samples > bench.MaxSamples {
		return usageError("--samples %d: want 1 to %d", o.Samples, bench.MaxSamples)
	}
	if o.SimulateGPUs < 0 || o.SimulateGPUs > bench.MaxSimulated {
		return usageError("--simulate-gpus %d: want 0 to %d", o.SimulateGPUs, bench.MaxSimulated)
	}
	dev, err := a.openDevice()
	if err != nil {
		return err
	}
	o.Device = dev.Name()
	o.Command = bench.Command("zkwarp", a.args)
	cases, err := bench.Select(o, dev.Kind())
	if err != nil {
		return usageError("%w", err)
	}
	p := a.startProgress("bench", len(cases))
	o.Begin, o.Step = p.begin, p.step
	var skipped []string
	o.Skip = func(_ string, err error) { skipped = append(skipped, err.Error()) }
	rows, err := bench.Run(cmd.Context(), o)
	p.end()
	switch {
	case errors.Is(err, bench.ErrRecord):
		return usageError("%w", err)
	case errors.Is(err, bench.ErrReference):
		return inputError("%w", err)
	case err != nil:
		return withCode(ExitDevice, err)
	}
	for _, s := range skipped {
		a.say("left out: %s", s)
	}
	var files []string
	if o.Record {
		if files, err = bench.Merge(results, rows); err != nil {
			return inputError("recording results: %w", err)
		}
	}
	if a.json {
		return a.printJSON(map[string]any{"rows": rows, "recorded": files})
	}
	if err := bench.Print(a.Out, rows); err != nil {
		return err
	}
	for _, f := range files {
		a.say("recorded in %s", f)
	}
	return nil
}

func (a *app) benchListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List suites and cases",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, text := bench.List(bench.Cases())
			return a.result(map[string]any{"cases": list}, "%s", text)
		},
	}
}

func (a *app) benchMergeCommand(results *string) *cobra.Command {
	return &cobra.Command{
		Use:   "merge FILE...",
		Short: "Join rows measured elsewhere into the results files",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var rows []bench.Row
			for _, path := range args {
				data, err := a.readFile("results", path)
				if err != nil {
					return err
				}
				part, err := bench.Decode(data)
				if err != nil {
					return inputError("results %s: %w", path, err)
				}
				rows = append(rows, part...)
			}
			files, err := bench.Merge(*results, rows)
			if err != nil {
				return inputError("merging results: %w", err)
			}
			return a.result(map[string]any{"rows": len(rows), "files": files}, "%d rows into %s", len(rows), strings.Join(files, ", "))
		},
	}
}

func (a *app) benchReportCommand(results *string) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report -o FILE.html",
		Short: "Write a page with tables and plots of all results",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if out == "" {
				return usageError("pass -o FILE.html")
			}
			if err := a.checkOutputs(out); err != nil {
				return err
			}
			rows, err := bench.Load(*results)
			if err != nil {
				return inputError("reading results: %w", err)
			}
			if len(rows) == 0 {
				return inputError("reading results: %w", errors.New("no results in "+*results))
			}
			var page bytes.Buffer
			if err := bench.Report(&page, rows); err != nil {
				return err
			}
			if err := a.write(output{path: out, data: page.Bytes()}); err != nil {
				return err
			}
			return a.wrote(out, map[string]any{"file": out, "rows": len(rows)}, "%d rows drawn in %s", len(rows), out)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "the page to write")
	return c
}
