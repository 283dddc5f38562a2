package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml"
)

// TestCommittedTokens proves a model whose tokens, which choose rows of a table, are committed by their owner.
func TestCommittedTokens(t *testing.T) {
	from, temp := severalFiles(t), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	writeFile(t, at("tokens.json"), []byte(`{"tokens": [4, 0, 2]}`))
	writeFile(t, at("other.json"), []byte(`{"tokens": [4, 1, 2]}`))
	writeFile(t, at("public.json"), []byte(`{"x": [[0.5, -0.25, 1, 0.125]]}`))
	must(t, "setup", from("m.onnx"), "--const", "mask=1", "--calibration", from("m.zkcal"), "--commit-input", "tokens", "-o", at("m"))
	if text := must(t, "inspect", at("m.vk")); !strings.Contains(text, "of commitments to input tokens\n") {
		t.Errorf("inspect of the key:\n%s", text)
	}
	for _, name := range []string{"tokens", "other"} {
		must(t, "commit", "--key", at("m.vk"), "--input", at(name+".json"), "-o", at(name))
	}
	must(t, "prove", "--key", at("m.pk"), "--input", at("public.json"), "--opening", at("tokens.opening"), "-o", at("p.proof"))
	verify := func(commitment string) ran {
		return run(t, "verify", "--key", at("m.vk"), "--input", at("public.json"), "--commitment", at(commitment), "--output", at("p.out.json"), at("p.proof"))
	}
	if r := verify("tokens.commitment"); r.code != ExitOK {
		t.Errorf("the owner's commitment: exit %d: %s", r.code, r.err)
	}
	if r := verify("other.commitment"); r.code != ExitRejected || !strings.Contains(r.err, zkml.CheckInputBind) {
		t.Errorf("another text's: exit %d: %s", r.code, r.err)
	}
	writeFile(t, at("far.json"), []byte(`{"tokens": [4, 5, 2]}`))
	if r := run(t, "commit", "--key", at("m.vk"), "--input", at("far.json"), "-o", at("far")); r.code != ExitInput {
		t.Errorf("a token that there is no row for: exit %d: %s", r.code, r.err)
	}
}
