package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm"
)

func (a *app) msmCommand() *cobra.Command {
	var f msmFlags
	c := &cobra.Command{
		Use:   "msm --curve CURVE --points FILE --scalars FILE",
		Short: "Multi-scalar multiplication over files of points and scalars",
		Long: "Computes the sum of scalar times point over two files as gnark-crypto's Encoder writes them: []G1Affine or []G2Affine, raw or\n" +
			"compressed, and []fr.Element (MNT4-753 likewise). With --device cuda:all all GPUs share the work. The result is one affine point; -o writes it as a file of one point.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := f.group()
			if err != nil {
				return err
			}
			switch {
			case f.points == "":
				return usageError("--points is missing: the file of points")
			case f.scalars == "":
				return usageError("--scalars is missing: the file of scalars")
			case f.window != 0 && (f.window < 2 || f.window > 26):
				return usageError("--window %d: want 2 to 26, or 0 to let it be chosen", f.window)
			}
			if f.out != "" {
				if err := a.checkOutputs(f.out); err != nil {
					return err
				}
			}
			return a.msmSum(cmd.Context(), g, &f)
		},
	}
	fs := c.Flags()
	f.register(c)
	fs.StringVarP(&f.out, "output", "o", "", "write the result to this file, - for standard output")
	fs.BoolVar(&f.check, "check", false, "refuse points that are not on the curve when they are on the device, besides the reading's own check")
	fs.BoolVar(&f.subgroup, "subgroup", false, "refuse points outside the subgroup of prime order (for BLS12-377 G1 this also allows faster formulas)")
	fs.Var(&f.tables, "tables", "memory of each device that precomputed multiples of the points may take, such as 8GiB")
	fs.IntVar(&f.window, "window", 0, "bits of a window (default: chosen)")
	c.AddCommand(a.msmSampleCommand())
	return c
}

// msmFlags are those of msm and of msm sample.
type msmFlags struct {
	curve           string
	g2              bool
	points, scalars string
	out             string
	check, subgroup bool
	tables          byteSize
	window          int
	n               int
	seed            uint64
	kind            string
}

func (f *msmFlags) register(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.curve, "curve", "", "one of "+strings.Join(msmCurves(), ", "))
	fs.BoolVar(&f.g2, "g2", false, "points of G2 instead of G1")
	fs.StringVar(&f.points, "points", "", "file of points")
	fs.StringVar(&f.scalars, "scalars", "", "file of scalars")
}

func (f *msmFlags) group() (msmGroup, error) {
	if f.curve == "" {
		return nil, usageError("--curve is missing: one of %s", strings.Join(msmCurves(), ", "))
	}
	known := false
	for _, g := range msmGroups {
		if g.curve != f.curve {
			continue
		}
		known = true
		if g.second == f.g2 {
			return g.group, nil
		}
	}
	if known {
		return nil, usageError("--g2: %s has G1 only", f.curve)
	}
	return nil, usageError("--curve %q: want %s", f.curve, strings.Join(msmCurves(), ", "))
}

// msmResult is what a sum is to --json. Coordinates have one number, or two over a
// quadratic extension, the one without u first.
type msmResult struct {
	Curve    string   `json:"curve"`
	Group    string   `json:"group"`
	N        int      `json:"n"`
	Infinity bool     `json:"infinity"`
	X        []string `json:"x,omitempty"`
	Y        []string `json:"y,omitempty"`
	Devices  []string `json:"devices"`
	ReadMS   float64  `json:"read_ms"`
	BasesMS  float64  `json:"bases_ms"` // upload, checks, tables
	SumMS    float64  `json:"sum_ms"`
}

func (r msmResult) text() string {
	if r.Infinity {
		return "infinity"
	}
	return "x " + strings.Join(r.X, " + u ") + "\ny " + strings.Join(r.Y, " + u ")
}

// msmSum is the verb, for any group.
func (a *app) msmSum(ctx context.Context, g msmGroup, f *msmFlags) error {
	devices, err := a.openDevices()
	if err != nil {
		return err
	}
	p := a.startProgress("msm", 4)
	defer p.end()
	start := time.Now()
	p.begin("reading points and scalars")
	in, err := g.read(a, f.points, f.scalars)
	if err != nil {
		return err
	}
	read := time.Since(start)
	if err := a.warm(ctx, p, devices[0], g.units()); err != nil {
		return err
	}
	start = time.Now()
	p.begin(fmt.Sprintf("%s points to %s", grouped(int64(in.len())), devices[0].Name()))
	o := msm.Options{Check: f.check, Tables: int64(f.tables), Window: f.window}
	if f.subgroup {
		o.Subgroup = msm.Verify
	}
	if len(devices) > 1 {
		o.Devices = devices
	}
	if err := in.upload(devices[0], o); err != nil {
		return msmError(f, err)
	}
	defer in.close()
	bases := time.Since(start)
	start = time.Now()
	p.begin("sum")
	if err := in.sum(ctx); err != nil {
		return msmError(f, err)
	}
	took := time.Since(start)
	p.end()
	r := in.result()
	r.N, r.ReadMS, r.BasesMS, r.SumMS = in.len(), milliseconds(read), milliseconds(bases), milliseconds(took)
	for _, d := range devices {
		r.Devices = append(r.Devices, d.Name())
	}
	if f.out != "" {
		data, err := in.encode()
		if err != nil {
			return err
		}
		if err := a.write(output{path: f.out, data: data}); err != nil {
			return err
		}
		return a.wrote(f.out, r, "%s\n%s points of %s %s in %s on %s", r.text(), grouped(int64(r.N)), r.Curve, r.Group, durationText(took), strings.Join(r.Devices, ", "))
	}
	if err := a.result(r, "%s", r.text()); err != nil {
		return err
	}
	if !a.json && !a.quiet {
		fmt.Fprintf(a.Err, "%s points of %s %s: read in %s, to the device in %s, sum in %s on %s\n", grouped(int64(r.N)), r.Curve, r.Group,
			durationText(read), durationText(bases), durationText(took), strings.Join(r.Devices, ", "))
	}
	return nil
}

// msmError says which file bad input came from.
func msmError(f *msmFlags, err error) error {
	if errors.Is(err, msm.ErrInput) {
		return inputError("points %s, scalars %s: %w", f.points, f.scalars, err)
	}
	return err
}

// openDevices is openDevice for a name that may stand for several.
func (a *app) openDevices() ([]*device.Device, error) {
	if a.device != "cuda:all" {
		d, err := a.openDevice()
		return []*device.Device{d}, err
	}
	all, err := device.OpenList(a.device)
	if err == nil && len(all) == 0 {
		err = device.ErrUnavailable
	}
	if err != nil {
		return nil, withCode(ExitDevice, fmt.Errorf("--device %s: %w", a.device, err))
	}
	for _, d := range all {
		if a.memory > 0 {
			d.SetBudget(int64(a.memory))
		}
	}
	return all, nil
}

// warm compiles or loads units on a device, side by side, and shows how many are done.
func (a *app) warm(ctx context.Context, p *progress, dev *device.Device, units []*kernel.Source) error {
	if dev.Kind() == device.CPU {
		return nil
	}
	var done atomic.Int64
	text := func() string { return fmt.Sprintf("kernels, %d of %d units", done.Load(), len(units)) }
	p.begin(text())
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-ended:
				tick.Stop()
				return
			case <-tick.C:
				p.rename(text())
			}
		}
	}()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := dev.PreloadEach(ctx, func(_ *kernel.Source, err error) {
		if err != nil {
			stop() // the others would fail for the same reason
			return
		}
		done.Add(1)
	}, units...)
	close(ended)
	<-stopped
	return err
}

func (a *app) msmSampleCommand() *cobra.Command {
	var f msmFlags
	c := &cobra.Command{
		Use:   "sample --curve CURVE --n N --points FILE --scalars FILE",
		Short: "Write files of points with known discrete logarithms and of random scalars, and say what their sum is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := f.group()
			if err != nil {
				return err
			}
			switch {
			case f.points == "" || f.scalars == "":
				return usageError("--points and --scalars are the files to write; %s", "both are needed")
			case f.n < 0 || f.n > 1<<28:
				return usageError("--n %d: want 0 to %d", f.n, 1<<28)
			case !slices.Contains(msmKinds(), f.kind):
				return usageError("--kind %q: want %s", f.kind, strings.Join(msmKinds(), ", "))
			}
			if err := a.checkOutputs(f.points, f.scalars); err != nil {
				return err
			}
			p := a.startProgress("msm sample", 1)
			defer p.end()
			p.begin(fmt.Sprintf("%s points and scalars", grouped(int64(f.n))))
			points, scalars, r, err := g.sample(f.n, f.seed, f.kind)
			if err != nil {
				return err
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if err := a.write(output{path: f.points, data: points}, output{path: f.scalars, data: scalars}); err != nil {
				return err
			}
			r.N = f.n
			p.end()
			if f.points == "-" || f.scalars == "-" {
				return nil // the file is all that standard output is for
			}
			return a.result(map[string]any{"curve": r.Curve, "group": r.Group, "n": r.N, "seed": f.seed, "kind": f.kind,
				"infinity": r.Infinity, "x": r.X, "y": r.Y}, "%s", r.text())
		},
	}
	fs := c.Flags()
	f.register(c)
	fs.IntVar(&f.n, "n", 1<<16, "how many points")
	fs.Uint64Var(&f.seed, "seed", 1, "of the points and scalars")
	fs.StringVar(&f.kind, "kind", "uniform", "distribution of the scalars: "+strings.Join(msmKinds(), ", "))
	return c
}

// openRead opens a file ("-" is standard input) to be read in pieces.
func (a *app) openRead(what, path string) (io.ReadCloser, error) {
	if path == "-" {
		if a.stdin {
			return nil, usageError("- stands for standard input, which can be read once only")
		}
		a.stdin = true
		return io.NopCloser(a.In), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, inputError("reading %s %s: %w", what, path, plainFS(err))
	}
	if err := a.use(path, info, false); err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, inputError("reading %s %s: not a file", what, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, inputError("reading %s %s: %w", what, path, plainFS(err))
	}
	return f, nil
}
