package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/internal/setup"
)

// makeKeys makes the keys from randomness that is known, on the device if it is a GPU: then
// twice if that is quick, for the first time may be that of compiling kernels.
func (s *suite) makeKeys(ctx context.Context, dev *device.Device, x *instance, seed uint64) error {
	o := setup.Options{Device: "cpu"}
	x.setupNote = "on the CPU"
	if dev.Kind() == device.CUDA {
		// Tables of powers, for a prover on the CPU, take four elements a constraint.
		o.Device, o.NoTables = dev.Name(), s.NoCPU
		x.setupNote = "on the GPU"
	}
	if s.Stage != nil {
		o.Progress = func(stage string, done, total int) { s.Stage("setup, "+stage, done, total) }
	}
	for first := true; ; first = false {
		o.Random = seeded(seed, "setup")
		start := time.Now()
		var err error
		if x.pk, x.vk, err = setup.Run(ctx, x.r1cs, o); err != nil {
			return fmt.Errorf("setup: %w", err)
		}
		x.setup = time.Since(start)
		if !first || x.setup > longSetup || dev.Kind() != device.CUDA {
			return nil
		}
		x.setupCold = x.setup
	}
}
