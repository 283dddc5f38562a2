package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// statementFiles are what verify is told of a statement.
type statementFiles struct {
	key                          string
	input, commitments, openings []string
	answer                       string
}

// statementReader puts a statement together from its files.
type statementReader struct {
	*app
	subject subject
	files   *statementFiles
	list    []zkml.CommittedTensor
	opened  []*loadedOpening // by committed tensor, nil where there is none
	reports []committedReport
}

// readStatement reads the statement that files are of. Errors that mean that it is not what it is said to be are rejections.
func (a *app) readStatement(ctx context.Context, s subject, files *statementFiles) (*zkml.Statement, []committedReport, error) {
	r := &statementReader{app: a, subject: s, files: files, list: s.Committed()}
	if err := r.missing(); err != nil {
		return nil, nil, err
	}
	given, err := r.commitments()
	if err != nil {
		return nil, nil, err
	}
	out := new(zkml.Statement)
	if out.X, err = r.input(); err != nil {
		return nil, nil, err
	}
	if out.Y, err = r.answer(); err != nil {
		return nil, nil, err
	}
	out.Commitments, err = r.remade(ctx, given)
	return out, r.reports, err
}

// missing refuses files that the key does not need, and asks for those that it does.
func (r *statementReader) missing() error {
	f := r.files
	switch {
	case len(r.list) == 0 && len(f.commitments)+len(f.openings) > 0:
		return usageError("--commitment and --opening go with a key that has something committed; for key %s everything is public", f.key)
	case len(r.list) == 0 && (len(f.input) == 0 || f.answer == ""):
		return usageError("pass --key FILE.vk, --input FILE and --output FILE.out.json")
	case len(r.subject.PublicInputs()) > 0 && len(f.input) == 0:
		return usageError("pass --input for %s", tensorio.InputsText(tensorsOf(r.subject.Program(), r.subject.PublicInputs())))
	case len(r.subject.PublicOutputs()) > 0 && f.answer == "":
		return usageError("pass --output FILE.out.json, which has %s", tensorio.InputsText(tensorsOf(r.subject.Program(), r.subject.PublicOutputs())))
	}
	return nil
}

// given is a commitment with the file that it comes from.
type given struct {
	path string
	*zkml.Commitment
}

// commitments reads commitments and openings, and refuses to go on where a committed tensor has neither.
func (r *statementReader) commitments() ([]*given, error) {
	all := func(int) bool { return true }
	var err error
	var others []string
	if r.opened, others, err = r.loadOpenings(r.files.openings, r.list, all); err != nil {
		return nil, err
	}
	if len(others) > 0 {
		return nil, r.rejected(0, fmt.Errorf("opening %s fits nothing that is left of what the key has committed: %s", others[0], tensorsText(r.list)))
	}
	var read []*zkml.Commitment
	files, err := r.readTensorFiles("--commitment", "commitment", r.files.commitments, r.list, all, func(data []byte) ([32]byte, error) {
		c, err := zkml.DecodeCommitment(data)
		if err != nil {
			return [32]byte{}, err
		}
		read = append(read, c)
		return c.Format, nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]*given, len(r.list))
	for k, f := range files {
		if f.tensor >= 0 {
			out[f.tensor] = &given{f.path, read[k]}
		}
	}
	// What no tensor has the format of is for the verifier to reject.
	for k, f := range files {
		if f.tensor >= 0 {
			continue
		}
		i := 0
		for i < len(out) && (out[i] != nil || r.opened[i] != nil) {
			i++
		}
		if i == len(out) {
			return nil, usageError("--commitment %s is one too many: the key has committed %s", f.path, tensorsText(r.list))
		}
		out[i] = &given{f.path, read[k]}
	}
	for i := range out {
		if out[i] == nil && r.opened[i] == nil {
			return nil, usageError("pass --commitment for %s; the key has committed %s", tensorText(&r.list[i]), tensorsText(r.list))
		}
	}
	return out, nil
}

// rejected is a rejection of a committed tensor by the check of its side.
func (r *statementReader) rejected(tensor int, err error) error {
	check := zkml.CheckInput
	if r.list[tensor].Output {
		check = zkml.CheckOutput
	}
	return &zkml.Rejection{Check: check, Err: err}
}

// bound is a rejection of a committed tensor by the binding of its side.
func (r *statementReader) bound(tensor int, err error) error {
	check := zkml.CheckInputBind
	if r.list[tensor].Output {
		check = zkml.CheckOutputBind
	}
	return &zkml.Rejection{Check: check, Err: err}
}

// known are the numbers of public inputs or outputs, and of those and the opened ones, in order.
func (r *statementReader) known(output bool, n int) (public, known []int) {
	for k := range n {
		tensor := -1
		for i := range r.list {
			if r.list[i].Output == output && r.list[i].Index == k {
				tensor = i
			}
		}
		if tensor < 0 {
			public = append(public, k)
		}
		if tensor < 0 || r.opened[tensor] != nil {
			known = append(known, k)
		}
	}
	return public, known
}

// input reads the public inputs. What is given of others has to be what was opened.
func (r *statementReader) input() (x []int32, err error) {
	p := r.subject.Program()
	public, known := r.known(false, len(p.Inputs))
	if len(r.files.input) == 0 {
		return nil, nil
	}
	if len(r.list) == 0 {
		return r.loadInput(r.files.input, p)
	}
	parts, err := r.someInputs(r.files.input, p, public, known)
	if err != nil {
		return nil, err
	}
	for i := range r.list {
		t := &r.list[i]
		if t.Output || parts[t.Index] == nil {
			continue
		}
		if r.opened[i] == nil {
			return nil, usageError("--input has values of input %s, of which the verifier has the commitment alone: leave them out, or pass --opening to compare them with", tensorio.Name(t.Name))
		}
		if err := r.compare(i, parts[t.Index]); err != nil {
			return nil, err
		}
	}
	for _, k := range public {
		x = append(x, parts[k]...)
	}
	return x, nil
}

// compare rejects values that are not those of the opening.
func (r *statementReader) compare(tensor int, values []int32) error {
	if err := r.list[tensor].Check(r.opened[tensor].Opening); err != nil {
		return r.rejected(tensor, fmt.Errorf("opening %s: %w", r.opened[tensor].path, err))
	}
	if err := sameValues(&r.list[tensor], r.opened[tensor], values); err != nil {
		return r.bound(tensor, err)
	}
	return nil
}

// answer reads the public outputs, from a file that may have the opened ones, too.
func (r *statementReader) answer() (y []int32, err error) {
	p := r.subject.Program()
	if r.files.answer == "" {
		return nil, nil
	}
	public, known := r.known(true, len(p.Outputs))
	if len(known) == 0 {
		return nil, usageError("--output %s: all outputs are committed, so that there is nothing to compare it with but an --opening", r.files.answer)
	}
	data, err := r.readFile("output", r.files.answer)
	if err != nil {
		return nil, err
	}
	y, of, err := r.decodeKnown(data, public, known)
	if err != nil {
		return nil, fmt.Errorf("output %s: %w", r.files.answer, err)
	}
	parts := p.Split(outputsOf(p, of), y)
	y = nil
	for i, k := range of {
		tensor := -1
		for j := range r.list {
			if r.list[j].Output && r.list[j].Index == k {
				tensor = j
			}
		}
		if tensor < 0 {
			y = append(y, parts[i]...)
		} else if err := r.compare(tensor, parts[i]); err != nil {
			return nil, err
		}
	}
	return y, nil
}

// decodeKnown reads an answer file with the public outputs, or else with all that are known. It returns which.
func (r *statementReader) decodeKnown(data []byte, public, known []int) (y []int32, of []int, err error) {
	p := r.subject.Program()
	if len(public) > 0 {
		y, err = decodeAnswer(data, zkmlfile.With(p, p.Inputs, outputsOf(p, public)))
		if err == nil || len(known) == len(public) || exitCode(err) == ExitRejected {
			return y, public, err
		}
	}
	y, err = decodeAnswer(data, zkmlfile.With(p, p.Inputs, outputsOf(p, known)))
	return y, known, err
}

func outputsOf(p *graph.Program, numbers []int) (out []graph.TensorID) {
	for _, k := range numbers {
		out = append(out, p.Outputs[k])
	}
	return out
}

// remade are the statement's commitments: those that were given, and for openings those that they make.
func (r *statementReader) remade(ctx context.Context, from []*given) ([]zkml.Commitment, error) {
	var out []zkml.Commitment
	for i := range r.list {
		t, o := &r.list[i], r.opened[i]
		var c *zkml.Commitment
		if from[i] != nil {
			c = from[i].Commitment
		}
		report := committedReport{}
		if o != nil {
			if err := t.Check(o.Opening); err != nil {
				return nil, r.rejected(i, fmt.Errorf("opening %s: %w", o.path, err))
			}
			made, err := r.recommit(ctx, i, o.Opening)
			if err != nil {
				return nil, err
			}
			if c != nil && *c != *made {
				return nil, r.bound(i, fmt.Errorf("%s: opening %s is of another commitment than %s", tensorText(t), o.path, from[i].path))
			}
			c, report.Opening = made, o.path
		}
		if from[i] != nil {
			report.Commitment = from[i].path
		}
		named := newReport(t, c)
		named.Commitment, named.Opening = report.Commitment, report.Opening
		out, r.reports = append(out, *c), append(r.reports, named)
	}
	return out, nil
}

// recommit makes the commitment of an opening, on the host like all of verifying.
func (r *statementReader) recommit(ctx context.Context, tensor int, o *zkml.Opening) (c *zkml.Commitment, err error) {
	err = r.onDevice(ctx, "cpu", len(o.Values), func(q *device.Queue) error {
		c, err = commitTo(q, r.subject, tensor, o)
		return err
	})
	return c, err
}

// statementError gives a rejection of the statement's files the words and the exit code of verify.
func (a *app) statementError(err error) error {
	if check := zkml.FailedCheck(err); errors.Is(err, zkml.ErrRejected) {
		return a.reject(rejected("rejected: %w", reason{check, err}), check)
	}
	return a.reject(err, "")
}
