package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// proveLayers sends each layer's evaluations and proves its batch of
// sum-checks.
func (s *session) proveLayers() error {
	for i := range s.layers {
		mark := len(s.owned)
		err := s.layer(&s.plan.Layers[i], &s.layers[i])
		s.release(mark)
		if err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return nil
}

func (s *session) layer(ly *plan.Layer, o *layerLayout) error {
	if err := s.run(&o.step); err != nil {
		return err
	}
	if err := s.send(ly.Sent, o.sent, device.Buffer[m31.QM31]{}); err != nil {
		return err
	}
	if len(ly.Instances) == 0 {
		return nil
	}
	if err := s.gather(o); err != nil {
		return err
	}
	instances, err := s.factors(ly, o)
	if err != nil {
		return err
	}
	shapes := ly.Shapes()
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	// The point is the layer's coordinates.
	return sumprover.Run(s.q, s.tr, instances, s.part(o.claims, len(shapes)), sumprover.Output{
		Rounds: s.part(o.rounds, n*d), Evals: s.part(o.evals, sumcheck.Evaluations(shapes)), Point: s.part(ly.First, n)})
}

// gather puts the batch's claimed values together, and behind them the points
// of the sum-checks that have an eq.
func (s *session) gather(o *layerLayout) error {
	if !s.q.OnHost() {
		return s.launch(ClaimsSource, "zkml_gather", o.gathered, s.ext.Arg(), s.key.desc.Arg(), device.U32(o.gather), device.U32(o.claims), device.U32(o.gathered))
	}
	ext := s.ext.Host()
	for k, from := range s.desc[o.gather : o.gather+o.gathered] {
		if ext[o.claims+k] = (m31.QM31{}); from != uint64(nowhere) {
			ext[o.claims+k] = ext[from]
		}
	}
	return nil
}
