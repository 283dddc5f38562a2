package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/kernels"
)

func (a *app) doctorCommand() *cobra.Command {
	var warm bool
	var curves []string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine has for proving, and what to do about the rest",
		Args:  cobra.NoArgs,
		Long: "Looks at all devices. With --device it also opens that one, and says why if it cannot. With --warm it compiles all kernels\n" +
			"ahead, which are otherwise compiled on first use and then kept in the kernel cache.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case warm:
				return a.doctorWarm(cmd.Context(), curves)
			case len(curves) > 0:
				return usageError("--curve goes with --warm")
			}
			var named string
			var failed error
			if !device.Automatic(a.device) {
				dev, err := a.openDevice()
				switch {
				case errors.Is(err, device.ErrUsage):
					return err
				case err != nil:
					failed = err // what there is instead is worth a look all the same
				default:
					named = dev.Name()
				}
			}
			d := device.Diagnose()
			object := struct {
				device.Diagnosis
				Device string `json:"device,omitempty"` // the one that --device names, if it works
			}{d, named}
			if err := a.result(object, "%s", doctorText(d, named)); err != nil {
				return err
			}
			return failed
		},
	}
	c.Flags().BoolVar(&warm, "warm", false, "compile all kernels of the device ahead")
	c.Flags().StringSliceVar(&curves, "curve", nil, "with --warm: only the kernels of these curves, "+strings.Join(msmCurves(), ", "))
	return c
}

// doctorWarm compiles all units of the device, or those of some curves.
func (a *app) doctorWarm(ctx context.Context, curves []string) error {
	units := kernels.Program()
	if len(curves) > 0 {
		units = nil
		for _, name := range curves {
			if !slices.Contains(msmCurves(), name) {
				return usageError("--curve %q: want %s", name, strings.Join(msmCurves(), ", "))
			}
			for _, g := range msmGroups {
				if g.curve == name {
					units = append(units, g.group.units()...)
				}
			}
		}
	}
	dev, err := a.openDevice()
	if err != nil {
		return err
	}
	if dev.Kind() == device.CPU {
		return withCode(ExitDevice, fmt.Errorf("--warm: %s has no kernels to compile; name a GPU with --device", dev.Name()))
	}
	before := device.Diagnose().Cache
	p := a.startProgress("doctor --warm", 1)
	start := time.Now()
	err = a.warm(ctx, p, dev, units)
	p.end()
	if err != nil {
		return err
	}
	took := time.Since(start)
	after := device.Diagnose().Cache
	return a.result(map[string]any{"device": dev.Name(), "units": len(units), "new_in_cache": after.Entries - before.Entries, "ms": milliseconds(took), "kernel_cache": after.Folder},
		"%s: %d units of kernels ready in %s, %d of them new in %s", dev.Name(), len(units), durationText(took), after.Entries-before.Entries, after.Folder)
}

// doctorText is the diagnosis for people; named is the device that was asked for,
// if there was one.
func doctorText(d device.Diagnosis, named string) string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	if named != "" {
		row("device", "%s (as --device says; works)", named)
		row("", "%s (what --device auto takes)", d.Automatic)
	} else {
		row("device", "%s (what --device auto takes)", d.Automatic)
	}
	if len(d.GPUs) == 0 {
		row("GPUs", "none")
	}
	for _, g := range d.GPUs {
		row(g.Device, "%s, %s, %d multiprocessors, %s", g.Name, g.Arch, g.Units, sizeText(g.Memory))
		if g.Driver != "" {
			row("", "driver %s", g.Driver)
		}
	}
	switch {
	case d.Driver.Library == "":
		row("CUDA", "no driver")
	case d.Driver.Error != "":
		row("CUDA", "%s: %s", d.Driver.Library, oneLine(d.Driver.Error))
	default:
		row("CUDA", "%s", d.Driver.Library)
	}
	if d.NVRTC.Library != "" {
		row("NVRTC", "%s (%s)", d.NVRTC.Version, d.NVRTC.Library)
	} else {
		row("NVRTC", "not found; looked in")
		for _, place := range d.NVRTC.Looked {
			row("", "  %s", oneLine(place))
		}
	}
	if d.NVRTC.BuiltIn > 0 {
		row("", "%d units of kernels built in as PTX", d.NVRTC.BuiltIn)
	}
	if d.Cache.Folder != "" {
		row("cache", "%s: %d kernels, %s", d.Cache.Folder, d.Cache.Entries, sizeText(d.Cache.Bytes))
	}
	cores := ""
	if d.CPU.Cores > 0 {
		cores = fmt.Sprintf("%d cores, ", d.CPU.Cores)
	}
	row("CPU", "%s (%s%d threads)", d.CPU.Name, cores, d.CPU.Threads)
	row("", "%s", strings.Join(d.CPU.Features, " "))
	if d.EmulatorCompiler != "" {
		row("simt", "%s", d.EmulatorCompiler)
	} else {
		row("simt", "no g++: kernels cannot be tested on the CPU")
	}
	row("thresholds", "%s", thresholdText(d))
	row("", "elements from which --device auto gives an operation to a GPU")
	for i, line := range d.Advice {
		name := ""
		if i == 0 {
			name = "advice"
		}
		row(name, "%s", line)
	}
	if len(d.Advice) == 0 {
		row("advice", "nothing is missing")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// thresholdText lists from which size operations go to a GPU.
func thresholdText(d device.Diagnosis) string {
	if d.ThresholdOverride != nil {
		return fmt.Sprintf("2^%d for all operations (%s)", *d.ThresholdOverride, device.EnvThreshold)
	}
	var parts []string
	for name, log := range d.Thresholds {
		parts = append(parts, fmt.Sprintf("%s 2^%d", name, log))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
