// Package suite is the measurements of package groth16, which package bench runs.
package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/internal/synthetic"
)

// Name is the suite's.
const Name = "groth16"

// Options of the cases.
type Options struct {
	// NoCPU leaves gnark's own prover out.
	NoCPU bool
	// Stage, if set, is told what a case does, by one goroutine at a time, and how much of it
	// is done: 0 of 0 where that is not known.
	Stage func(text string, done, total int)
}

// circuits are what is proved: powers of two, and the numbers of constraints of the three
// circuits over BN254 that DistMSM (ASPLOS 2024) gives times of whole proofs for.
var circuits = []struct {
	name        string
	constraints int
}{
	{"2^10", 1 << 10}, // for tests of the suite
	{"2^18", 1 << 18},
	{"2^20", 1 << 20},
	{"2^22", 1 << 22},
	{"2^24", 1 << 24},
	{"zcash-sprout", 2_585_747},
	{"otti-sgd", 6_968_254},
	{"lenet", 77_689_757},
}

// spec is a case.
type spec struct {
	constraints int
	sparse      bool
	gpus        int // all of so many; 0 is the device of the run
}

// Cases are proofs of synthetic circuits of several sizes.
func Cases(o Options) []bench.Case {
	s := &suite{Options: o}
	var cases []bench.Case
	add := func(name, about string, c spec) {
		cases = append(cases, bench.Case{Suite: Name, Name: name, About: about, Large: c.constraints > 1<<20, GPU: c.gpus > 0,
			Run: func(e *bench.Env) ([]bench.Measurement, error) {
				m, err := s.run(e, c)
				if errors.Is(err, device.ErrNoMemory) {
					err = fmt.Errorf("%w: %w", bench.ErrSkip, err)
				}
				return m, err
			}})
	}
	for _, c := range circuits {
		name := "bn254-" + c.name
		add(name, fmt.Sprintf("a proof of %d constraints from a solved witness, uniform wires", c.constraints), spec{constraints: c.constraints})
		for _, gpus := range []int{2, 4} {
			add(fmt.Sprintf("%s-%dgpu", name, gpus), "the same on so many GPUs, against one of them", spec{constraints: c.constraints, gpus: gpus})
		}
		add(name+"-sparse", "the same, two thirds of the wires bits or small", spec{constraints: c.constraints, sparse: true})
	}
	return cases
}

// suite keeps what was made last for the cases that follow: a key takes longer than a proof.
type suite struct {
	Options
	last struct {
		*instance
		options synthetic.Options
		device  string
	}
}

func (s *suite) stage(format string, args ...any) {
	if s.Stage != nil {
		s.Stage(fmt.Sprintf(format, args...), 0, 0)
	}
}

// instance is the circuit of a case with its keys.
func (s *suite) instance(ctx context.Context, dev *device.Device, o synthetic.Options) (*instance, error) {
	if s.last.instance != nil && s.last.options == o && s.last.device == dev.Name() {
		return s.last.instance, nil
	}
	s.last.instance = nil // its memory, before there is another
	x, err := s.makeInstance(ctx, dev, o)
	if err != nil {
		return nil, err
	}
	s.last.instance, s.last.options, s.last.device = x, o, dev.Name()
	return x, nil
}

// place is where a Prover is: a name of devices, and they.
type place struct {
	name    string
	devices []*device.Device
}

// place is that of a case on a device, or on so many.
func (c spec) place(dev *device.Device) (place, error) {
	if c.gpus == 0 {
		return place{dev.Name(), []*device.Device{dev}}, nil
	}
	all, err := device.OpenList("cuda:all")
	if len(all) != c.gpus {
		err = cmp.Or(err, fmt.Errorf("there are %d", len(all)))
		return place{}, fmt.Errorf("%w: %d GPUs, no more and no fewer: %w", bench.ErrSkip, c.gpus, err)
	}
	return place{"cuda:all", all}, err
}
