package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

var proving struct {
	once sync.Once
	dir  string
}

// secretFolder is a folder with an input's commitment of its owner's, a proof from its opening, and keys that have input x and output
// scores committed; tokens and the other output are public. It is made once.
func secretFolder(t testing.TB) func(string) string {
	t.Helper()
	from, keys := severalFiles(t), committedFiles(t)
	proving.once.Do(func() {
		dir, err := os.MkdirTemp("", "zkwarp-cli-")
		if err != nil {
			t.Fatal(err)
		}
		proving.dir = dir
		in := func(name string) string { return filepath.Join(dir, name) }
		for _, name := range []string{"m.vk", "m.pk"} {
			writeFile(t, in(name), readBytes(t, keys(name)))
		}
		writeFile(t, in("tokens.json"), []byte(`{"tokens": [4, 0, 2]}`))
		writeFile(t, in("all.json"), readBytes(t, from("x.json")))
		must(t, "commit", "--key", in("m.vk"), "--input", in("all.json"), "-o", in("owner"))
		must(t, "prove", "--key", in("m.pk"), "--input", in("tokens.json"), "--opening", in("owner.opening"), "--secret-output", in("mine.json"), "-o", in("p.proof"))
	})
	if _, err := os.Stat(filepath.Join(proving.dir, "p.proof")); err != nil {
		t.Fatal("the files with something committed could not be made")
	}
	return func(name string) string { return filepath.Join(proving.dir, name) }
}

// accept are the arguments that accept the proof from the commitments.
func accept(in func(string) string) []string {
	return []string{"verify", "--key", in("m.vk"), "--input", in("tokens.json"), "--output", in("p.out.json"),
		"--commitment", in("owner.commitment"), "--commitment", in("p.scores.commitment"), in("p.proof")}
}

// with replaces arguments; an empty replacement takes the argument and the flag before it away.
func with(args []string, pairs ...string) []string {
	args = slices.Clone(args)
	for i := 0; i < len(pairs); i += 2 {
		at := slices.Index(args, pairs[i])
		if pairs[i+1] == "" {
			args = slices.Delete(args, at-1, at+1)
		} else {
			args[at] = pairs[i+1]
		}
	}
	return args
}

func opening(t testing.TB, path string) *zkml.Opening {
	t.Helper()
	o, err := zkml.DecodeOpening(readBytes(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// An owner commits, a prover proves, and a verifier accepts who has seen neither the input nor the output.
func TestProveCommitted(t *testing.T) {
	in, from := secretFolder(t), severalFiles(t)
	files := names(t, filepath.Dir(in("m.vk")))
	want := []string{"all.json", "m.pk", "m.vk", "mine.json", "owner.commitment", "owner.opening", "p.out.json", "p.proof", "p.scores.commitment", "p.scores.opening", "tokens.json"}
	if !slices.Equal(files, want) {
		t.Errorf("files %q, want %q", files, want)
	}
	for _, name := range []string{"p.scores.opening", "owner.opening", "mine.json"} {
		if info, err := os.Stat(in(name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	// The answer for others has the public output alone, the prover's own has both, and so has the model without proof.
	if got := object(t, string(readBytes(t, in("p.out.json")))); len(got["output_data"].([]any)) != 1 || got["outputs"] != nil {
		t.Errorf("the answer is %v", got)
	}
	if got, want := string(readBytes(t, in("mine.json"))), string(readBytes(t, from("x.out.json"))); got != want {
		t.Errorf("the prover's answer is %s, of the key with everything public %s", got, want)
	}
	out := must(t, accept(in)...)
	for _, c := range []string{"owner.commitment", "p.scores.commitment"} {
		d, err := zkml.DecodeCommitment(readBytes(t, in(c)))
		if err != nil || !strings.Contains(out, commitmentRoot(d.Root)) {
			t.Errorf("verify does not say which commitment %s is: %v: %s", c, err, out)
		}
	}
	for name, args := range map[string][]string{
		"the commitments in another order": with(accept(in), in("owner.commitment"), in("p.scores.commitment"), in("p.scores.commitment"), in("owner.commitment")),
		"commitments by name":              with(accept(in), in("owner.commitment"), "x="+in("owner.commitment"), in("p.scores.commitment"), "scores="+in("p.scores.commitment")),
		"openings":                         append(with(accept(in), in("owner.commitment"), "", in("p.scores.commitment"), ""), "--opening", in("owner.opening"), "--opening", "scores="+in("p.scores.opening")),
		"openings, with what they open to": append(with(accept(in), in("owner.commitment"), "", in("p.scores.commitment"), "", in("tokens.json"), in("all.json"), in("p.out.json"), in("mine.json")),
			"--opening", in("owner.opening"), "--opening", in("p.scores.opening")),
		"an opening and its commitment": append(accept(in), "--opening", in("p.scores.opening")),
	} {
		if got := object(t, must(t, append(args, "--json")...)); got["verified"] != true || len(got["commitments"].([]any)) != 2 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if text := must(t, "inspect", "--key", in("m.vk"), in("p.proof")); !strings.Contains(text, ", of input x\n") || !strings.Contains(text, ", of output scores\n") {
		t.Errorf("inspect of the proof: %s", text)
	}
	fewer := readBytes(t, in("p.proof"))
	fewer[8+4+3*32] = 1 // the number of commitments, after magic, version and digests of key, input and output
	path := filepath.Join(t.TempDir(), "fewer.proof")
	writeFile(t, path, fewer)
	if r := run(t, "inspect", "--key", in("m.vk"), path); r.code != ExitInput || !strings.Contains(r.err, "roots of 1 commitments, want 2") {
		t.Errorf("inspect of a proof with a commitment too few: exit %d: %s", r.code, r.err)
	}
}

// What is committed is neither in the report, nor in traces, logs and the answer.
func TestProveLeavesNoSecret(t *testing.T) {
	in, temp := secretFolder(t), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	r := run(t, "prove", "--key", in("m.pk"), "--input", in("all.json"), "-o", at("p.proof"), "--json", "--trace", at("trace.json"), "--log-level", "debug", "--progress", "plain")
	if r.code != ExitOK {
		t.Fatal(r.err)
	}
	for _, o := range []*zkml.Opening{opening(t, at("p.x.opening")), opening(t, at("p.scores.opening"))} {
		list, err := json.Marshal(o.Values)
		if err != nil {
			t.Fatal(err)
		}
		inside := strings.Trim(string(list), "[]")
		spaced := strings.ReplaceAll(inside, ",", " ")
		for name, text := range map[string]string{"standard output": r.out, "standard error": r.err, "the trace": string(readBytes(t, at("trace.json"))), "the answer": string(readBytes(t, at("p.out.json")))} {
			plain := strings.Join(strings.Fields(text), "")
			if strings.Contains(plain, inside) || strings.Contains(strings.Join(strings.Fields(text), " "), spaced) || strings.Contains(text, hexText(o.Salt[:4])) {
				t.Errorf("%s has the values %s or their salt: %s", name, inside, text)
			}
		}
	}
	got := object(t, r.out)
	made := got["commitments"].([]any)
	if first := made[0].(map[string]any); len(made) != 2 || first["opening"] != at("p.x.opening") || first["commitment"] != at("p.x.commitment") {
		t.Errorf("the report has commitments %v", made)
	}
	args := with(accept(in), in("owner.commitment"), at("p.x.commitment"), in("p.scores.commitment"), at("p.scores.commitment"), in("p.proof"), at("p.proof"), in("p.out.json"), at("p.out.json"))
	must(t, args...)
	if bytesEqual := string(readBytes(t, at("p.x.commitment"))) == string(readBytes(t, in("owner.commitment"))); bytesEqual {
		t.Error("two salts are the same")
	}
}

// TestVerifyCommittedRefused has statements that are not the proof's, and files that are no statement.
func TestVerifyCommittedRefused(t *testing.T) {
	in, from, temp := secretFolder(t), severalFiles(t), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	must(t, "commit", "--key", in("m.vk"), "--input", in("all.json"), "-o", at("again"))
	change := func(name, as string, f func(o *zkml.Opening)) string {
		o := opening(t, in(name))
		f(o)
		writeFile(t, at(as), o.Encode())
		return at(as)
	}
	salted := change("owner.opening", "salted", func(o *zkml.Opening) { o.Salt[5] ^= 1 })
	other := change("owner.opening", "other", func(o *zkml.Opening) { o.Values[0] ^= 1 })
	far := change("owner.opening", "far", func(o *zkml.Opening) { o.Values[2] = 1 << 20 })
	few := change("owner.opening", "few", func(o *zkml.Opening) { o.Values = o.Values[1:] })
	foreign := change("owner.opening", "foreign", func(o *zkml.Opening) { o.Format[0] ^= 1 })
	writeFile(t, at("short"), readBytes(t, in("owner.commitment"))[:50])
	writeFile(t, at("short.opening"), readBytes(t, in("owner.opening"))[:50])
	c, err := zkml.DecodeCommitment(readBytes(t, in("owner.commitment")))
	if err != nil {
		t.Fatal(err)
	}
	c.Format[0] ^= 1
	writeFile(t, at("format"), c.Encode())
	said := object(t, string(readBytes(t, in("mine.json"))))["output_data"].([]any)
	said[0].([]any)[4] = 1 + said[0].([]any)[4].(float64)
	lie, err := json.Marshal(map[string]any{"output_data": said})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, at("lie.json"), lie)

	good := accept(in)
	opened := append(with(good, in("owner.commitment"), ""), "--opening", in("owner.opening"))
	for name, x := range map[string]struct {
		args  []string
		code  int
		check string // of rejections
		want  string
	}{
		"another commitment":                  {with(good, in("owner.commitment"), at("again.commitment")), ExitRejected, zkml.CheckInputBind, "another commitment"},
		"another format":                      {with(good, in("owner.commitment"), at("format")), ExitRejected, zkml.CheckInput, "a commitment of format"},
		"another format by name":              {with(good, in("owner.commitment"), "x="+in("p.scores.commitment"), in("p.scores.commitment"), "scores="+in("p.scores.commitment")), ExitRejected, zkml.CheckInput, "a commitment of format"},
		"another salt":                        {with(opened, in("owner.opening"), salted), ExitRejected, zkml.CheckInputBind, "another commitment"},
		"another value":                       {with(opened, in("owner.opening"), other), ExitRejected, zkml.CheckInputBind, "another commitment"},
		"a value out of bounds":               {with(opened, in("owner.opening"), far), ExitRejected, zkml.CheckInput, "value 2 is 1048576"},
		"too few values":                      {with(opened, in("owner.opening"), few), ExitRejected, zkml.CheckInput, "3 values, expected 4"},
		"an opening of another format":        {with(opened, in("owner.opening"), foreign), ExitRejected, zkml.CheckInput, "fits nothing that is left"},
		"an opening of another tensor":        {with(opened, in("owner.opening"), "x="+in("p.scores.opening")), ExitRejected, zkml.CheckInput, "an opening of format"},
		"an opening of another commitment":    {append(with(good, in("owner.commitment"), at("again.commitment")), "--opening", in("owner.opening")), ExitRejected, zkml.CheckInputBind, "is of another commitment than"},
		"an input that is not the opening's":  {with(opened, in("owner.opening"), other, in("tokens.json"), in("all.json")), ExitRejected, zkml.CheckInputBind, "another value of element 0"},
		"an output that is not the opening's": {append(with(good, in("p.out.json"), at("lie.json")), "--opening", in("p.scores.opening")), ExitRejected, zkml.CheckOutputBind, "another value of element 4"},
		"an input without an opening":         {with(good, in("tokens.json"), in("all.json")), ExitUsage, "", "has values of input x"},
		"an output without an opening":        {with(good, in("p.out.json"), in("mine.json")), ExitInput, "", "output_data has 2 entries, want 1"},
		"no commitment to an output":          {with(good, in("p.scores.commitment"), ""), ExitUsage, "", "pass --commitment for output scores; the key has committed input x, output scores"},
		"no public input":                     {with(good, in("tokens.json"), ""), ExitUsage, "", "pass --input for tokens 3"},
		"no public output":                    {with(good, in("p.out.json"), ""), ExitUsage, "", "pass --output FILE.out.json"},
		"a commitment too many":               {append(slices.Clone(good), "--commitment", at("again.commitment")), ExitUsage, "", "one too many"},
		"a commitment named twice":            {append(with(good, in("owner.commitment"), "x="+in("owner.commitment")), "--commitment", "x="+at("again.commitment")), ExitUsage, "", "names input x twice"},
		"a proof as commitment":               {with(good, in("owner.commitment"), in("p.out.json")), ExitInput, "", "p.out.json is no commitment"},
		"an opening as commitment":            {with(good, in("owner.commitment"), in("owner.opening")), ExitInput, "", "is an opening, for --opening"},
		"a commitment as opening":             {with(opened, in("owner.opening"), in("owner.commitment")), ExitInput, "", "is a commitment, for --commitment"},
		"half a commitment":                   {with(good, in("owner.commitment"), at("short")), ExitInput, "", "commitment " + at("short")},
		"half an opening":                     {with(opened, in("owner.opening"), at("short.opening")), ExitInput, "", "opening " + at("short.opening")},
		"a key with everything public":        {with(good, in("m.vk"), from("m.vk"), in("p.proof"), from("x.proof")), ExitUsage, "", "for key " + from("m.vk") + " everything is public"},
		"the proof of another key":            {with(good, in("p.proof"), from("x.proof")), ExitRejected, zkml.CheckKeyDigest, "another key"},
	} {
		r := run(t, append(x.args, "--json")...)
		if r.code != x.code || !strings.Contains(r.err, x.want) {
			t.Errorf("%s: exit %d: %s", name, r.code, r.err)
		}
		oneErrorLine(t, r)
		if x.code != ExitRejected {
			continue
		}
		if got := object(t, r.out); got["verified"] != false || got["check"] != x.check {
			t.Errorf("%s: %v, want check %q", name, got, x.check)
		}
	}
}

// TestProveCommittedRefused has what prove refuses before any work.
func TestProveCommittedRefused(t *testing.T) {
	in, from, temp := secretFolder(t), severalFiles(t), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	change := func(as string, f func(o *zkml.Opening)) string {
		o := opening(t, in("owner.opening"))
		f(o)
		writeFile(t, at(as), o.Encode())
		return at(as)
	}
	other := change("other", func(o *zkml.Opening) { o.Values[1] ^= 1 })
	far := change("far", func(o *zkml.Opening) { o.Values[2] = -1 << 20 })
	writeFile(t, at("short"), readBytes(t, in("owner.opening"))[:50])
	writeFile(t, at("kept.x.opening"), nil)
	before := names(t, temp)
	prove := func(more ...string) []string { return append([]string{"prove", "--key", in("m.pk")}, more...) }
	for name, x := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no tokens":                       {prove("--opening", in("owner.opening"), "-o", at("n.proof")), ExitUsage, "pass --input for tokens 3"},
		"neither input nor opening":       {prove("-o", at("n.proof")), ExitUsage, "pass --key FILE.pk, --input FILE"},
		"another input than opened":       {prove("--opening", other, "--input", in("all.json"), "-o", at("n.proof")), ExitInput, "another value of element 1 than"},
		"a value out of bounds":           {prove("--opening", far, "--input", in("tokens.json"), "-o", at("n.proof")), ExitInput, "value 2 is -1048576"},
		"half an opening":                 {prove("--opening", at("short"), "--input", in("tokens.json"), "-o", at("n.proof")), ExitInput, "truncated"},
		"a commitment":                    {prove("--opening", in("owner.commitment"), "--input", in("tokens.json"), "-o", at("n.proof")), ExitInput, "is a commitment"},
		"the opening of an output":        {prove("--opening", in("p.scores.opening"), "--input", in("tokens.json"), "-o", at("n.proof")), ExitInput, "fits nothing that is left"},
		"an opening under its name":       {prove("--opening", "x="+in("p.scores.opening"), "--input", in("tokens.json"), "-o", at("n.proof")), ExitInput, "an opening of format"},
		"two openings":                    {prove("--opening", in("owner.opening"), "--opening", other, "--input", in("tokens.json"), "-o", at("n.proof")), ExitInput, "fits nothing that is left"},
		"an opening that is there":        {prove("--input", in("all.json"), "-o", at("kept.proof")), ExitUsage, "kept.x.opening exists"},
		"the secret on standard output":   {prove("--input", in("all.json"), "--secret-output", "-", "-o", at("n.proof")), ExitUsage, "--secret-output is written to a file"},
		"a key without committed outputs": {[]string{"prove", "--key", from("m.pk"), "--input", from("x.json"), "--secret-output", at("s"), "-o", at("n.proof")}, ExitUsage, "goes with committed outputs"},
		"a key without committed inputs":  {[]string{"prove", "--key", from("m.pk"), "--input", from("x.json"), "--opening", in("owner.opening"), "-o", at("n.proof")}, ExitUsage, "--opening goes with a committed input"},
	} {
		r := run(t, x.args...)
		if r.code != x.code || !strings.Contains(r.err, x.want) || r.out != "" {
			t.Errorf("%s: exit %d: %s%s", name, r.code, r.out, r.err)
		}
		oneErrorLine(t, r)
		if after := names(t, temp); !slices.Equal(before, after) {
			t.Fatalf("%s: left %v", name, after)
		}
	}
}

// A key may have everything committed: a proof has no answer for others then.
func TestEverythingCommitted(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	from := func(name string) string { return filepath.Join(dir, name) }
	at := func(name string) string { return filepath.Join(temp, name) }
	must(t, "setup", from("m.onnx"), "--calibration", from("m.zkcal"), "--commit-input", "all", "--commit-output", "all", "-o", at("m"))
	t.Chdir(temp)
	r := run(t, "prove", "--key", "m.pk", "--input", from("x.json"), "-o", "-", "--secret-output", "mine.json")
	if r.code != ExitOK {
		t.Fatal(r.err)
	}
	writeFile(t, "x.proof", []byte(r.out))
	list := names(t, temp)
	list = slices.DeleteFunc(list, func(name string) bool {
		return !strings.HasSuffix(name, ".commitment") && !strings.HasSuffix(name, ".json")
	})
	if len(list) != 3 || list[1] != "mine.json" || list[2] != "x.commitment" {
		t.Fatalf("prove left %q", list)
	}
	if got, want := string(readBytes(t, "mine.json")), string(readBytes(t, from("x.out.json"))); got != want || !strings.Contains(got, "label") {
		t.Errorf("the prover's answer is %s, want %s", got, want)
	}
	args := []string{"verify", "--key", "m.vk", "--commitment", "x.commitment", "--commitment", list[0], "x.proof"}
	must(t, args...)
	must(t, append(args, "--opening", strings.TrimSuffix(list[0], "commitment")+"opening", "--output", "mine.json")...)
	for want, more := range map[string][]string{
		"has values of input x":     {"--input", from("x.json")},
		"all outputs are committed": {"--output", "mine.json"},
	} {
		if r := run(t, append(args, more...)...); r.code != ExitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%v: exit %d: %s", more, r.code, r.err)
		}
	}
}

// Files without a name go to tensors of their format, in order where several have it, if that is no guess.
func TestPlaceFiles(t *testing.T) {
	one, two, none := [32]byte{1}, [32]byte{2}, [32]byte{3}
	list := []zkml.CommittedTensor{{Name: "a", Format: one}, {Name: "b", Format: two}, {Name: "c", Format: one}, {Name: "d", Format: one, Output: true}}
	inputs := func(i int) bool { return !list[i].Output }
	for _, c := range []struct {
		formats [][32]byte
		named   []int // tensors of the first ones
		want    []int // nil for an error
	}{
		{[][32]byte{two}, nil, []int{1}},
		{[][32]byte{one, two, one}, nil, []int{0, 1, 2}},
		{[][32]byte{one, one, two}, []int{2}, []int{2, 0, 1}},
		{[][32]byte{one, one, one}, nil, []int{0, 2, -1}},
		{[][32]byte{none, two, two}, nil, []int{-1, 1, -1}},
		{[][32]byte{one}, nil, nil},
	} {
		var files []tensorFile
		for k, f := range c.formats {
			files = append(files, tensorFile{format: f, tensor: -1})
			if k < len(c.named) {
				files[k].tensor = c.named[k]
			}
		}
		err := placeFiles("--opening", files, list, inputs)
		if c.want == nil {
			if err == nil || !strings.Contains(err.Error(), "could be of input a or input c: pass NAME=FILE") {
				t.Errorf("%v: %v, %v", c.formats, files, err)
			}
			continue
		}
		for k := range files {
			if err != nil || files[k].tensor != c.want[k] {
				t.Errorf("%v: file %d goes to %d, want %d: %v", c.formats, k, files[k].tensor, c.want[k], err)
			}
		}
	}
}

// Two inputs of one format: which file is of which is said by name, or by the order of all of them, and the two cannot be exchanged.
func TestTwoCommittedInputs(t *testing.T) {
	temp := t.TempDir()
	t.Chdir(temp)
	f := onnxtest.New(17, "a", 1, 3)
	f.Proto.Graph.Input = append(f.Proto.Graph.Input, onnxtest.Info("b", onnxpb.TensorProto_FLOAT, 1, 3))
	writeFile(t, "m.onnx", f.Output(f.Node("Sub", []string{"a", f.Node("Relu", []string{"b"})})).Bytes())
	writeFile(t, "ab.json", []byte(`{"a": [0.5, -0.25, 1], "b": [-0.5, 0.75, 1]}`))
	writeFile(t, "b.json", []byte(`{"input_data": [[-0.5, 0.75, 1]]}`))
	must(t, "calibrate", "m.onnx", "--data", "ab.json", "-o", "m.zkcal")
	must(t, "setup", "m.onnx", "--calibration", "m.zkcal", "--commit-input", "a", "--commit-input", "b", "-o", "m")
	must(t, "commit", "--key", "m.vk", "--input", "ab.json", "-o", "x")
	must(t, "commit", "--key", "m.vk", "--input", "b=b.json", "-o", "y")
	got := slices.DeleteFunc(names(t, temp), func(name string) bool { return !strings.HasPrefix(name, "x.") && !strings.HasPrefix(name, "y.") })
	if want := []string{"x.a.commitment", "x.a.opening", "x.b.commitment", "x.b.opening", "y.b.commitment", "y.b.opening"}; !slices.Equal(got, want) {
		t.Fatalf("commit left %q, want %q", got, want)
	}
	must(t, "prove", "--key", "m.pk", "--opening", "x.a.opening", "--opening", "x.b.opening", "-o", "p.proof")
	must(t, "prove", "--key", "m.pk", "--opening", "b=y.b.opening", "--opening", "x.a.opening", "--input", "b=b.json", "-o", "q.proof")
	for _, c := range []struct {
		code int
		want string
		args string
	}{
		{ExitOK, "", "--commitment x.a.commitment --commitment x.b.commitment --output p.out.json p.proof"},
		{ExitOK, "", "--commitment b=x.b.commitment --commitment x.a.commitment --output p.out.json p.proof"},
		{ExitOK, "", "--commitment b=y.b.commitment --opening a=x.a.opening --output q.out.json q.proof"},
		{ExitRejected, `input binding (input "a"`, "--commitment x.b.commitment --commitment x.a.commitment --output p.out.json p.proof"},
		{ExitRejected, `input binding (input "b"`, "--commitment x.a.commitment --commitment x.b.commitment --output q.out.json q.proof"},
		{ExitUsage, "could be of input a or input b: pass NAME=FILE", "--commitment x.a.commitment --output p.out.json p.proof"},
		{ExitUsage, "pass --commitment for input b", "--commitment a=x.a.commitment --output p.out.json p.proof"},
	} {
		r := run(t, append([]string{"verify", "--key", "m.vk"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: exit %d: %s", c.args, r.code, r.err)
		}
	}
	for want, args := range map[string]string{
		"could be of input a or input b": "--opening x.a.opening --input ab.json",
		"pass --input for b 1x3":         "--opening a=x.a.opening",
		"--input lacks input b":          "--opening a=x.a.opening --input a=b.json",
	} {
		if r := run(t, append([]string{"prove", "--key", "m.pk", "-o", "n.proof"}, strings.Fields(args)...)...); r.code != ExitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit %d: %s", args, r.code, r.err)
		}
	}
}

// What one key commits to as its output another takes as its input: with one commitment, which hides the boundary from who sees no proofs.
func TestCommittedBoundary(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	t.Chdir(temp)
	setup := func(name string, more ...string) {
		must(t, append([]string{"setup", filepath.Join(dir, "m.onnx"), "--calibration", filepath.Join(dir, "m.zkcal"), "-o", name}, more...)...)
	}
	setup("a", "--layers", "0:3", "--commit-output", "all")
	setup("b", "--layers", "3:6", "--commit-input", "all")
	must(t, "prove", "--key", "a.pk", "--input", filepath.Join(dir, "x.json"), "-o", "p.proof")
	boundary := slices.DeleteFunc(names(t, temp), func(name string) bool { return !strings.HasSuffix(name, ".commitment") })
	if len(boundary) != 1 {
		t.Fatalf("commitments %q, want one", boundary)
	}
	must(t, "prove", "--key", "b.pk", "--opening", strings.TrimSuffix(boundary[0], "commitment")+"opening", "-o", "q.proof")
	must(t, "verify", "--key", "a.vk", "--input", filepath.Join(dir, "x.json"), "--commitment", boundary[0], "p.proof")
	must(t, "verify", "--key", "b.vk", "--commitment", boundary[0], "--output", "q.out.json", "q.proof")
	if got, want := string(readBytes(t, "q.out.json")), string(readBytes(t, filepath.Join(dir, "x.out.json"))); got != want {
		t.Errorf("both pieces give %s, the whole %s", got, want)
	}
}

// Verifiers who have the weights need not have the input.
func TestCommittedPublicWeights(t *testing.T) {
	dir := small(t)
	model, cal, input := filepath.Join(dir, "m.onnx"), filepath.Join(dir, "m.zkcal"), filepath.Join(dir, "x.json")
	t.Chdir(t.TempDir())
	must(t, "setup", model, "--calibration", cal, "--public-weights", "--commit-input", "all", "-o", "m")
	must(t, "prove", "--key", "m.pk", "--input", input, "--context", "nonce", "-o", "p.proof")
	args := []string{"verify", "--key", "m.vk", "--commitment", "p.x.commitment", "--output", "p.out.json", "--model", model, "--calibration", cal, "p.proof"}
	must(t, append(args, "--context", "nonce")...)
	if r := run(t, args...); r.code != ExitRejected {
		t.Errorf("without the context: exit %d: %s", r.code, r.err)
	}
}

// Token numbers are committed like other inputs; files for several committed inputs have their names.
func TestEveryInputCommitted(t *testing.T) {
	from := severalFiles(t)
	t.Chdir(t.TempDir())
	must(t, "setup", from("m.onnx"), "--calibration", from("m.zkcal"), "--commit-input", "all", "-o", "m")
	must(t, "commit", "--key", "m.vk", "--input", from("x.json"), "-o", "x")
	must(t, "prove", "--key", "m.pk", "--opening", "x.tokens.opening", "--opening", "x.x.opening", "-o", "p.proof")
	if got, want := string(readBytes(t, "p.out.json")), string(readBytes(t, from("x.out.json"))); got != want {
		t.Errorf("the answer is %s, with everything public %s", got, want)
	}
	must(t, "verify", "--key", "m.vk", "--commitment", "x.tokens.commitment", "--commitment", "x.x.commitment", "--output", "p.out.json", "p.proof")
	o := opening(t, "x.tokens.opening")
	o.Values[1] = 5 // of five words
	writeFile(t, "far.opening", o.Encode())
	if r := run(t, "prove", "--key", "m.pk", "--opening", "far.opening", "--opening", "x.x.opening", "-o", "n.proof"); r.code != ExitInput || !strings.Contains(r.err, "value 1 is 5, expected within [0, 4]") {
		t.Errorf("a word that is none: exit %d: %s", r.code, r.err)
	}
}
