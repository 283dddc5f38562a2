package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Work that cannot fit is refused before it begins.
func TestBinaryMemory(t *testing.T) {
	var out, err bytes.Buffer
	s := Streams{In: strings.NewReader(""), Out: &out, Err: &err, LookupEnv: func(name string) (string, bool) { return "cpu", name == "ZKWARP_DEVICE" }}
	for want, args := range map[string][]string{
		"the columns takes at least 2684354560 bytes": {"binary", "demo", "--vars", "30"},
		"proving takes at least ":                     {"binary", "demo", "--vars", "18"},
	} {
		s.Memory = func() int64 { return 8 << 20 }
		err.Reset()
		if code := Main(context.Background(), args, s); code != ExitMemory || !strings.Contains(err.String(), want) {
			t.Errorf("%v: exit %d: %s want %s", args, code, err.String(), want)
		}
	}
}

// The demo leaves files that prove and verify take, and its forgeries are rejected by the
// checks that they are meant for.
func TestBinary(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	in := func(name string) string { return filepath.Join(dir, name) }
	demo := object(t, must(t, "binary", "demo", "--vars", "7", "--out", dir, "--json"))
	reasons := demo["rejections"].(map[string]any)
	if demo["verified"] != true || demo["tampered_rejected"] != true || demo["rows"] != 128.0 || demo["security_bits"].(float64) < 100 ||
		!strings.HasPrefix(reasons["column"].(string), "zero-check") || !strings.HasPrefix(reasons["gate"].(string), "zero-check") || reasons["proof_byte"] == "" {
		t.Fatalf("the demo printed %v", demo)
	}
	checked := object(t, must(t, "binary", "verify", "--json", "--statement", in("statement.txt"), in("chi.proof")))
	if checked["verified"] != true || checked["root"] != demo["root"] {
		t.Errorf("verify printed %v", checked)
	}
	// From files, the same bytes; from one file too.
	made := object(t, must(t, "binary", "prove", "--json", "--statement", in("statement.txt"), "--columns", in("columns"), "-o", in("again.proof")))
	if made["root"] != demo["root"] || string(readBytes(t, in("again.proof"))) != string(readBytes(t, in("chi.proof"))) {
		t.Errorf("prove printed %v, or another proof", made)
	}
	var all []byte
	for _, name := range []string{"a0", "a1", "a2", "a3", "a4", "b0", "b1", "b2", "b3", "b4"} {
		all = append(all, readBytes(t, in("columns/"+name+".bits"))...)
	}
	writeFile(t, in("all.bits"), all)
	piped := runWith(t, nil, string(all), "binary", "prove", "--statement", in("statement.txt"), "--columns", "-", "-o", "-")
	if piped.code != ExitOK || piped.out != string(readBytes(t, in("chi.proof"))) {
		t.Errorf("columns from standard input: exit %d, %d bytes, %s", piped.code, len(piped.out), piped.err)
	}
	text := must(t, "binary", "prove", "--statement", in("statement.txt"), "--columns", in("all.bits"), "-o", in("all.proof"))
	for _, want := range []string{"10 columns of 2^7 bits, 5 AND and 0 XOR gates", "zero-check", "root", "bits (union"} {
		if !strings.Contains(text, want) {
			t.Errorf("prove printed %q without %q", text, want)
		}
	}
	if text := must(t, "binary", "verify", "--statement", in("statement.txt"), in("all.proof")); !strings.HasPrefix(text, "accepted in ") {
		t.Errorf("verify printed %q", text)
	}

	for file, kind := range map[string]string{"statement.txt": "statement about bits", "chi.proof": "proof about bits"} {
		if got := object(t, must(t, "inspect", "--json", in(file))); got["kind"] != kind {
			t.Errorf("inspect says that %s is a %v, want %s", file, got["kind"], kind)
		}
	}
	budget := object(t, must(t, "security", "--json", in("statement.txt")))
	if budget["sum"] != demo["security_bits"] || len(budget["lines"].([]any)) < 6 {
		t.Errorf("security printed %v", budget)
	}
	if text := must(t, "security", in("statement.txt")); !strings.Contains(text, "gates: zero-check") || !strings.Contains(text, "bits-sum") {
		t.Errorf("security printed %q", text)
	}
}

func TestBinaryErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t, "binary", "demo", "--vars", "5", "--out", dir, "--quiet")
	statement := string(readBytes(t, in("statement.txt")))
	writeFile(t, in("typo.txt"), []byte(strings.Replace(statement, "~a3 & a4", "~a3 & c4", 1)))
	writeFile(t, in("other.txt"), []byte(strings.Replace(statement, "~a3 & a4", "a3 & a4", 1)))
	proof := readBytes(t, in("chi.proof"))
	writeFile(t, in("short.proof"), proof[:len(proof)-1])
	writeFile(t, in("bad.proof"), append(append([]byte(nil), proof[:100]...), append([]byte{proof[100] ^ 1}, proof[101:]...)...))
	writeFile(t, in("columns/b1.bits"), make([]byte, 4))
	writeFile(t, in("five.bits"), make([]byte, 5))
	writeFile(t, in("early.txt"), []byte("columns a b\nrows 2^5\na = b\n"))
	writeFile(t, in("long.txt"), []byte(strings.Repeat("# a licence, before anything else is said\n", 140)+"columns a\nrows 2^5\na = 0\n"))
	verify := []string{"binary", "verify", "--statement", in("statement.txt")}
	prove := []string{"binary", "prove", "--statement", in("statement.txt"), "-o", in("x.proof"), "--columns"}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{ExitUsage, "lists demo, prove and verify", []string{"binary", "frob"}},
		{ExitUsage, "--vars 4: want 5 to 30", []string{"binary", "demo", "--vars", "4"}},
		{ExitUsage, "exists; pass --force", []string{"binary", "demo", "--vars", "5", "--out", dir}},
		{ExitUsage, "pass --statement FILE, --columns DIR", []string{"binary", "prove", "--statement", in("statement.txt")}},
		{ExitUsage, "pass --statement FILE", []string{"binary", "verify", in("chi.proof")}},
		{ExitInput, "typo.txt: line 7, column 17: found \"c4\", want a column, 0 or 1", []string{"binary", "verify", "--statement", in("typo.txt"), in("chi.proof")}},
		{ExitInput, "early.txt: line 1, column 1: found \"columns\", want rows 2^N", []string{"security", in("early.txt")}},
		{ExitInput, "long.txt: line 141, column 1: found \"columns\", want rows 2^N", []string{"inspect", in("long.txt")}},
		{ExitInput, "chi.proof is a proof about columns of bits, not a key", []string{"security", in("chi.proof")}},
		{ExitInput, "five.bits is no key, and no statement", []string{"security", in("five.bits")}},
		{ExitUsage, "--key goes with the proof of an answer", []string{"inspect", "--key", in("typo.txt"), in("chi.proof")}},
		{ExitInput, "five.bits: 5 bytes, want 40 for 10 columns of 2^5 bits", append(prove, in("five.bits"))},
		{ExitInput, "does not hold in row ", append(prove, in("columns"))},
		{ExitInput, "no such file", append(prove, in("none"))},
		{ExitInput, "begins with", append(verify, in("statement.txt"))},
		{ExitInput, "short.proof", append(verify, in("short.proof"))},
		{ExitRejected, "statement digest", []string{"binary", "verify", "--statement", in("other.txt"), in("chi.proof")}},
		{ExitRejected, "rejected: ", append(verify, in("bad.proof"))},
	} {
		r := run(t, c.args...)
		if r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("zkwarp %s: exit %d: %s want %d with %q", strings.Join(c.args, " "), r.code, r.err, c.code, c.want)
			continue
		}
		oneErrorLine(t, r)
	}
	if _, err := os.Stat(in("x.proof")); err == nil {
		t.Error("a refused proof was written")
	}
	if got := run(t, append(verify, "--json", in("bad.proof"))...); got.code != ExitRejected || object(t, got.out)["verified"] != false {
		t.Errorf("a rejection as JSON: exit %d, %s", got.code, got.out)
	}
	if err := os.Remove(in("columns/b1.bits")); err != nil {
		t.Fatal(err)
	}
	if r := run(t, append(prove, in("columns"))...); r.code != ExitInput || !strings.Contains(r.err, "b1.bits") {
		t.Errorf("a missing column: exit %d: %s", r.code, r.err)
	}
}
