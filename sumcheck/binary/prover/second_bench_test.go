package prover

import (
	"context"
	"fmt"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// BenchmarkWindows: all launches of a proof, as a graph, with and without a second window,
// and that window's parts. The proofs verify.
func BenchmarkWindows(b *testing.B) {
	q := devicetest.Queue(b, devicetest.Open(b, "cuda"))
	const d = secondDegree
	for _, n := range []int{20, 22, 24, 28} {
		p := randomProduct(b, q, n)
		for _, plan := range []windowPlan{smallWindows[d], largeWindows[d]} {
			b.Run(fmt.Sprintf("n%d/k%d+%d", n, plan.first, plan.second), func(b *testing.B) {
				in := Instance{Shape: binary.Shape{Vars: n, Degree: d, Kind: binary.ExtBits}, Ext: []device.Buffer[gf2.Element]{p.p1}, Bits: p.bits[:d-1]}
				claim := in.Claim(p.values[d])
				tr := tower.New(tower.LabelTest)
				claim.Absorb(tr)
				state, err := newState(q, tr, d, p.values[d])
				if err != nil {
					b.Fatal(err)
				}
				defer state.Free()
				r, err := newWindows(q, in, state, plan)
				if err != nil {
					b.Skip(err)
				}
				defer r.free()
				if err := r.launch(); err != nil {
					b.Fatal(err)
				}
				proof, err := readState(q, state, in.Shape)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := binary.Verify(tower.New(tower.LabelTest), claim, proof); err != nil {
					b.Fatal(err)
				}
				parts := map[string]func() error{"pass": r.pass, "finish": r.finish, "fold": r.fold, "tail": func() error { return r.tail.launch(context.Background()) }}
				if r.next != nil {
					parts["second-pass"], parts["second-finish"], parts["second-bind"] = r.next.pass, r.next.finish, r.next.bind
				}
				for name, op := range parts {
					b.ReportMetric(float64(median(b, q, op).Nanoseconds())/1e3, name+"-us")
				}
				graph, err := q.Record(r.launch)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(median(b, q, graph.Launch).Nanoseconds())/1e3, "graph-us")
				if err := graph.Free(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
