package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// circuit: x³ + x + 5 = y, and a commitment.
type circuit struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *circuit) Define(api frontend.API) error {
	if _, err := api.(frontend.Committer).Commit(c.X, c.Y); err != nil {
		return err
	}
	api.AssertIsEqual(c.Y, api.Add(api.Mul(c.X, c.X, c.X), c.X, 5))
	return nil
}

// run is the exit code of a run, and what it printed.
func run(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = Main(context.Background(), append(args, "--device", "cpu"), &o, &e)
	return code, o.String(), e.String()
}

func save(t *testing.T, path string, v io.WriterTo) {
	t.Helper()
	var b bytes.Buffer
	if _, err := v.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wants fails unless a run ends with a code and says something on one line.
func wants(t *testing.T, code int, text string, args ...string) {
	t.Helper()
	got, out, errs := run(args...)
	if got != code || !strings.Contains(out+errs, text) {
		t.Errorf("%s: exit code %d, want %d and %q\n%s%s", strings.Join(args, " "), got, code, text, out, errs)
	}
	if code != ExitOK && strings.Count(errs, "\n") != 1 {
		t.Errorf("%s: the error is not one line: %q", strings.Join(args, " "), errs)
	}
}

func TestGnark(t *testing.T) {
	for _, id := range curves {
		name := strings.ReplaceAll(id.String(), "_", "-")
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			ccs, err := frontend.Compile(id.ScalarField(), r1cs.NewBuilder, &circuit{})
			if err != nil {
				t.Fatal(err)
			}
			pk, vk, err := groth16.Setup(ccs)
			if err != nil {
				t.Fatal(err)
			}
			right, err := frontend.NewWitness(&circuit{3, 35}, id.ScalarField())
			if err != nil {
				t.Fatal(err)
			}
			wrong, err := frontend.NewWitness(&circuit{3, 36}, id.ScalarField())
			if err != nil {
				t.Fatal(err)
			}
			other, err := frontend.NewWitness(&circuit{Y: 36}, id.ScalarField(), frontend.PublicOnly())
			if err != nil {
				t.Fatal(err)
			}
			for file, v := range map[string]io.WriterTo{"c.r1cs": ccs, "c.pk": pk, "c.vk": vk, "right": right, "wrong": wrong, "other": other} {
				save(t, at(file), v)
			}
			prove := []string{"prove", "--curve", name, "--r1cs", at("c.r1cs"), "--pk", at("c.pk"), "--vk", at("c.vk"), "--witness"}
			verify := []string{"verify", "--curve", name, "--vk", at("c.vk"), "--public"}
			with := func(list []string, more ...string) []string { return append(list[:len(list):len(list)], more...) }
			wants(t, ExitOK, "proved", with(prove, at("right"), "-o", at("x"), "--public", at("public"))...)
			wants(t, ExitOK, "accepted", with(verify, at("public"), at("x"))...)
			wants(t, ExitRejected, "is rejected", with(verify, at("other"), at("x"))...)
			wants(t, ExitInput, at("right")+": it has 1 secret values too", with(verify, at("right"), at("x"))...)
			wants(t, ExitInput, "it was read as one over "+name, with(verify, at("public"), at("c.vk"))...)
			wants(t, ExitRejected, at("wrong")+": constraint #", with(prove, at("wrong"), "-o", at("y"))...)
			wants(t, ExitUsage, "exists; --force", with(prove, at("right"), "-o", at("x"))...)
			wants(t, ExitOK, "proved", with(prove, at("right"), "-o", at("x"), "--force")...)
			wants(t, ExitInput, "no such file", with(prove, at("nobody"), "-o", at("y"))...)
			wants(t, ExitInput, "no folder", with(prove, at("right"), "-o", at("none/y"))...)
			for _, file := range []string{"c.r1cs", "c.pk", "c.vk", "right"} {
				wants(t, ExitUsage, "named both for", with(prove, at("right"), "-o", at(file), "--force")...)
			}
			if code, out, errs := run(with(prove, at("right"), "-o", "-")...); code != ExitOK || out == "" || strings.Contains(out, "proved") || errs != "" {
				t.Errorf("to standard output: exit code %d\n%q%s", code, out, errs)
			} else {
				save(t, at("z"), bytes.NewBufferString(out))
				wants(t, ExitOK, "accepted", with(verify, at("public"), at("z"))...)
			}
			wants(t, ExitInput, "1 values, of which 1 are public; the circuit has 1 public and 1 secret", with(prove, at("public"), "-o", at("y"))...)
			if id == ecc.BLS12_377 || id == ecc.BLS12_381 { // whose elements have as many bytes
				foreign, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, &circuit{})
				if err != nil {
					t.Fatal(err)
				}
				save(t, at("foreign"), foreign)
				wants(t, ExitInput, "it is not over "+name, "prove", "--curve", name, "--r1cs", at("foreign"), "--pk", at("c.pk"), "--witness", at("right"), "-o", at("y"))
			}
			for file, list := range map[string][]string{"c.r1cs": with(prove, at("right"), "-o", at("y")), "c.pk": with(prove, at("right"), "-o", at("y")),
				"c.vk": with(verify, at("public"), at("x")), "right": with(prove, at("right"), "-o", at("y")),
				"public": with(verify, at("public"), at("x")), "x": with(verify, at("public"), at("x"))} {
				whole, err := os.ReadFile(at(file))
				if err != nil {
					t.Fatal(err)
				}
				for what, bad := range map[string][]byte{"cut": whole[:len(whole)/2], "empty": nil, "long": append(whole[:len(whole):len(whole)], 0)} {
					if err := os.WriteFile(at(file), bad, 0o644); err != nil {
						t.Fatal(err)
					}
					code, out, errs := run(list...)
					if code != ExitInput || !strings.Contains(errs, at(file)) {
						t.Errorf("%s %s: exit code %d\n%s%s", file, what, code, out, errs)
					}
				}
				if err := os.WriteFile(at(file), whole, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := os.Stat(at("y")); err == nil {
				t.Error("a failed run left a proof")
			}
			if rest, err := filepath.Glob(at(".zkwarp-*")); err != nil || len(rest) > 0 {
				t.Errorf("left behind: %v", rest)
			}
		})
	}
}

func TestCircom(t *testing.T) {
	dir := t.TempDir()
	data := func(name string) string { return filepath.Join("..", "..", "circom", "testdata", name) }
	for _, name := range []string{"multiplier_bn128", "chain_bls12381"} {
		proof, public := filepath.Join(dir, name+".proof.json"), filepath.Join(dir, name+".public.json")
		wants(t, ExitOK, "proved", "prove", "--zkey", data(name+".zkey"), "--wtns", data(name+".wtns"), "-o", proof, "--public", public)
		wants(t, ExitOK, "accepted", "verify", "--vkey", data(name+".vk.json"), "--public", public, proof)
		wants(t, ExitOK, "accepted", "verify", "--vkey", data(name+".vk.json"), "--public", data(name+".public.json"), data(name+".proof.json"))
	}
	foreign := data("chain_bn128.wtns")
	wants(t, ExitInput, data("multiplier_bn128.zkey")+" and "+foreign+": circom: inputs do not match", "prove", "--zkey", data("multiplier_bn128.zkey"), "--wtns", foreign, "-o", filepath.Join(dir, "x"))
	wrong, err := os.ReadFile(data("multiplier_bn128.wtns"))
	if err != nil {
		t.Fatal(err)
	}
	wrong[len(wrong)-32] ^= 1
	save(t, filepath.Join(dir, "wrong"), bytes.NewBuffer(wrong))
	wants(t, ExitRejected, filepath.Join(dir, "wrong")+": circom: the witness does not satisfy", "prove", "--zkey", data("multiplier_bn128.zkey"), "--wtns", filepath.Join(dir, "wrong"), "-o", filepath.Join(dir, "x"))
	vk := data("multiplier_bn128.vk.json")
	wants(t, ExitRejected, "verified with "+vk+" and "+data("chain_bn128.public.json"), "verify", "--vkey", vk, "--public", data("chain_bn128.public.json"), data("multiplier_bn128.proof.json"))
	wants(t, ExitRejected, "is rejected", "verify", "--vkey", vk, "--public", data("chain_bn128.public.json"), filepath.Join(dir, "multiplier_bn128.proof.json"))
	wants(t, ExitInput, "array where there should be an object", "verify", "--vkey", data("multiplier_bn128.public.json"), "--public", data("multiplier_bn128.public.json"), data("multiplier_bn128.proof.json"))
	wants(t, ExitInput, "object where there should be a list", "verify", "--vkey", vk, "--public", vk, data("multiplier_bn128.proof.json"))
	wants(t, ExitInput, "reading proof none: no such file", "verify", "--vkey", vk, "--public", data("multiplier_bn128.public.json"), "none")
	wants(t, ExitInput, `begins with "wtns"`, "prove", "--zkey", data("multiplier_bn128.wtns"), "--wtns", data("multiplier_bn128.zkey"), "-o", filepath.Join(dir, "x"))
}

func TestUsage(t *testing.T) {
	for text, args := range map[string][]string{
		`--curve "toy"`:           {"prove", "--curve", "toy", "--r1cs", "a", "--pk", "b", "--witness", "c", "-o", filepath.Join(t.TempDir(), "x")},
		"--pk is missing":         {"prove", "--curve", "bn254", "--r1cs", "a", "--witness", "c", "-o", "x"},
		"--output is missing":     {"prove", "--zkey", "a", "--wtns", "b"},
		"--pk does not go with":   {"prove", "--zkey", "a", "--wtns", "b", "--pk", "c", "-o", "x"},
		"--trusted does not go":   {"prove", "--zkey", "a", "--wtns", "b", "--trusted", "-o", "x"},
		"--wtns is given 2 times": {"prove", "--zkey", "a", "--wtns", "b", "--wtns", "c", "-o", "x"},
		"--vk does not go with":   {"verify", "--vkey", "a", "--vk", "b", "--public", "c", "x"},
		"--public is missing":     {"verify", "--vkey", "a", "x"},
		"--zkey and --wtns":       {"prove", "-o", "x"},
		`argument "x"`:            {"prove", "x"},
		"named for two files":     {"prove", "--zkey", "a", "--wtns", "b", "-o", "-", "--public", "-"},
		"2 proofs are named":      {"verify", "--vkey", "a", "--public", "b", "x", "y"},
		"unknown command":         {"improve"},
		"unknown flag":            {"prove", "--fast"},
		"is named for two files":  {"prove", "--zkey", "a", "--wtns", "b", "-o", "x", "--public", "./x"},
		"is there and not a file": {"prove", "--zkey", "a", "--wtns", "b", "-o", t.TempDir()},
	} {
		wants(t, ExitUsage, text, args...)
	}
	if code, out, _ := run("--help"); code != ExitOK || !strings.Contains(out, "prove") {
		t.Errorf("--help: exit code %d\n%s", code, out)
	}
	var o, e bytes.Buffer
	if code := Main(context.Background(), []string{"verify", "--curve", ecc.BN254.String(), "--vk", "none", "--public", "b", "x"}, &o, &e); code != ExitInput {
		t.Errorf("a file that is not there: exit code %d\n%s", code, e.String())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	data := filepath.Join("..", "..", "circom", "testdata", "multiplier_bn128")
	if code := Main(ctx, []string{"prove", "--zkey", data + ".zkey", "--wtns", data + ".wtns", "-o", filepath.Join(dir, "x")}, &o, &e); code != ExitInterrupted {
		t.Errorf("interrupted: exit code %d", code)
	}
}

// What takes long ends with the context, not with its work.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	forever, reading := make(chan bool), make(chan bool)
	defer close(forever)
	go func() {
		<-reading
		cancel()
	}()
	if _, err := open(ctx, "key", "x", func(string) (int, error) {
		close(reading)
		<-forever
		return 0, nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
