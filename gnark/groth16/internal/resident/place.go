// Package resident keeps the queries of a proving key, lists of points, on devices
// between proofs, as far as memory goes, and makes the sums of proofs over them.
package resident

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/consensys/gnark"
	"github.com/consensys/gnark/constraint"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

// ErrInput is the class of errors of keys, constraint systems and options that are not
// well-formed, or do not belong together.
var ErrInput = errors.New("groth16: bad input")

// ErrWrong says that the parts of a proof do not fit one another, or it does not verify, so
// that a device must have computed something wrong.
var ErrWrong = errors.New("wrong proof")

// Place is the devices of a proving key, and what its points may still take of them.
type Place struct {
	devices []*device.Device
	rooms   []room // of the devices
	taken   int64  // by points, of the device that has the most of them
	short   bool   // some points stay on the host
	tile    int    // points below which there is no use in cutting a sum further
	share   int    // wires from which on queries may share digits

	// Serial says that stages of a proof come one after the other.
	Serial bool
	Trace  Trace
	// Verified says that proofs are verified, and need no other check.
	Verified bool
}

// room is what points may still take of a device's memory.
type room struct {
	limited bool
	left    int64
	taken   int64
}

// Trace is told how long stages of proofs took, by many goroutines. It may be nil.
type Trace func(stage string, d time.Duration)

// Stage starts a stage of a proof and returns what ends it.
func (t Trace) Stage(name string) (end func()) {
	if t == nil {
		return func() {}
	}
	start := time.Now()
	return func() { t(name, time.Since(start)) }
}

// NewPlace is a place on devices that share all work, with so many bytes of each for
// points. 0 stands for what proofs leave.
func NewPlace(devices []*device.Device, memory int64) (*Place, error) {
	if len(devices) == 0 {
		return nil, errors.New("no device")
	}
	if memory < 0 {
		return nil, fmt.Errorf("%d bytes of memory", memory)
	}
	p := &Place{devices: devices, rooms: make([]room, len(devices)), tile: 1 << 14, share: 1 << 16}
	for i := range p.rooms {
		p.rooms[i] = room{limited: memory > 0, left: memory}
	}
	return p, nil
}

// OnCPU says whether the place is the host's memory.
func (p *Place) OnCPU() bool { return p.devices[0].Kind() == device.CPU }

// Preload makes kernels ready, as many side by side as there are cores. Where a GPU
// never had them they take half a minute one after the other, as they are first used.
// The emulator is left to make those that are used.
func (p *Place) Preload(units ...*kernel.Source) error {
	for _, d := range p.devices {
		if d.Kind() == device.CUDA {
			if err := d.Preload(units...); err != nil {
				return err
			}
		}
	}
	return nil
}

// Bytes is how much the place's points take of the memory of the device that has the most
// of them.
func (p *Place) Bytes() int64 { return p.taken }

// Whole says whether the place took all points that were put to it.
func (p *Place) Whole() bool { return !p.short }

// keep sets aside what proofs need of a device; the rest may be points'.
func (p *Place) keep(i int, bytes int64) error {
	r := &p.rooms[i]
	free, limited, err := free(p.devices[i])
	if err != nil || !limited {
		return err
	}
	if free = max(0, free-bytes); !r.limited || free < r.left {
		r.limited, r.left = true, free
	}
	return nil
}

// free is what buffers may still take of a device, if there is a limit.
func free(d *device.Device) (bytes int64, limited bool, err error) {
	budget, err := d.Budget()
	if err != nil || budget == 0 {
		return 0, false, err
	}
	return max(0, budget-d.InUse()), true, nil
}

// take counts points of so many bytes on device i, if there is room for them. Those that
// there is none for make the place short.
func (p *Place) take(i int, bytes int64) bool {
	r := &p.rooms[i]
	if r.limited && bytes > r.left {
		p.short = true
		return false
	}
	if p.devices[i].Kind() == device.CPU {
		return true
	}
	r.left -= bytes
	r.taken += bytes
	p.taken = max(p.taken, r.taken)
	return true
}

// leave undoes take, where a device had less memory than it said.
func (p *Place) leave(i int, bytes int64) {
	p.short = true
	if p.devices[i].Kind() == device.CPU {
		return
	}
	p.rooms[i].left += bytes
	p.rooms[i].taken -= bytes
	p.taken = 0
	for _, r := range p.rooms {
		p.taken = max(p.taken, r.taken)
	}
}

// Describe says what a constraint system is, for messages.
func Describe(ccs constraint.ConstraintSystem) string {
	if v := reflect.ValueOf(ccs); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "nil"
	}
	for _, id := range gnark.Curves() {
		if id.ScalarField().Cmp(ccs.Field()) == 0 {
			return fmt.Sprintf("over %s", id)
		}
	}
	return fmt.Sprintf("a %T", ccs)
}
