package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/std/math/bits"
	"github.com/consensys/gnark/std/rangecheck"

	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// library is a circuit that needs hints of gnark's library.
type library struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *library) Define(api frontend.API) error {
	rangecheck.New(api).Check(c.X, 12)
	api.AssertIsEqual(c.Y, bits.ToBinary(api, c.X, bits.WithNbDigits(12))[0])
	return nil
}

// files writes all files of a circuit, with witnesses w0, w1, ... into a folder.
func files(t *testing.T, circuit frontend.Circuit, assignments ...frontend.Circuit) (at func(string) string) {
	t.Helper()
	dir := t.TempDir()
	at = func(name string) string { return filepath.Join(dir, name) }
	field := ecc.BN254.ScalarField()
	ccs, err := frontend.Compile(field, r1cs.NewBuilder, circuit)
	if err != nil {
		t.Fatal(err)
	}
	pk, vk, err := groth16.Setup(ccs)
	if err != nil {
		t.Fatal(err)
	}
	save(t, at("r1cs"), ccs)
	save(t, at("pk"), pk)
	save(t, at("vk"), vk)
	for i, a := range assignments {
		w, err := frontend.NewWitness(a, field)
		if err != nil {
			t.Fatal(err)
		}
		save(t, at(fmt.Sprintf("w%d", i)), w)
	}
	return at
}

// A key goes through all formats, and proves in each.
func TestConvert(t *testing.T) {
	at := files(t, &library{}, &library{5, 1})
	from := "pk"
	for i, format := range []string{"mapped", "dump", "raw", "compressed", "mapped"} {
		to := fmt.Sprintf("pk%d", i)
		wants(t, ExitOK, "written as "+format, "key", "convert", "--curve", "bn254", at(from), "-o", at(to), "--format", format)
		for _, more := range [][]string{nil, {"--trusted"}} {
			args := append([]string{"prove", "--curve", "bn254", "--r1cs", at("r1cs"), "--pk", at(to), "--vk", at("vk"), "--witness", at("w0"), "-o", at("proof"), "--force", "--public", at("public")}, more...)
			wants(t, ExitOK, "with a "+format+" key", args...)
			wants(t, ExitOK, "accepted", "verify", "--curve", "bn254", "--vk", at("vk"), "--public", at("public"), at("proof"))
		}
		from = to
	}
	first, err := os.ReadFile(at("pk"))
	if err != nil {
		t.Fatal(err)
	}
	if last, err := os.ReadFile(at("pk3")); err != nil || !bytes.Equal(first, last) {
		t.Errorf("a key that went through all formats is another one (%v)", err)
	}
	wants(t, ExitUsage, "2 keys are named", "key", "convert", "a", "b")
	wants(t, ExitUsage, "--curve is missing", "key", "convert", "a", "-o", "b")
	wants(t, ExitUsage, `--format "best": want mapped, dump, raw or compressed`, "key", "convert", "--curve", "bn254", "a", "-o", "b", "--format", "best")
	wants(t, ExitUsage, "exists; --force", "key", "convert", "--curve", "bn254", at("pk"), "-o", at("pk1"))
	wants(t, ExitUsage, "named both for", "key", "convert", "--curve", "bn254", at("pk"), "-o", at("pk"), "--force")
	wants(t, ExitInput, "bad key file", "key", "convert", "--curve", "bls12-377", at("pk"), "-o", at("x"))
	wants(t, ExitOK, "convert", "key")
}

// One run proves several witnesses, in a folder.
func TestSeveralWitnesses(t *testing.T) {
	at := files(t, &circuit{}, &circuit{3, 35}, &circuit{1, 7}, &circuit{1, 8})
	dir := t.TempDir()
	prove := []string{"prove", "--curve", "bn254", "--r1cs", at("r1cs"), "--pk", at("pk"), "--vk", at("vk"), "--witness", at("w0"), "--witness", at("w1")}
	with := func(more ...string) []string { return append(prove[:len(prove):len(prove)], more...) }
	wants(t, ExitOK, "proved 2 times", with("-o", dir, "--public", dir)...)
	for _, w := range []string{"w0", "w1"} {
		wants(t, ExitOK, "accepted", "verify", "--curve", "bn254", "--vk", at("vk"), "--public", filepath.Join(dir, w+".public"), filepath.Join(dir, w+".proof"))
	}
	wants(t, ExitRejected, "is rejected", "verify", "--curve", "bn254", "--vk", at("vk"), "--public", filepath.Join(dir, "w1.public"), filepath.Join(dir, "w0.proof"))
	wants(t, ExitUsage, "exists; --force", with("-o", dir)...)
	wants(t, ExitUsage, "is no folder", with("-o", at("none"))...)
	wants(t, ExitUsage, "named for two files", with("-o", dir, "--witness", at("w0"), "--force")...)
	other := t.TempDir()
	wants(t, ExitRejected, at("w2"), with("-o", other, "--witness", at("w2"))...)
	if left, err := os.ReadDir(other); err != nil || len(left) > 0 {
		t.Errorf("a failed run left %v (%v)", left, err)
	}
}

// --json is one object and nothing else, and --quiet is nothing.
func TestResults(t *testing.T) {
	at := files(t, &circuit{}, &circuit{3, 35})
	prove := []string{"prove", "--curve", "bn254", "--r1cs", at("r1cs"), "--pk", at("pk"), "--witness", at("w0"), "-o", at("proof"), "--public", at("public"), "--force"}
	for _, x := range []struct {
		field string
		args  []string
	}{
		{"proofs", prove},
		{"verified", []string{"verify", "--curve", "bn254", "--vk", at("vk"), "--public", at("public"), at("proof")}},
		{"format", []string{"key", "convert", "--curve", "bn254", at("pk"), "-o", at("mapped")}},
		{"commit", []string{"version"}},
	} {
		code, out, errs := run(append(x.args, "--json")...)
		var object map[string]any
		if err := json.Unmarshal([]byte(out), &object); code != ExitOK || err != nil || errs != "" || object[x.field] == nil {
			t.Errorf("%v: exit code %d, %v\n%s%s", x.args, code, err, out, errs)
		}
	}
	if code, out, errs := run(append(prove, "-q")...); code != ExitOK || out+errs != "" {
		t.Errorf("--quiet: exit code %d\n%s%s", code, out, errs)
	}
	wants(t, ExitOK, "accepted", "verify", "--curve", "bn254", "--vk", at("vk"), "--public", at("public"), at("proof"), "-q")
	wants(t, ExitUsage, "both want standard output", "prove", "--zkey", "a", "--wtns", "b", "-o", "-", "--json")
	wants(t, ExitOK, "commit", "version")
}

// Flags come from the environment too, and what is wrong there is an error that names it.
func TestEnvironment(t *testing.T) {
	main := func(args ...string) (int, string) {
		var o, e bytes.Buffer
		code := Main(context.Background(), args, &o, &e)
		return code, o.String() + e.String()
	}
	for _, x := range []struct{ name, value, says string }{
		{"ZKWARP_GPU_THRESHOLD", "many", `environment variable ZKWARP_GPU_THRESHOLD "many"`},
		{"ZKWARP_GPU_THRESHOLD", "64", "0 to 63"},
		{"ZKWARP_DEVICE", "cude:0", `environment variable ZKWARP_DEVICE "cude:0": want auto`},
		{"ZKWARP_FORCE", "perhaps", `environment variable ZKWARP_FORCE "perhaps"`},
		{"ZKWARP_PROGRESS", "all", "want auto, plain or none"},
		{"ZKWARP_LOG_LEVEL", "loud", "want debug"},
	} {
		t.Run(x.name+" "+x.value, func(t *testing.T) {
			t.Setenv(x.name, x.value)
			if code, says := main("version"); code != ExitUsage || !strings.Contains(says, x.says) {
				t.Errorf("exit code %d: %s", code, says)
			}
		})
	}
	if code, says := main("version", "--device", "gpu"); code != ExitUsage || !strings.Contains(says, `--device "gpu": want auto`) {
		t.Errorf("exit code %d: %s", code, says)
	}
	t.Setenv("ZKWARP_JSON", "true")
	if code, says := main("version"); code != ExitOK || !strings.HasPrefix(says, "{") {
		t.Errorf("exit code %d: %s", code, says)
	}
	if code, says := main("version", "--json=false"); code != ExitOK || strings.HasPrefix(says, "{") {
		t.Errorf("exit code %d: %s", code, says)
	}
}

// A file that was made while the program worked stays, and so does nothing of ours.
func TestNoClobber(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	app := &app{out: io.Discard}
	text := func(s string, also func()) func(io.Writer) error {
		return func(w io.Writer) error {
			if also != nil {
				also()
			}
			_, err := io.WriteString(w, s)
			return err
		}
	}
	theirs := func() {
		if err := os.WriteFile(b, []byte("theirs"), 0o600); err != nil {
			t.Error(err)
		}
	}
	err := app.write(t.Context(), output{a, text("ours", nil)}, output{b, text("ours", theirs)})
	if exitCode(err) != ExitUsage || !strings.Contains(err.Error(), "exists") {
		t.Errorf("error %v", err)
	}
	if got, err := os.ReadFile(b); err != nil || string(got) != "theirs" {
		t.Errorf("%q, %v", got, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	app.force = true
	if err := app.write(t.Context(), output{a, text("ours", nil)}, output{b, text("ours", nil)}); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(b); err != nil || string(got) != "ours" {
		t.Errorf("%q, %v", got, err)
	}
	// So it is where there are no hard links.
	none := func(string, string) error { return errors.ErrUnsupported }
	temp, c := filepath.Join(dir, "temp"), filepath.Join(dir, "c")
	for i, want := range []int{ExitOK, ExitUsage} {
		if err := os.WriteFile(temp, []byte{byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := place(none, temp, c, false); exitCode(err) != want {
			t.Errorf("without links: %v", err)
		}
		if got, err := os.ReadFile(c); err != nil || !bytes.Equal(got, []byte{0}) {
			t.Errorf("without links: %q, %v", got, err)
		}
	}
	if err := place(none, filepath.Join(dir, "gone"), filepath.Join(dir, "d"), false); err == nil {
		t.Error("without links: a file that is not there was put in place")
	} else if _, err := os.Stat(filepath.Join(dir, "d")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without links: something is left: %v", err)
	}
	// The end of the context is the end of writing.
	ctx, cancel := context.WithCancel(t.Context())
	if err := app.write(ctx, output{a, text("more", cancel)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got, err := os.ReadFile(a); err != nil || string(got) != "ours" {
		t.Errorf("%q, %v", got, err)
	}
}

// Progress has a line for what takes long, and none of it comes after the end.
func TestProgress(t *testing.T) {
	var b bytes.Buffer
	s := begin(&b, "wait\ning", 50*time.Millisecond, "prove: ", "\n")
	s.tell(1, 4)
	time.Sleep(120 * time.Millisecond)
	s.end()
	s.end()
	if got := b.String(); !strings.HasPrefix(got, "prove: wait ing, 25 %, 0s\n") {
		t.Errorf("%q", got)
	}
	for _, a := range []*app{{err: &b, progress: "none"}, {err: &b, progress: "plain", quiet: true}} {
		if s := a.begin("waiting"); s.stop != nil {
			t.Error("progress that nobody wants")
		}
	}
}

// What does not look at the context, such as gnark's solver, does not keep the program from
// ending, and what it was writing is gone.
func TestGraceful(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	writing, forever := make(chan bool), make(chan bool)
	defer close(forever)
	a := &app{out: io.Discard, err: io.Discard}
	go func() {
		<-writing
		cancel()
	}()
	err := a.within(ctx, 10*time.Millisecond, func() error {
		return a.write(context.Background(), output{filepath.Join(dir, "x"), func(io.Writer) error {
			close(writing)
			<-forever
			return nil
		}})
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
