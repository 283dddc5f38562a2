package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/whirfile"
)

func (a *app) whirCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "whir",
		Short: "Commit to tables, open and verify them: the WHIR protocol by itself",
		Long: "A table of 2^N field elements is a polynomial in N variables. Commit to it, later prove its value at any point, and let\n" +
			"anybody check that in milliseconds. Openings are binding, not zero-knowledge.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("no verb %q; zkwarp whir --help lists plan, commit, open and verify", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.json {
				return usageError("--json goes with a verb; zkwarp whir --help lists them")
			}
			return cmd.Help()
		},
	}
	c.AddCommand(a.whirPlanCommand(), a.whirCommitCommand(), a.whirOpenCommand(), a.whirVerifyCommand())
	return c
}

// whirFlags choose parameters.
type whirFlags struct {
	field, extension, hash, bound       string
	machine                             string
	bits, arity                         int
	tables, claims                      int
	foldWork, queryWork, rate, maxProof int
	folds, shrinks                      []int
	johnsonStart, uniqueOnly            bool
	goal                                goalFlag
	given                               *pflag.FlagSet
}

func (f *whirFlags) register(c *cobra.Command) {
	fs := c.Flags()
	f.given = fs
	fs.StringVar(&f.field, "field", "m31", "the field: "+strings.Join(whirFields(), ", "))
	fs.StringVar(&f.extension, "extension", "auto", "degree of the challenges' field: 4, 5 or auto (the least that reaches --bits)")
	fs.StringVar(&f.hash, "hash", "poseidon2", "of the trees: "+strings.Join(whirHashes(), ", "))
	fs.IntVar(&f.bits, "bits", 100, "least proven bits of every line of the security table")
	fs.IntVar(&f.arity, "arity", 2, "of the hash trees: 2, 4 or 8")
	fs.IntVar(&f.claims, "claims", 1, "the most claims that an opening may prove")
	fs.StringVar(&f.bound, "bound", "bchks25", "theorem for rounds in the Johnson radius: bchks25 or dkt26")
	fs.BoolVar(&f.uniqueOnly, "unique-only", false, "keep every round within the unique decoding radius")
	fs.BoolVar(&f.johnsonStart, "johnson-start", false, "allow the Johnson radius in round 0: only where points are fixed before the commitment, which is opened once")
	fs.StringVar(&f.machine, "machine", "auto", "what to choose for: cpu, gpu, or auto (what --device is)")
	fs.IntVar(&f.foldWork, "fold-work", usualWork, "the most bits of proof of work before a folding challenge (default 14, for a GPU 20)")
	fs.IntVar(&f.queryWork, "query-work", usualWork, "the most bits of proof of work before query indices (default 14, for a GPU 20)")
	fs.IntVar(&f.maxProof, "max-proof", 0, "most KiB that a proof may take, as predicted (default: any number)")
	fs.IntVar(&f.rate, "rate", 0, "-log2 of the first code's rate (default: chosen; with --folds, 1)")
	fs.IntSliceVar(&f.folds, "folds", nil, "variables bound in each round, such as 6,5,5 (default: chosen)")
	fs.IntSliceVar(&f.shrinks, "shrinks", nil, "with --folds: log2 by which the domain shrinks after each round but the last (default: 1 each)")
	f.goal.register(c)
	for _, name := range []string{"fold-work", "query-work"} {
		fs.Lookup(name).DefValue = "0" // not shown: the text above has the default
	}
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "optimise":
			name = "optimize"
		case "lambda":
			name = "bits"
		case "batch":
			name = "tables"
		}
		return pflag.NormalizedName(name)
	})
}

// usualWork stands for the chooser's own default.
const usualWork = -1

// machineFor is what parameters are chosen for.
func (a *app) machineFor(f *whirFlags) (whir.Machine, error) {
	gpu := strings.HasPrefix(a.device, device.CUDA.String())
	switch f.machine {
	case "cpu":
		gpu = false
	case "gpu":
		gpu = true
	case "auto":
		if device.Automatic(a.device) {
			gpu = slices.ContainsFunc(device.List(), func(i device.Info) bool { return strings.HasPrefix(i.Device, device.CUDA.String()) })
		}
	default:
		return 0, usageError("--machine %q: want auto, cpu or gpu", f.machine)
	}
	if gpu {
		return whir.GPU, nil
	}
	return whir.CPU, nil
}

// whirFields are the names for --field: those of schemes without the degree of
// their extension.
func whirFields() []string {
	return distinct(func(s *whirfile.Scheme) string { return strings.TrimRight(s.Field, "45") })
}

func whirHashes() []string { return distinct(func(s *whirfile.Scheme) string { return s.Hash }) }

func distinct(of func(*whirfile.Scheme) string) (out []string) {
	for _, s := range whirfile.Schemes() {
		if v := of(s); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// schemes are those that the flags allow, the least extension first.
func (f *whirFlags) schemes() ([]*whirfile.Scheme, error) {
	if !slices.Contains(whirFields(), f.field) {
		return nil, usageError("--field %q: want %s", f.field, strings.Join(whirFields(), ", "))
	}
	if !slices.Contains(whirHashes(), f.hash) {
		return nil, usageError("--hash %q: want %s", f.hash, strings.Join(whirHashes(), ", "))
	}
	var out []*whirfile.Scheme
	var degrees []string
	for _, s := range whirfile.Schemes() {
		if strings.TrimRight(s.Field, "45") != f.field || s.Hash != f.hash {
			continue
		}
		degree := fmt.Sprint(s.Spec().ChallengeWords)
		degrees = append(degrees, degree)
		if f.extension == "auto" || f.extension == degree {
			out = append(out, s)
		}
	}
	switch {
	case len(degrees) == 0:
		return nil, usageError("--hash %s does not go with --field %s", f.hash, f.field)
	case len(out) == 0:
		return nil, usageError("--extension %q: want auto or %s for --field %s", f.extension, strings.Join(degrees, " or "), f.field)
	}
	return out, nil
}

// options of the chooser.
func (a *app) whirOptions(f *whirFlags) (o whir.Options, err error) {
	machine, err := a.machineFor(f)
	if err != nil {
		return o, err
	}
	goal, err := f.goal.goal()
	if err != nil {
		return o, err
	}
	bounds := map[string]whir.Bound{"bchks25": whir.BCHKS25, "dkt26": whir.DKT26}
	bound, ok := bounds[f.bound]
	between := func(name string, v, lo, hi int) {
		if err == nil && (v < lo || v > hi) {
			err = usageError("--%s %d: want %d to %d", name, v, lo, hi)
		}
	}
	between("bits", f.bits, 1, 128)
	between("claims", f.claims, 1, 1<<15)
	between("tables", f.tables, 1, 1<<12)
	if f.given.Changed("fold-work") {
		between("fold-work", f.foldWork, 0, 30)
	}
	if f.given.Changed("query-work") {
		between("query-work", f.queryWork, 0, 30)
	}
	if f.given.Changed("rate") {
		between("rate", f.rate, 1, 30)
	}
	between("max-proof", f.maxProof, 0, 1<<20)
	switch {
	case err != nil:
		return o, err
	case !ok:
		return o, usageError("--bound %q: want bchks25 or dkt26", f.bound)
	case f.arity != 2 && f.arity != 4 && f.arity != 8:
		return o, usageError("--arity %d: want 2, 4 or 8", f.arity)
	case len(f.folds) == 0 && len(f.shrinks) > 0:
		return o, usageError("--shrinks goes with --folds; without it the whole schedule is chosen")
	case len(f.shrinks) > 0 && len(f.shrinks) != len(f.folds)-1:
		return o, usageError("--shrinks has %d numbers, want %d: one for each of --folds but the last", len(f.shrinks), len(f.folds)-1)
	case f.johnsonStart && f.tables > 1:
		return o, usageError("--johnson-start goes with one table, not %d", f.tables)
	case f.johnsonStart && f.field == "m31":
		return o, usageError("--johnson-start: round 0 of --field m31 is always within the unique decoding radius; --field cm31 takes it")
	case f.johnsonStart && f.uniqueOnly:
		return o, usageError("--johnson-start contradicts --unique-only; pass one of them")
	}
	work := func(bits int) int {
		switch bits {
		case usualWork:
			return 0
		case 0:
			return whir.NoWork
		}
		return bits
	}
	return whir.Options{Lambda: f.bits, Claims: f.claims, Goal: goal, FoldWork: work(f.foldWork), QueryWork: work(f.queryWork), Bound: bound,
		Machine: machine, UniqueOnly: f.uniqueOnly, JohnsonStart: f.johnsonStart, Batch: f.tables, Arity: f.arity, LogInvRate: f.rate, MaxProof: f.maxProof << 10}, nil
}

// checkVars refuses a size that no parameters have. A symbol of m31 is two
// elements.
func (f *whirFlags) checkVars(vars int) error {
	most := 32
	if f.field == "m31" {
		most = 33
	}
	if vars < 1 || vars > most {
		return usageError("--vars %d: want 1 to %d for --field %s", vars, most, f.field)
	}
	return nil
}

// params are the parameters that the flags ask for, for tables of 2^vars
// entries.
func (a *app) whirParams(f *whirFlags, vars int) (*whirfile.Params, error) {
	schemes, err := f.schemes()
	if err != nil {
		return nil, err
	}
	o, err := a.whirOptions(f)
	if err != nil {
		return nil, err
	}
	for i, s := range schemes {
		var p *whirfile.Params
		if len(f.folds) > 0 {
			sched := whir.Schedule{LogInvRate: max(1, f.rate), Folds: f.folds, Shrinks: f.shrinks}
			for len(sched.Shrinks) < len(f.folds)-1 {
				sched.Shrinks = append(sched.Shrinks, 1)
			}
			p, err = s.Complete(vars, sched, o)
		} else {
			p, err = s.Choose(vars, o)
		}
		if err == nil {
			return p, nil
		}
		if i == len(schemes)-1 || !errors.Is(err, whir.ErrInfeasible) {
			break
		}
	}
	hint := ""
	spec := schemes[len(schemes)-1].Spec()
	switch {
	case !errors.Is(err, whir.ErrInfeasible):
	case float64(f.bits) > spec.CollisionBits:
		hint = "; lower --bits or take --hash blake3 or sha256"
		if f.field == "m31" {
			hint += " with another --field"
		}
	case spec.ChallengeWords < 5:
		hint = "; lower --bits, raise --fold-work, or take --extension 5 of babybear or koalabear"
	default:
		hint = "; lower --bits or raise --fold-work"
	}
	return nil, usageError("%d variables over %s with %s, %d bits: %w%s", vars, f.field, f.hash, f.bits, err, hint)
}
