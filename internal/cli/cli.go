// Package cli is the zkwarp command line: one verb a file, the same manners in
// all of them (docs/cli.md).
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/mapped"
)

// Streams is what a run of the program sees of its surroundings.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal says whether Err is a terminal.
	Terminal bool
	// LookupEnv finds environment variables, like os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Memory is how much there is in bytes, 0 or a nil function if that is not
	// known.
	Memory func() int64
	// MapFrom is the number of bytes from which on the file of a key is mapped, and checked beside the proof; 0 for the default.
	MapFrom int64
}

// Process returns the streams of the running process.
func Process() Streams {
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: isTerminal(os.Stderr), LookupEnv: os.LookupEnv, Memory: availableMemory}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device, but no terminal
	return err != nil || !os.SameFile(info, null)
}

// app is one run of the program: its streams and global flags.
type app struct {
	Streams
	device    string
	memory    byteSize
	json      bool
	quiet     bool
	logLevel  string
	progress  string
	tracePath string
	force     bool
	args      []string // as given, for records of what was run

	usesMu sync.Mutex
	uses   []use // of files
	mapped []mappedFile
	stdin  bool // standard input has been read

	log   *slog.Logger
	temps temporaries
	trace *tracer
}

// graceful is how long an interrupted verb may take to come to a stop by
// itself; device work in flight cannot be called back.
const graceful = time.Second

// Main runs the program with the given arguments (without its name) and
// returns the exit code.
func Main(ctx context.Context, args []string, s Streams) int {
	a := &app{Streams: s, args: args}
	root := a.root()
	root.SetArgs(args)
	type outcome struct {
		cmd *cobra.Command
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		var end outcome
		end.err = mapped.Guard(func() (err error) {
			end.cmd, err = root.ExecuteContextC(ctx)
			return err
		})
		done <- end
	}()
	var end outcome
	select {
	case end = <-done:
	case <-ctx.Done():
		select {
		case end = <-done:
		case <-time.After(graceful):
			end.err = ctx.Err()
		}
	}
	err := a.fault(end.err)
	switch {
	case ctx.Err() != nil && err != nil:
		err = ctx.Err()
	case a.trace != nil && exitCode(err) != ExitUsage:
		err = errors.Join(err, a.writeTrace())
	}
	a.temps.removeAll()
	if err == nil {
		return ExitOK
	}
	code := finalCode(err)
	if code == ExitInterrupted {
		fmt.Fprintln(a.Err, "zkwarp: interrupted")
	} else {
		prefix := "zkwarp"
		if end.cmd != nil && end.cmd != root {
			prefix += " " + strings.TrimPrefix(end.cmd.CommandPath(), "zkwarp ")
		}
		fmt.Fprintln(a.Err, prefix+": "+oneLine(err.Error()))
	}
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "zkwarp",
		Short: "Prove what a neural network answered, and verify such proofs",
		Long: "zkwarp proves that an answer was computed by a given neural network, on the CPU or an NVIDIA GPU.\n" +
			"Proofs are succinct and binding. They are not zero-knowledge: do not rely on them to hide anything.",
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: a.before,
		Args:              cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.json {
				return usageError("--json goes with a verb; zkwarp --help lists them")
			}
			return cmd.Help()
		},
	}
	f := root.PersistentFlags()
	f.StringVar(&a.device, "device", "auto", "where to run: auto, cpu, cuda:N, cuda:all (for msm, and models in parts) or simt (kernels emulated, for tests)")
	f.Var(&a.memory, "memory-budget", "device memory to use at most, such as 8GiB (default 80 % of what is free)")
	f.BoolVar(&a.json, "json", false, "print one JSON object on standard output and nothing else there")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print results only")
	f.StringVar(&a.logLevel, "log-level", "warn", "debug, info, warn or error")
	f.StringVar(&a.progress, "progress", "auto", "auto (bars on a terminal, else lines), plain or none")
	f.BoolVar(&a.force, "force", false, "replace files that exist")
	f.StringVar(&a.tracePath, "trace", "", "write a Chrome/Perfetto trace of the run to this file")
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetIn(a.In)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError("%w; see --help", plainFlag(err)) })
	root.AddCommand(verbs(a)...)
	builtinVerbs(root)
	completions(root)
	for _, c := range allCommands(root) {
		if c.Args != nil {
			check := c.Args
			c.Args = func(cmd *cobra.Command, args []string) error {
				err := check(cmd, args)
				switch {
				case err == nil, exitCode(err) != unclassified:
					return err
				case cmd == root:
					return unknownVerb(root, args[0])
				case len(args) > 0 && check(cmd, nil) == nil:
					return usageError("unexpected argument %q; usage: %s", args[len(args)-1], cmd.UseLine())
				}
				return usageError("%w; usage: %s", err, cmd.UseLine())
			}
		}
	}
	return root
}

// unknownVerb is the error for a first argument that is no verb, with the verbs
// that look like it.
func unknownVerb(root *cobra.Command, name string) error {
	root.SuggestionsMinimumDistance = 2 // edits
	hint := "zkwarp --help lists them"
	if near := root.SuggestionsFor(name); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usageError("no verb %q; %s", name, hint)
}

func allCommands(c *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		out = append(out, allCommands(sub)...)
	}
	return out
}

// before runs ahead of every verb: environment variables, logging, trace.
func (a *app) before(cmd *cobra.Command, _ []string) error {
	if err := a.flagsFromEnvironment(cmd.Flags()); err != nil {
		return err
	}
	if err := device.CheckThreshold(); err != nil {
		return usageError("%w", err)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return usageError("--log-level %q: want debug, info, warn or error", a.logLevel)
	}
	a.log = slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: level}))
	slog.SetDefault(a.log)
	switch a.progress {
	case "auto", "plain", "none":
	default:
		return usageError("--progress %q: want auto, plain or none", a.progress)
	}
	if a.tracePath != "" {
		if err := a.checkOutputs(a.tracePath); err != nil {
			return err
		}
		a.trace = newTracer()
		cmd.SetContext(device.WithTracer(cmd.Context(), a.trace))
	}
	return nil
}

// flagsFromEnvironment gives every flag that was not set on the command line
// the value of ZKWARP_<FLAG>, if there is one.
func (a *app) flagsFromEnvironment(flags *pflag.FlagSet) error {
	var bad error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" || bad != nil {
			return
		}
		name := "ZKWARP_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := a.LookupEnv(name)
		if !ok || value == "" {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			bad = usageError("environment variable %s=%q: %w", name, value, errors.Unwrap(err))
		}
	})
	return bad
}

// writeTrace leaves the trace file of the run, even of one that failed.
func (a *app) writeTrace() error {
	data, err := a.trace.encode()
	if err != nil {
		return err
	}
	return a.write(output{path: a.tracePath, data: data})
}

// say prints a line of the human-readable result; --json and --quiet drop it.
func (a *app) say(format string, args ...any) {
	if !a.json && !a.quiet {
		fmt.Fprintf(a.Out, format+"\n", args...)
	}
}
