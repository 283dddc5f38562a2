package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/buildinfo"
)

// before runs ahead of every verb: environment variables, and what all verbs have in common.
func (a *app) before(cmd *cobra.Command, _ []string) error {
	if err := flagsFromEnvironment(cmd.Flags()); err != nil {
		return err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return usage("--log-level %q: want debug, info, warn or error", a.logLevel)
	}
	a.log = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
	switch a.progress {
	case "auto", "plain", "none":
	default:
		return usage("--progress %q: want auto, plain or none", a.progress)
	}
	if f := cmd.Flags().Lookup("device"); !devices.MatchString(a.device) {
		from := "--device"
		if value, ok := os.LookupEnv(device.EnvDevice); ok && value == f.Value.String() {
			from = "environment variable " + device.EnvDevice
		}
		return usage("%s %q: want auto, cpu, cuda:N, cuda:all or simt", from, a.device)
	}
	if err := device.CheckThreshold(); err != nil {
		return &codeError{ExitUsage, err}
	}
	return nil
}

// devices are what --device may be.
var devices = regexp.MustCompile(`^(|auto|cpu|simt|cuda|cuda:all|cuda:[0-9]{1,4})$`)

// flagsFromEnvironment gives every flag that was not set on the command line the value of
// ZKWARP_<FLAG>, if there is one.
func flagsFromEnvironment(flags *pflag.FlagSet) error {
	var bad error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" || bad != nil {
			return
		}
		name := "ZKWARP_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if !ok || value == "" {
			return
		}
		if err := f.Value.Set(value); err != nil {
			bad = usage("environment variable %s %q: %w", name, value, err)
		}
	})
	return bad
}

// result prints the outcome of a verb: the object under --json, else the text, which --quiet
// does not drop.
func (a *app) result(object any, format string, args ...any) error {
	if !a.json {
		_, err := fmt.Fprintf(a.out, format+"\n", args...)
		return err
	}
	data, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the result: %w", err)
	}
	_, err = a.out.Write(append(data, '\n'))
	return err
}

// done says what was done that went into files: nothing where one of them is standard
// output, and no text under --quiet.
func (a *app) done(outputs []output, object any, format string, args ...any) error {
	for _, o := range outputs {
		if o.path == "-" {
			return nil
		}
	}
	if a.quiet && !a.json {
		return nil
	}
	return a.result(object, format, args...)
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print which build this is",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			i := buildinfo.Get()
			return a.result(i, "zkwarp-gnark %s\ncommit   %s\ngo       %s\nplatform %s", i.Version, i.Commit, i.Go, i.Platform)
		},
	}
}

// lineEvery is the least time between two lines of progress, and redraw that between two
// looks of a line on a terminal.
const (
	lineEvery = 3 * time.Second
	redraw    = 200 * time.Millisecond
)

// stage is something that takes long and is told of on standard error.
type stage struct {
	mu          sync.Mutex
	done, total int64
	stop, ended chan struct{}
}

// begin tells of a stage until its end is called.
func (a *app) begin(what string) *stage {
	switch {
	case a.quiet || a.progress == "none":
		return &stage{}
	case a.progress == "auto" && isTerminal(a.err):
		return begin(a.err, what, redraw, "\r\x1b[K", "")
	}
	return begin(a.err, what, lineEvery, "zkwarp-gnark: ", "\n")
}

// begin writes a line every so often, with something before and after it.
func begin(w io.Writer, what string, every time.Duration, before, after string) *stage {
	s := &stage{stop: make(chan struct{}), ended: make(chan struct{})}
	start := time.Now()
	go func() {
		defer close(s.ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		told := false
		for {
			select {
			case <-tick.C:
				told = true
				fmt.Fprintf(w, "%s%s, %s%v%s", before, oneLine(what), s.part(), time.Since(start).Round(time.Second), after)
			case <-s.stop:
				if told && after == "" {
					fmt.Fprint(w, before)
				}
				return
			}
		}
	}()
	return s
}

// tell says how much is done.
func (s *stage) tell(done, total int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done, s.total = done, total
}

func (s *stage) part() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total == 0 {
		return ""
	}
	return fmt.Sprintf("%d %%, ", 100*s.done/s.total)
}

// end ends the stage, and returns when nothing more is told of it.
func (s *stage) end() {
	if s.stop != nil {
		close(s.stop)
		<-s.ended
		s.stop = nil
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device, but no terminal
	return err != nil || !os.SameFile(info, null)
}
