package scalar_test

import (
	"fmt"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/mont"
)

// Each iteration waits for the device.
func BenchmarkTransform(b *testing.B) {
	q := devicetest.Queue(b, devicetest.Open(b, "cuda"))
	for _, f := range []*mont.Field{curve.BN254Fr, curve.BLS12381Fr, curve.BW6761Fr} {
		for _, log := range []int{18, 20, 22, 24} {
			s := on(b, q, f, log)
			block := random(f, 1<<16, 1)
			buf := make([]device.Buffer[uint64], 3)
			for i := range buf {
				var err error
				buf[i], err = device.Alloc[uint64](q, s.Domain().Words())
				must(b, err)
				for at := 0; at < buf[i].Len(); at += len(block) {
					must(b, buf[i].Slice(at, at+len(block)).CopyFrom(q, block))
				}
			}
			for _, x := range []struct {
				name string
				do   func() error
			}{
				{"forward", func() error { return s.Forward(q, buf[0], 0, false) }},
				{"forward-reversed", func() error { return s.Forward(q, buf[0], 1, false) }},
				{"inverse-coset", func() error { return s.Inverse(q, buf[0], 0, true) }},
				{"quotient", func() error { return s.Quotient(q, buf[0], buf[1], buf[2]) }},
			} {
				b.Run(fmt.Sprintf("%s-%s-2^%d", f.Name, x.name, log), func(b *testing.B) {
					must(b, x.do())
					must(b, q.Sync())
					for b.Loop() {
						must(b, x.do())
						must(b, q.Sync())
					}
				})
			}
			for i := range buf {
				buf[i].Free()
			}
			s.Free()
		}
	}
}
