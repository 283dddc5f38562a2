package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// chiFolder is a folder with what a small demo leaves, as a function of names in it.
func chiFolder(t *testing.T) func(name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	must(t, "binary", "demo", "--vars", "5", "--out", dir, "--quiet")
	return func(name string) string { return filepath.Join(dir, name) }
}

// What is far too long is refused without being read, on every way in.
func TestBinaryLongInputs(t *testing.T) {
	in := chiFolder(t)
	statement := string(readBytes(t, in("statement.txt")))
	long := func(name string) string { // takes no place on the disk, but would take all memory
		f, err := os.Create(in(name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(1 << 43); err != nil {
			t.Skip(err)
		}
		return in(name)
	}
	prove := []string{"binary", "prove", "--statement", in("statement.txt"), "-o", in("x.proof"), "--columns"}
	for _, c := range []struct {
		want, stdin string
		args        []string
	}{
		{"b1.bits: 8796093022208 bytes, want 4 for 2^5 bits", "", append(prove, filepath.Dir(long("columns/b1.bits")))},
		{"all.bits: 8796093022208 bytes, want 40 for 10 columns of 2^5 bits", "", append(prove, long("all.bits"))},
		{"columns -: more than 40 bytes, want 40", strings.Repeat("x", 41), append(prove, "-")},
		{"columns -: 39 bytes, want 40", strings.Repeat("x", 39), append(prove, "-")},
		{"long.txt: 8796093022208 bytes, the limit is 1048576", "", []string{"binary", "verify", "--statement", long("long.txt"), in("chi.proof")}},
		{"more than 1048576 bytes, the limit", strings.Repeat("#", 1<<20) + "\n", []string{"binary", "verify", "--statement", "-", in("chi.proof")}},
	} {
		r := runWith(t, nil, c.stdin, c.args...)
		if r.code != ExitInput || !strings.Contains(r.err, c.want) {
			t.Errorf("zkwarp %s: exit %d: %s want %d with %q", strings.Join(c.args, " "), r.code, r.err, ExitInput, c.want)
			continue
		}
		oneErrorLine(t, r)
	}
	if r := runWith(t, nil, statement+strings.Repeat("#", 1<<20-len(statement)), "binary", "verify", "--statement", "-", in("chi.proof")); r.code != ExitOK {
		t.Errorf("a statement of the most bytes: exit %d: %s", r.code, r.err)
	}
}

// A statement is known as one by its first word, whatever is wrong behind it and however much
// comment is in front.
func TestBinaryKnowsStatements(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s")
	const text = "rows 2^5\ncolumns a b\na = b\n"
	const neither = "of neither kind"
	for _, c := range []struct{ text, want string }{
		{strings.Repeat("# a long licence\n", 1000) + text, ""},
		{"rows: 2^5\n", "line 1, column 5: found \":\", want 2^N"},
		{"rows\n", "line 1, column 5: found the end of the line, want 2^N"},
		{"\tcolumns a\n" + text, "line 1, column 2: found \"columns\", want rows 2^N before columns"},
		{"\ufeff" + text, "line 1, column 1: found \"\\ufeff\", want rows 2^N"},
		{"rowset\n", neither},
		{"", neither},
	} {
		writeFile(t, file, []byte(c.text))
		code := ExitInput
		if c.want == "" {
			code = ExitOK
		}
		for verb, other := range map[string]string{"inspect": "nor is it a file of zkwarp's", "security": "is no key, and no statement"} {
			want := c.want
			if want == neither {
				want = other
			}
			if r := run(t, verb, file); r.code != code || !strings.Contains(r.err, want) {
				t.Errorf("%s of %.20q: exit %d: %s want %d with %q", verb, c.text, r.code, r.err, code, want)
			}
		}
	}
}

// A proof that ends too soon is a file of the wrong length, not one of another kind.
func TestBinaryShortProofs(t *testing.T) {
	in := chiFolder(t)
	proof := readBytes(t, in("chi.proof"))
	for n, want := range map[int]string{
		7:   "begins with \"ZKWBITS\", want \"ZKWBITS\\n\"",
		8:   "short.proof: 8 bytes, want at least 44",
		43:  "short.proof: 43 bytes, want at least 44",
		44:  "short.proof: 44 bytes, want at least 76",
		75:  "short.proof: 75 bytes, want at least 76",
		100: "short.proof: 100 bytes, want at least 236", // the columns' values
	} {
		writeFile(t, in("short.proof"), proof[:n])
		if r := run(t, "binary", "verify", "--statement", in("statement.txt"), in("short.proof")); r.code != ExitInput || !strings.Contains(r.err, want) {
			t.Errorf("verify of %d bytes: exit %d: %s want %q", n, r.code, r.err, want)
		}
		if n < 8 || n >= 76 { // no proof to inspect, or enough of one
			continue
		}
		if r := run(t, "inspect", in("short.proof")); r.code != ExitInput || !strings.Contains(r.err, want) {
			t.Errorf("inspect of %d bytes: exit %d: %s want %q", n, r.code, r.err, want)
		}
	}
}
