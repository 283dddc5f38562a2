package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
)

// goalFlag says what a key's parameters make small.
type goalFlag struct{ name string }

func (g *goalFlag) register(c *cobra.Command) {
	c.Flags().StringVar(&g.name, "optimize", "prove", "what to make small: prove (proving time), size (of the proof), verify (verifying time)")
}

func (g *goalFlag) goal() (whir.Goal, error) {
	switch g.name {
	case "prove":
		return whir.GoalProve, nil
	case "size":
		return whir.GoalSize, nil
	case "verify":
		return whir.GoalVerify, nil
	}
	return 0, usageError("--optimize %q: want prove, size or verify", g.name)
}

func (a *app) setupCommand() *cobra.Command {
	var (
		calibration, out string
		public           bool
		security         int
		m                modelFlags
		g                goalFlag
		cut              cutFlags
		multi            multiFlags
		commits          commitsFlags
	)
	c := &cobra.Command{
		Use:   "setup MODEL --calibration FILE.zkcal -o NAME",
		Short: "Make the keys of a model: NAME.vk for verifiers, NAME.pk for provers",
		Long: "With --parts, --chunk-budget-gb or several --layers the model gets a key for each part, and NAME.pk is a folder; parts that an\n" +
			"earlier run has left there are kept. With one --layers FROM:TO the keys are for that piece alone; zkwarp link joins pieces.\n" +
			"The keys depend on nothing but the two files and the flags: anyone who has them gets the same bytes.\n" +
			"NAME.pk holds the weights. NAME.vk holds a commitment to them and a proof that they are within their bounds.\n" +
			"Of inputs and outputs that are committed, verifiers get a salted commitment instead of the values. It alone hides them; proofs are\n" +
			"made from the values, and are not zero-knowledge.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if calibration == "" || out == "" || out == "-" {
				return usageError("pass --calibration FILE.zkcal and -o NAME")
			}
			goal, err := g.goal()
			if err != nil {
				return err
			}
			if err := cut.check(cmd); err != nil {
				return err
			}
			name, err := multi.device(a, cmd)
			if err != nil {
				return err
			}
			if security < zkml.MinSecurity {
				return usageError("--security %d: at least %d", security, zkml.MinSecurity)
			}
			vkPath, pkPath := out+".vk", out+".pk"
			if err := a.checkOutputs(vkPath); err != nil {
				return err
			}
			o := zkprover.SetupOptions{Security: security, Commitment: whir.Options{Goal: goal}}
			if public {
				o.Mode = zkml.PublicWeights
			}
			cut.commits = commits
			plan, err := a.planSetup(args[0], calibration, m, &cut, name, o)
			if err != nil {
				return err
			}
			if plan.parts != nil {
				return a.setupInParts(cmd.Context(), name, plan.parts, out, vkPath, pkPath, o)
			}
			if err := a.checkOutputs(pkPath); err != nil {
				return err
			}
			if o.Commits, err = commits.piece(plan); err != nil {
				return err
			}
			if name, err = a.oneDevice(name); err != nil {
				return err
			}
			vk, pk, took, err := a.setupKeys(cmd.Context(), name, plan.program, plan.weights, o)
			if n := committed(plan.program); exitCode(err) == ExitUnsupported && n > mostCommitted {
				err = fmt.Errorf("%w; with --parts or --chunk-budget-gb its %s committed entries are proved in parts", err, grouped(n))
			}
			if err != nil {
				return err
			}
			files, secret := keyFiles(vk, pk, vkPath, pkPath), new(counter)
			files[1].from = func(w io.Writer) error {
				*secret = counter{w: w}
				return pk.Write(secret)
			}
			if err := a.write(files...); err != nil {
				return err
			}
			r := zkml.Security(vk)
			digest, line := vk.Digest(), ""
			inputs, outputs := committedNames(vk)
			if list := vk.Committed(); len(list) > 0 {
				line = "commits  " + tensorsText(list) + "\n"
			}
			return a.wrote(out, map[string]any{
				"vk": vkPath, "pk": pkPath, "vk_bytes": len(files[0].data), "pk_bytes": secret.n,
				"mode": vk.Mode().String(), "digest": hexText(digest[:]), "setup_ms": milliseconds(took),
				"security_bits": r.Sum, "security_bits_min_round": r.Min,
				"committed_inputs": inputs, "committed_outputs": outputs,
			}, "setup    %s, %.1f bits (union), %s\n%swritten  %s (%s) for verifiers, %s (%s) for provers\ndigest   %x",
				durationText(took), r.Sum, vk.Mode(), line, vkPath, sizeText(int64(len(files[0].data))), pkPath, sizeText(int64(secret.n)), digest)
		},
	}
	c.Flags().StringVar(&calibration, "calibration", "", "the calibration of the model")
	c.Flags().StringVarP(&out, "output", "o", "", "name of the keys, to which .vk and .pk are added")
	c.Flags().BoolVar(&public, "public-weights", false, "do not commit to the weights: verifiers have the model (smaller proofs)")
	c.Flags().IntVar(&security, "security", zkml.MinSecurity, "least proven bits, all error terms added up")
	m.register(c)
	g.register(c)
	cut.register(c)
	commits.register(c)
	multi.register(c)
	return c
}

// keyFiles are both keys as files; the prover's key is for its owner only.
func keyFiles(vk *zkml.VerifyingKey, pk *zkprover.ProvingKey, vkPath, pkPath string) []output {
	return []output{{path: vkPath, data: vk.Encode()}, {path: pkPath, from: pk.Write, perm: 0o600}}
}
