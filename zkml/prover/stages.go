package prover

import "time"

// Stage is a part of the work of a proof, for progress and timing.
type Stage string

// Stages of a proof, in order.
const (
	StageForward  Stage = "forward pass"
	StageCommit   Stage = "commitments"
	StageLookups  Stage = "lookups"
	StageSumcheck Stage = "sum-checks"
	StageMerge    Stage = "claim merging"
	StageOpen     Stage = "openings"
)

// Stages lists all stages in order.
func Stages() []Stage {
	return []Stage{StageForward, StageCommit, StageLookups, StageSumcheck, StageMerge, StageOpen}
}

// Timing is how long a stage took, in wall time of the host. On a GPU, work counts
// where the host waits for it: that of the lookups and of the sum-checks with the
// claim merging, which ends with all of it done.
type Timing struct {
	Stage Stage
	Time  time.Duration
}

// enter ends the current stage, if any, and starts the next.
func (s *session) enter(next Stage) {
	now := time.Now()
	if s.stage != "" {
		s.timings = append(s.timings, Timing{s.stage, now.Sub(s.began)})
		if s.notify != nil {
			s.notify(s.stage, true)
		}
	}
	s.stage, s.began = next, now
	if next != "" && s.notify != nil {
		s.notify(next, false)
	}
}
