package prover

import (
	"fmt"
	"strings"

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

// Variants of the transforms over BabyBear and CM31: those in use, more or fewer units a
// thread, other sizes of blocks, and loads that ask not to be kept in cache.
func Variants() (babyBear, cm31s []Variant) {
	bb, cm := specs[BabyBear], specs[CM31]
	narrow, wide := bear("babybear16", babybear.P, ntt.BabyBear{}, 4), cm31("cm31x32", 5)
	for _, threads := range []int{256, 512, 1024} {
		tune := tuning{threads: threads, fill: 264, sector: 32}
		name := fmt.Sprint("-", threads)
		babyBear = append(babyBear, Variant{"radix32" + name, bb, tune}, Variant{"radix16" + name, narrow, tune})
		cm31s = append(cm31s, Variant{"radix16" + name, cm, tune})
		if threads <= wide.maxThreads {
			cm31s = append(cm31s, Variant{"radix32" + name, wide, tune})
		}
	}
	streaming := *bb
	streaming.name += "_streaming"
	text := strings.NewReplacer("x[v] = at_src[(u64)v * step];", "x[v] = __ldcs(at_src + (u64)v * step);",
		"x[v] = tile[(u64)v * step];", "x[v] = __ldcs(tile + (u64)v * step);").Replace(passText)
	header, edited := bb.plain.Headers[0], kernel.Template{Name: "ntt/prover/streaming.cu", Text: text}
	unit := func(variant, five string) *kernel.Source {
		return edited.Unit(variant, []string{"FIELD_HEADER", header.Name, "NTT_FIVE", five, "NTT_THREADS", fmt.Sprint(bb.maxThreads)}, header)
	}
	streaming.plain, streaming.five = unit(streaming.name, "0"), unit(streaming.name+"_five", "1")
	return append(babyBear, Variant{"streaming", &streaming, bb.tune}), cm31s
}
