package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/ntt"
)

// Variant is a way to transform that is measured, or tested, beside the one in use.
type Variant struct {
	Name string
	spec *spec
	tune tuning
}

func (v Variant) UnitWords() int { return v.spec.unitBytes / 4 }

// Encode is the package's, on words.
func (v Variant) Encode(q *device.Queue, dst, src device.Buffer[uint32], width, columns, n, live int) error {
	return launch(q, v.spec, v.tune, dst, src, width, columns, n, live)
}

// Sources is the kernels that other variants than those in use have.
func (v Variant) Sources() []*kernel.Source {
	if v.spec.five == nil {
		return []*kernel.Source{v.spec.plain}
	}
	return []*kernel.Source{v.spec.plain, v.spec.five}
}

// Variants of the transforms over BabyBear and CM31.
func Variants() (babyBear, cm31s []Variant) {
	narrow := bear("babybear16", babybear.P, ntt.BabyBear{}, 4)
	slim := cm31("cm31x16", 4)
	for i, threads := range []int{256, 512, 1024} {
		t := tuning{threads: threads, fill: 264}
		name := []string{"-256", "-512", "-1024"}[i]
		babyBear = append(babyBear, Variant{"radix32" + name, specs[BabyBear], t}, Variant{"radix16" + name, narrow, t})
		if threads < 1024 {
			cm31s = append(cm31s, Variant{"radix32" + name, specs[CM31], t})
		}
		cm31s = append(cm31s, Variant{"radix16" + name, slim, t})
	}
	return babyBear, cm31s
}
