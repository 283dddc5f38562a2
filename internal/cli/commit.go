package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

func (a *app) commitCommand() *cobra.Command {
	var (
		key, out string
		input    []string
	)
	c := &cobra.Command{
		Use:   "commit --key FILE --input FILE -o NAME",
		Short: "Commit to an input: NAME.commitment for verifiers, NAME.opening for the prover",
		Long: "For whoever has an input that the key (of a prover or a verifier) has committed. The commitment binds to the input and, alone, hides it.\n" +
			"The opening is the input with a fresh salt: a secret, which the prover needs. Of several inputs the files are NAME.INPUT.commitment\n" +
			"and so on; --input INPUT=FILE commits to one of them.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if key == "" || len(input) == 0 || out == "" || out == "-" {
				return usageError("pass --key FILE, --input FILE and -o NAME")
			}
			s, err := a.loadKeyWithCommitments(key)
			if err != nil {
				return err
			}
			return a.commit(cmd.Context(), s, key, input, out)
		},
	}
	c.Flags().StringVar(&key, "key", "", "the key, a prover's or a verifier's")
	c.Flags().StringArrayVar(&input, "input", nil, "the input, in a file as prove takes it; or NAME=FILE for each committed input")
	c.Flags().StringVarP(&out, "output", "o", "", "name of the files, to which .commitment and .opening are added")
	return c
}

// loadKeyWithCommitments reads any key, of a prover or of a verifier.
func (a *app) loadKeyWithCommitments(path string) (subject, error) {
	if isFolder(path) {
		path = filepath.Join(path, chainFile)
	}
	data, err := a.readFile("key", path)
	if err != nil {
		return nil, err
	}
	if artefact(data) == chunks.MagicChain {
		c, err := a.decodeChain(path, data)
		if err != nil {
			return nil, err
		}
		return faceOf(c), nil
	}
	vk, err := decodeAnyKey(data)
	if err != nil {
		return nil, inputError("key %s: %w", path, err)
	}
	return vk, nil
}

// commit is the verb commit.
func (a *app) commit(ctx context.Context, s subject, key string, input []string, out string) error {
	list, program := s.Committed(), s.Program()
	var want []int
	for _, t := range list {
		if !t.Output {
			want = append(want, t.Index)
		}
	}
	if len(want) == 0 {
		return usageError("key %s has no committed input; setup --commit-input makes one that has", key)
	}
	x, err := a.inputsToCommit(input, program, want)
	if err != nil {
		return err
	}
	var parts []commitPart
	for i, name := range zkmlfile.CommittedNames(list) {
		if t := &list[i]; !t.Output && x[t.Index] != nil {
			base := out
			if len(want) > 1 {
				base += "." + name
			}
			parts = append(parts, commitPart{tensor: i, values: x[t.Index], base: base})
		}
	}
	for _, p := range parts {
		if err := a.checkOutputs(p.base+commitmentSuffix, p.base+openingSuffix); err != nil {
			return err
		}
	}
	start := time.Now()
	files, reports, on, err := a.makeCommitments(ctx, s, parts)
	if err != nil {
		return err
	}
	if err := a.write(files...); err != nil {
		return err
	}
	var lines []string
	for _, r := range reports {
		lines = append(lines, fmt.Sprintf("written  %s, to %s, for verifiers; %s, which is secret, for the prover\nroot     %s", r.Commitment, r.text(), r.Opening, r.Root))
	}
	return a.wrote(out, map[string]any{"commitments": reports, "device": on, "commit_ms": milliseconds(time.Since(start))}, "%s", strings.Join(lines, "\n"))
}

// inputsToCommit reads the committed inputs that are given, by number.
func (a *app) inputsToCommit(paths []string, p *graph.Program, want []int) ([][]int32, error) {
	files, err := someNamed("--input", paths, tensorsOf(p, p.Inputs))
	if err != nil {
		return nil, err
	}
	if files == nil {
		return a.someInputs(paths, p, want)
	}
	committed := map[int]bool{}
	for _, k := range want {
		committed[k] = true
	}
	for k, f := range files {
		if f != "" && !committed[k] {
			return nil, usageError("--input %s: the key has input %s public", f, tensorio.Name(p.Tensor(p.Inputs[k]).Name))
		}
	}
	return a.someInputs(paths, p, nil)
}

// Suffixes of the files of a committed input or output.
const (
	commitmentSuffix = ".commitment"
	openingSuffix    = ".opening"
)

// commitPart is one input to commit to.
type commitPart struct {
	tensor int // among the committed ones
	values []int32
	base   string // of the files' names
}

// committedReport says of a committed input or output what is public.
type committedReport struct {
	Kind       string `json:"of"` // input or output
	Name       string `json:"name"`
	Root       string `json:"root"`
	Commitment string `json:"commitment,omitempty"` // the file
	Opening    string `json:"opening,omitempty"`    // the file
}

func (r *committedReport) text() string { return r.Kind + " " + tensorio.Name(r.Name) }

// line says to people what the commitment is of.
func (r *committedReport) line() string { return "commits  " + r.text() + ", root " + r.Root }

// newReport is the report of a commitment to a tensor, without files.
func newReport(t *zkml.CommittedTensor, c *zkml.Commitment) committedReport {
	r := committedReport{Kind: "input", Name: t.Name, Root: commitmentRoot(c.Root)}
	if t.Output {
		r.Kind = "output"
	}
	return r
}

// commitmentFiles are a commitment and its opening as files; the opening is for its owner only.
func commitmentFiles(base string, c *zkml.Commitment, o *zkml.Opening) []output {
	return []output{{path: base + commitmentSuffix, data: c.Encode()}, {path: base + openingSuffix, data: o.Encode(), perm: 0o600}}
}

// makeCommitments commits to inputs, each with a fresh salt.
func (a *app) makeCommitments(ctx context.Context, s subject, parts []commitPart) (files []output, reports []committedReport, on string, err error) {
	name, err := a.oneDevice(a.device)
	if err != nil {
		return nil, nil, "", err
	}
	list, size := s.Committed(), 0
	for _, p := range parts {
		size += len(p.values)
	}
	err = a.onDevice(ctx, name, size, func(q *device.Queue) error {
		files, reports, on = nil, nil, q.Device().Name()
		for _, p := range parts {
			t := &list[p.tensor]
			salt, err := zkml.Salt()
			if err != nil {
				return err
			}
			o, err := t.Open(p.values, salt)
			if err != nil {
				return withCode(ExitInput, err)
			}
			c, err := commitTo(q, s, p.tensor, o)
			if err != nil {
				return err
			}
			r := newReport(t, c)
			r.Commitment, r.Opening = p.base+commitmentSuffix, p.base+openingSuffix
			files, reports = append(files, commitmentFiles(p.base, c, o)...), append(reports, r)
		}
		return nil
	})
	return files, reports, on, err
}
