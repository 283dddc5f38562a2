package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

func (a *app) proveCommand() *cobra.Command {
	var (
		f     proveFlags
		keep  bool
		multi multiFlags
	)
	c := &cobra.Command{
		Use:   "prove --key FILE.pk --input FILE -o FILE.proof",
		Short: "Run a model on an input and prove its answer",
		Long: "Writes the proof, and beside it the answer: x.proof and x.out.json.\nThe proof is binding, not zero-knowledge.\n" +
			"A committed input is taken from its opening, or committed to with a fresh salt: x.NAME.commitment for verifiers, and x.NAME.opening,\n" +
			"which is secret. So is each committed output, and x.out.json has only what is public.\n" +
			"The key of a model in parts is a folder. Its parts are proved on all devices of --device; each is written into x.proof.parts as\n" +
			"soon as it is made, and the same command goes on from there after an interruption.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.key == "" || len(f.input)+len(f.openings) == 0 || f.out == "" {
				return usageError("pass --key FILE.pk, --input FILE and -o FILE.proof")
			}
			if cmd.Flags().Changed("part") && (f.chain == "" || f.part < 1) {
				return usageError("--part %d: want the number of a part, from 1 on, and --chain", f.part)
			}
			files := []string{f.out, answerName(f.out)}
			if f.secret == "-" {
				return usageError("--secret-output is written to a file")
			}
			if f.secret != "" {
				files = append(files, f.secret)
			}
			if err := a.checkOutputs(files...); err != nil {
				return err
			}
			name, err := multi.device(a, cmd)
			if err != nil {
				return err
			}
			if isFolder(f.key) {
				if f.chain != "" {
					return usageError("--chain goes with the key of one piece, %s is a folder with all of them", f.key)
				}
				f.device = name
				return a.proveWithChain(cmd.Context(), &f, keep)
			}
			if keep {
				return usageError("--keep-parts goes with the key of a model in parts, which is a folder")
			}
			if name, err = a.oneDevice(name); err != nil {
				return err
			}
			f.device = name
			return a.proveAnswer(cmd.Context(), &f)
		},
	}
	c.Flags().StringVar(&f.key, "key", "", "the prover's key")
	inputFlag(c, &f.input)
	c.Flags().StringArrayVar(&f.openings, "opening", nil, "for a committed input: its opening, instead of the input; or NAME=FILE, where several have its format")
	c.Flags().StringVar(&f.secret, "secret-output", "", "also write the answer with committed outputs, for yourself")
	c.Flags().StringVarP(&f.out, "output", "o", "", "the proof to write")
	c.Flags().StringVar(&f.chain, "chain", "", "for the key of a piece: the chain that it is linked in; the proof is of that part, for verify with the chain's key")
	c.Flags().IntVar(&f.part, "part", 0, "with --chain, for a key that several parts have: the number of the part that the proof is of, from 1")
	c.Flags().BoolVar(&keep, "keep-parts", false, "for a model in parts: keep the proofs of parts as files, too")
	multi.register(c)
	c.Flags().StringVar(&f.context, "context", "", "text to tie the proof to, such as a nonce of the verifier's")
	return c
}

// proveFlags are what a proof of one program is made of.
type proveFlags struct {
	key, out, context, chain, secret string
	input, openings                  []string
	device                           string
	part                             int // of the chain, from 1; 0 is the one that has the key
}

// proveAnswer is the verb prove for the key of one program.
func (a *app) proveAnswer(ctx context.Context, f *proveFlags) error {
	pk, err := a.loadProvingKey(f.key)
	if err != nil {
		return err
	}
	vk := pk.VerifyingKey()
	tie := []byte(f.context)
	if f.secret != "" && len(vk.Commits().Outputs) == 0 {
		return usageError("--secret-output goes with committed outputs, of which key %s has none: its answers are in %s", f.key, answerName(f.out))
	}
	part := -1
	var linked *chunks.Chain
	if f.chain != "" {
		if linked, err = a.loadChain(f.chain); err != nil {
			return err
		}
		if part, err = partOf(linked, pk, f.part); err != nil {
			return fmt.Errorf("key %s, chain %s: %w", f.key, f.chain, err)
		}
		tie = linked.Context(part, tie)
	}
	in, err := a.loadSecretInput(vk, f.key, f.input, f.openings)
	if err != nil {
		return err
	}
	bases := secretNames(vk, f.out, in.opened)
	for _, base := range bases {
		if base == "" {
			continue
		}
		if err := a.checkOutputs(base+commitmentSuffix, base+openingSuffix); err != nil {
			return err
		}
	}
	r, err := a.proveOnce(ctx, f.device, pk, in.x, in.salts, tie)
	if err != nil {
		return err
	}
	proof, what := r.Proof, ""
	object := map[string]any{}
	if linked != nil {
		proof = linked.NewPart(part, &r.Statement, r.Proof).Encode()
		what = ", " + linked.PartName(part)
		object["part"], object["name"] = part+1, linked.PartName(part)
	}
	files, written, err := a.answerFiles(vk, f, &r.Statement, r.Y, object)
	if err != nil {
		return err
	}
	files = append([]output{{path: f.out, data: proof}}, files...)
	secrets, reports := secretFiles(vk, r.Statement.Commitments, r.Openings, in.opened, bases)
	files = append(files, secrets...)
	for i := range reports {
		written += reports[i].line() + "\n"
	}
	if err := a.write(files...); err != nil {
		return err
	}
	digest := sha256.Sum256(proof)
	maps.Copy(object, map[string]any{
		"proof": f.out, "device": r.device.Name(), "prove_ms": milliseconds(r.time), "stages_ms": stageObject(r.Timings), "proof_bytes": len(proof),
		"proof_sha256": hexText(digest[:]), "work": countsObject(r),
	})
	if len(reports) > 0 {
		object["commitments"] = reports
	}
	var names []string
	for _, file := range files[1:] {
		names = append(names, file.path)
	}
	return a.wrote(f.out, object, "%sprove    %s  total %s\nwritten  %s (%s%s), %s", written, stageText(r.Timings), durationText(r.time),
		f.out, sizeText(int64(len(proof))), what, strings.Join(names, ", "))
}

// answerFiles are the answer with the public outputs, if there are any, and the one with all of them, if it is asked for. The object gets what is
// public of both; the text is of the public answer.
func (a *app) answerFiles(s subject, f *proveFlags, statement *zkml.Statement, y []int32, object map[string]any) (files []output, text string, err error) {
	if public := publicOf(s); len(public.Outputs) > 0 {
		answer, err := zkmlfile.NewAnswer(public, statement.Y)
		if err != nil {
			return nil, "", err
		}
		data, err := answer.Encode()
		if err != nil {
			return nil, "", err
		}
		files = append(files, output{path: answerName(f.out), data: data})
		object["answer"], object["output"] = answer, answerName(f.out)
		text = "answer   " + answerText(answer) + "\n"
	}
	if f.secret != "" {
		answer, err := zkmlfile.NewAnswer(s.Program(), y)
		if err != nil {
			return nil, "", err
		}
		data, err := answer.Encode()
		if err != nil {
			return nil, "", err
		}
		files = append(files, output{path: f.secret, data: data, perm: 0o600})
		object["secret_output"] = f.secret
	}
	return files, text, nil
}

// secretNames are the names, without suffixes, of the files of each committed tensor that has none yet; "" for one with an opening.
func secretNames(s subject, proof string, opened []*loadedOpening) []string {
	bases := zkmlfile.CommittedNames(s.Committed())
	prefix := strings.TrimSuffix(answerName(proof), "out.json")
	for i := range bases {
		bases[i] = prefix + bases[i]
		if opened[i] != nil {
			bases[i] = ""
		}
	}
	return bases
}

// secretFiles are the commitments and openings of a proof as files, and what is public of them.
func secretFiles(s subject, commitments []zkml.Commitment, openings []*zkml.Opening, opened []*loadedOpening, bases []string) (files []output, reports []committedReport) {
	list := s.Committed()
	for i := range list {
		c := &commitments[i]
		report := newReport(&list[i], c)
		if bases[i] != "" {
			files = append(files, commitmentFiles(bases[i], c, openings[i])...)
			report.Commitment, report.Opening = bases[i]+commitmentSuffix, bases[i]+openingSuffix
		} else {
			report.Opening = opened[i].path
		}
		reports = append(reports, report)
	}
	return files, reports
}

// answerName is where the answer of a proof goes: x.proof and x.out.json.
func answerName(proof string) string {
	if proof == "-" {
		return "out.json"
	}
	return strings.TrimSuffix(strings.TrimSuffix(proof, ".proof"), partSuffix) + ".out.json"
}

func hexText(b []byte) string { return hex.EncodeToString(b) }

func stageText(timings []zkprover.Timing) string {
	var parts []string
	for _, t := range timings {
		parts = append(parts, fmt.Sprintf("%s %s", t.Stage, durationText(t.Time)))
	}
	return strings.Join(parts, "  ")
}

func stageObject(timings []zkprover.Timing) map[string]float64 {
	out := map[string]float64{}
	for _, t := range timings {
		out[string(t.Stage)] += milliseconds(t.Time)
	}
	return out
}

// countsObject says what the device did: how long the key took to load, and of
// the proof launches in all and by kernel, times that the host waited, bytes
// copied.
func countsObject(r *proved) map[string]any {
	s := r.stats
	return map[string]any{"load_ms": milliseconds(r.load), "launches": s.Launches, "launches_by_kernel": r.kernels, "syncs": s.Syncs, "bytes_in": s.BytesIn, "bytes_out": s.BytesOut}
}
