package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every group sums a sample to what its logarithms say, from files of both forms.
func TestMSMFiles(t *testing.T) {
	for _, g := range msmGroups {
		name := g.curve
		flags := []string{"--curve", g.curve}
		if g.second {
			name += " G2"
			flags = append(flags, "--g2")
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			flags := append(flags, "--points", filepath.Join(dir, "p"), "--scalars", filepath.Join(dir, "s"))
			want := object(t, must(t, append([]string{"msm", "sample", "--n", "33", "--seed", "7", "--json"}, flags...)...))
			got := object(t, must(t, append([]string{"msm", "--json", "--check", "--subgroup", "-o", filepath.Join(dir, "r")}, flags...)...))
			if got["n"] != 33.0 || got["infinity"] != false || len(got["x"].([]any)) == 0 {
				t.Errorf("msm printed %v", got)
			}
			for _, c := range []string{"x", "y"} {
				if !slices.Equal(got[c].([]any), want[c].([]any)) {
					t.Errorf("%s is %v, the sample says %v", c, got[c], want[c])
				}
			}
			one, err := os.ReadFile(filepath.Join(dir, "r"))
			if err != nil || !bytes.HasPrefix(one, []byte{0, 0, 0, 1}) {
				t.Errorf("the result's file: %x, %v", one, err)
			}
		})
	}
}

// Few points and none.
func TestMSMSmall(t *testing.T) {
	dir := t.TempDir()
	p, s := filepath.Join(dir, "p"), filepath.Join(dir, "s")
	for _, n := range []string{"0", "1", "2", "3"} {
		want := must(t, "msm", "sample", "--curve", "bn254", "--n", n, "--points", p, "--scalars", s, "--force")
		if got := must(t, "msm", "--curve", "bn254", "--points", p, "--scalars", s, "--quiet"); got != want || n == "0" && got != "infinity\n" {
			t.Errorf("%s points: %q, want %q", n, got, want)
		}
	}
}

func TestMSMErrors(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t, "msm", "sample", "--curve", "bn254", "--n", "5", "--points", in("p5"), "--scalars", in("s5"))
	must(t, "msm", "sample", "--curve", "bn254", "--n", "6", "--points", in("p6"), "--scalars", in("s6"))
	data, err := os.ReadFile(in("p5"))
	if err != nil {
		t.Fatal(err)
	}
	off := bytes.Clone(data)
	off[4+64*2+63] ^= 1 // y of point 2
	writeFile(t, in("off"), off)
	writeFile(t, in("short"), data[:len(data)-1])
	writeFile(t, in("long"), append(bytes.Clone(data), 0))
	scalars, err := os.ReadFile(in("s5"))
	if err != nil {
		t.Fatal(err)
	}
	big := bytes.Clone(scalars)
	for i := range 32 {
		big[4+32*3+i] = 0xff
	}
	writeFile(t, in("big"), big)
	for _, c := range []struct {
		code int
		args string
		says string
	}{
		{ExitUsage, "--curve bn254 --points @p5", "--scalars is missing"},
		{ExitUsage, "--points @p5 --scalars @s5", "bls12-381"},
		{ExitUsage, "--curve secp256k1 --points @p5 --scalars @s5", "mnt4-753"},
		{ExitUsage, "--curve mnt4-753 --g2 --points @p5 --scalars @s5", "G1 only"},
		{ExitUsage, "--curve bn254 --points @p5 --scalars @s5 --window 40", "2 to 26"},
		{ExitInput, "--curve bn254 --points @p5 --scalars @s6", "6 scalars for the 5 points"},
		{ExitInput, "--curve bn254 --points @absent --scalars @s5", "absent"},
		{ExitInput, "--curve bn254 --points @off --scalars @s5", "point 2"},
		{ExitInput, "--curve bn254 --points @short --scalars @s5", "point 4"},
		{ExitInput, "--curve bn254 --points @long --scalars @s5", "follows the last point"},
		{ExitInput, "--curve bn254 --points @p5 --scalars @big", "scalar 3"},
		{ExitInput, "--curve bls12-381 --points @p5 --scalars @s5", "p5"},
	} {
		r := run(t, append([]string{"msm"}, strings.Fields(strings.ReplaceAll(c.args, "@", dir+"/"))...)...)
		if r.code != c.code || !strings.Contains(r.err, c.says) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("msm %s: exit %d, %q; want %d and %q on one line", c.args, r.code, r.err, c.code, c.says)
		}
	}
}

// - is standard input and output, for one file each and nothing else.
func TestMSMStandardStreams(t *testing.T) {
	dir := t.TempDir()
	p, s, s2 := filepath.Join(dir, "p"), filepath.Join(dir, "s"), filepath.Join(dir, "s2")
	want := must(t, "msm", "sample", "--curve", "bn254", "--n", "5", "--points", p, "--scalars", s)
	points, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := must(t, "msm", "sample", "--curve", "bn254", "--n", "5", "--points", "-", "--scalars", s2); got != string(points) {
		t.Errorf("points to standard output: %d bytes, want %d", len(got), len(points))
	}
	if r := runWith(t, nil, string(points), "msm", "--curve", "bn254", "--points", "-", "--scalars", s, "--quiet"); r.code != ExitOK || r.out != want {
		t.Errorf("points from standard input: exit %d, %q, %s", r.code, r.out, r.err)
	}
	for _, verb := range [][]string{{"msm"}, {"msm", "sample"}} {
		if r := runWith(t, nil, string(points), append(verb, "--curve", "bn254", "--points", "-", "--scalars", "-")...); r.code != ExitUsage || r.out != "" {
			t.Errorf("%v with - twice: exit %d, %q, %s", verb, r.code, r.out, r.err)
		}
	}
}

func TestWarmNeedsAGPU(t *testing.T) {
	if r := run(t, "doctor", "--warm", "--device", "cpu"); r.code != ExitDevice {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := run(t, "doctor", "--curve", "bn254"); r.code != ExitUsage {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
