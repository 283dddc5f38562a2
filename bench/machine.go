package bench

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/zkwarp/zkwarp/device"
)

// Machine is the card (or processor) that a device runs on, and its state.
type Machine struct {
	Card           string
	Driver         string
	ClockMHz       int
	MemoryClockMHz int
	TemperatureC   int
	Throttle       string
}

// Describe asks the machine about the hardware under a device. For a GPU that
// is nvidia-smi, which must be there.
func Describe(ctx context.Context, d *device.Device) (Machine, error) {
	if d.Kind() == device.CUDA {
		return describeGPU(ctx, strings.TrimPrefix(d.Name(), "cuda:"))
	}
	i := d.Info()
	return Machine{Card: fmt.Sprintf("%s, %d threads", i.Name, runtime.GOMAXPROCS(0))}, nil
}

// Bits of clocks_event_reasons.active, from the management library's header.
var throttleReasons = []struct {
	bit  uint64
	name string
}{
	{1 << 0, "idle"}, {1 << 1, "application clocks"}, {1 << 2, "power cap"}, {1 << 3, "hardware slowdown"},
	{1 << 4, "sync boost"}, {1 << 5, "software thermal"}, {1 << 6, "hardware thermal"}, {1 << 7, "power brake"},
	{1 << 8, "display clocks"},
}

func describeGPU(ctx context.Context, index string) (Machine, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	query := func(reasons string) ([]string, error) {
		fields := "name,driver_version,clocks.sm,clocks.mem,temperature.gpu," + reasons
		out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu="+fields, "--format=csv,noheader,nounits", "-i", index).Output()
		if err != nil {
			return nil, fmt.Errorf("nvidia-smi: %w", err)
		}
		parts := strings.Split(strings.TrimSpace(string(out)), ", ")
		if len(parts) != 6 {
			return nil, fmt.Errorf("nvidia-smi printed %q, want 6 fields", strings.TrimSpace(string(out)))
		}
		return parts, nil
	}
	parts, err := query("clocks_event_reasons.active")
	if err != nil { // drivers before 535 know another name
		if parts, err = query("clocks_throttle_reasons.active"); err != nil {
			return Machine{}, err
		}
	}
	m := Machine{Card: parts[0], Driver: parts[1], ClockMHz: number(parts[2]), MemoryClockMHz: number(parts[3]), TemperatureC: number(parts[4])}
	if bits, err := strconv.ParseUint(parts[5], 0, 64); err == nil {
		m.Throttle = throttleText(bits)
	} else {
		m.Throttle = parts[5]
	}
	return m, nil
}

func throttleText(bits uint64) string {
	var names []string
	for _, r := range throttleReasons {
		if bits&r.bit != 0 {
			names = append(names, r.name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// number is 0 for what the driver does not know ("[N/A]").
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
