package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestWeakParts makes keys that are strong but for one commitment of one of
// their two arguments, which states a level of one bit, as nothing but the sum
// of all errors can tell.
func TestWeakParts(t *testing.T) {
	k := residual(t)
	for _, part := range []string{"inference", "weights"} {
		for h := plan.Parameters; h < plan.FirstCommitted; h++ {
			settings := k.vk.Settings()
			s, arg := &settings.Inference, k.vk.Inference()
			if part == "weights" {
				s, arg = &settings.Weights, k.vk.WeightsArgument()
			}
			if s.Commitments[h] == nil {
				continue
			}
			weak, err := whir.ChooseM31(arg.Plan.Stacks[h].Vars, whir.Options{Lambda: 1})
			if err != nil {
				t.Fatal(err)
			}
			s.Commitments[h] = weak
			vk, err := zkml.NewVerifyingKey(zkml.KeyParts{Program: k.Program, WeightsDigest: k.vk.WeightsDigest(), Root: k.vk.Root(), Settings: settings, WeightsProof: k.vk.WeightsProof()})
			if err != nil {
				t.Fatal(err)
			}
			if sum := zkml.Security(vk).Sum; sum > 10 {
				t.Errorf("%s of %s with one bit: %.2f bits in all", h, part, sum)
			}
			rejected(t, vk.Check(), zkml.CheckSecurity)
			// Stored and read again, too.
			again, err := zkml.DecodeVerifyingKey(vk.Encode())
			if err != nil {
				t.Fatal(err)
			}
			rejected(t, zkml.Verify(again, k.X, k.Output(), nil, nil), zkml.CheckFormat)
			rejected(t, again.Check(), zkml.CheckSecurity)
		}
	}
}

// TestMisplacedSettings gives keys commitments that do not belong.
func TestMisplacedSettings(t *testing.T) {
	k := residual(t)
	other, err := whir.ChooseM31(k.vk.Inference().Plan.Stacks[plan.Witness].Vars+1, whir.Options{Lambda: 100})
	if err != nil {
		t.Fatal(err)
	}
	none := zkmltest.Plain(4)
	for name, c := range map[string]struct {
		program *zkmltest.Case
		change  func(s *zkml.Settings, mode *zkml.Mode)
	}{
		"another size":              {k.Case, func(s *zkml.Settings, _ *zkml.Mode) { s.Inference.Commitments[plan.Witness] = other }},
		"no witness":                {k.Case, func(s *zkml.Settings, _ *zkml.Mode) { s.Inference.Commitments[plan.Witness] = nil }},
		"no multiplicities":         {k.Case, func(s *zkml.Settings, _ *zkml.Mode) { s.Weights.Commitments[plan.Multiplicities] = nil }},
		"no parameters":             {k.Case, func(s *zkml.Settings, _ *zkml.Mode) { s.Inference.Commitments[plan.Parameters] = nil }},
		"parameters twice":          {k.Case, func(s *zkml.Settings, _ *zkml.Mode) { s.Weights.Commitments[plan.Parameters] = other }},
		"much work":                 {k.Case, func(s *zkml.Settings, _ *zkml.Mode) { s.Inference.Work = zkml.MaxWork + 1 }},
		"negative work":             {k.Case, func(s *zkml.Settings, _ *zkml.Mode) { s.Weights.Work = -1 }},
		"public, with a commitment": {k.Case, func(_ *zkml.Settings, m *zkml.Mode) { *m = zkml.PublicWeights }},
		"unknown mode":              {k.Case, func(_ *zkml.Settings, m *zkml.Mode) { *m = 2 }},
		"settings of another key":   {none, func(*zkml.Settings, *zkml.Mode) {}},
		"public, with weights' work": {k.Case, func(s *zkml.Settings, m *zkml.Mode) {
			*m, s.Inference.Commitments[plan.Parameters] = zkml.PublicWeights, nil
		}},
	} {
		settings, mode := k.vk.Settings(), zkml.Committed
		c.change(&settings, &mode)
		if _, err := zkml.NewVerifyingKey(zkml.KeyParts{Program: c.program.Program, Mode: mode, Settings: settings}); err == nil {
			t.Errorf("%s: a key", name)
		}
	}
}
