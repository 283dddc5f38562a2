package whir

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestComplete(t *testing.T) {
	p, err := Choose(SpecCM31(), 16, Options{Goal: GoalSize})
	if err != nil {
		t.Fatal(err)
	}
	c := p.Config()
	sched := Schedule{LogInvRate: c.LogInvRate}
	for i, r := range c.Rounds {
		sched.Folds = append(sched.Folds, r.Fold)
		if i < len(c.Rounds)-1 {
			sched.Shrinks = append(sched.Shrinks, r.Shrink)
		}
	}
	again, err := Complete(SpecCM31(), 16, sched, Options{Goal: GoalSize})
	if err != nil {
		t.Fatal(err)
	}
	if again.String() != p.String() {
		t.Errorf("the chosen schedule completes to\n%v\nwhile the chooser had\n%v", again, p)
	}
	for name, bad := range map[string]struct {
		vars  int
		sched Schedule
		o     Options
	}{
		"no variables":      {0, sched, Options{}},
		"too many bits":     {16, sched, Options{Lambda: 129}},
		"no rounds":         {16, Schedule{LogInvRate: 1}, Options{}},
		"rate 1":            {16, Schedule{0, []int{4, 4}, []int{1}}, Options{}},
		"a shrink too many": {16, Schedule{1, []int{4, 4}, []int{1, 1}}, Options{}},
		"shrink beyond":     {16, Schedule{1, []int{4, 4}, []int{5}}, Options{}},
		"folds beyond":      {16, Schedule{1, []int{4, 8, 8}, []int{1, 1}}, Options{}},
		"no work":           {24, Schedule{1, []int{4, 4, 4}, []int{1, 1}}, Options{Lambda: 110, FoldWork: NoWork, QueryWork: NoWork}},
	} {
		if p, err := Complete(SpecCM31(), bad.vars, bad.sched, bad.o); err == nil {
			t.Errorf("%s: completed to %v", name, p)
		}
	}
}

// The expected number of siblings is that of random leaves.
func TestSiblingNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ t, depth, arity int }{{1, 5, 2}, {20, 10, 2}, {20, 10, 4}, {20, 9, 4}, {30, 11, 8}, {40, 12, 8}, {100, 4, 2}} {
		const trials = 400
		total := 0
		for range trials {
			level := map[int]bool{}
			for range c.t {
				level[r.IntN(1<<c.depth)] = true
			}
			for d := c.depth; d > 0; {
				up := min(log2Arity(c.arity), d)
				above := map[int]bool{}
				for i := range level {
					above[i>>up] = true
				}
				total += len(above)<<up - len(level)
				level, d = above, d-up
			}
		}
		got, want := siblingNodes(c.t, c.depth, c.arity), float64(total)/trials
		if math.Abs(got-want) > 0.02*want+0.5 {
			t.Errorf("%+v: %.2f siblings, random leaves have %.2f", c, got, want)
		}
	}
}

// What is made small is predicted to be smallest.
func TestPredict(t *testing.T) {
	var prove, size, verify []float64
	for _, g := range []Goal{GoalProve, GoalSize, GoalVerify} {
		p, err := Choose(SpecCM31(), 22, Options{Goal: g})
		if err != nil {
			t.Fatal(err)
		}
		c := p.Predict()
		prove, size, verify = append(prove, float64(c.Prove)), append(size, float64(c.ProofBytes)), append(verify, float64(c.Verify))
	}
	if slices.Min(prove) != prove[GoalProve] || slices.Min(size) != size[GoalSize] || slices.Min(verify) > verify[GoalVerify]*1.0001 {
		t.Errorf("by goal: prove %v, size %v, verify %v", prove, size, verify)
	}
	if prove[0] <= 0 || size[0] <= 0 || verify[0] <= 0 {
		t.Errorf("something is predicted to cost nothing: %v %v %v", prove, size, verify)
	}
}
