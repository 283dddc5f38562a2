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

// Variants of the transforms over BabyBear and CM31.
func Variants() (babyBear, cm31s []Variant) {
	edited := func(s *spec, name string, pairs ...string) *spec {
		out := *s
		text := strings.NewReplacer(pairs...).Replace(passText)
		header := s.plain.Headers[0]
		threads := fmt.Sprint(s.maxThreads)
		out.name += name
		out.plain = kernel.Template{Name: "ntt/prover/edited.cu", Text: text}.Unit(out.name, []string{"FIELD_HEADER", header.Name, "NTT_FIVE", "0", "NTT_THREADS", threads}, header)
		out.five = kernel.Template{Name: "ntt/prover/edited.cu", Text: text}.Unit(out.name+"_five", []string{"FIELD_HEADER", header.Name, "NTT_FIVE", "1", "NTT_THREADS", threads}, header)
		return &out
	}
	bb := specs[BabyBear]
	tune := bb.tune
	babyBear = append(babyBear, Variant{"base", bb, tune})
	for _, mib := range []int{8, 16, 32, 48} {
		tune.group = mib << 20
		babyBear = append(babyBear, Variant{fmt.Sprint("group-", mib), bb, tune})
	}
	narrow := bear("babybear16", babybear.P, ntt.BabyBear{}, 4)
	tune = tuning{threads: 256, fill: 264, sector: 32}
	babyBear = append(babyBear, Variant{"radix16-256", narrow, tune})
	tune.group = 32 << 20
	babyBear = append(babyBear, Variant{"radix16-group-32", narrow, tune})
	plainLoads := edited(bb, "ldcs", "x[v] = at_src[(u64)v * step];", "x[v] = __ldcs(at_src + (u64)v * step);")
	babyBear = append(babyBear, Variant{"columns-ldcs", plainLoads, bb.tune})
	cm := specs[CM31]
	for _, t := range []tuning{{256, 264, 32, 0}, {512, 264, 32, 0}, {512, 264, 32, 32 << 20}} {
		cm31s = append(cm31s, Variant{fmt.Sprintf("radix16-%d-%d", t.threads, t.group>>20), cm, t})
	}
	wide := cm31("cm31x32", 5)
	cm31s = append(cm31s, Variant{"radix32-256", wide, tuning{256, 264, 32, 0}})
	return babyBear, cm31s
}
