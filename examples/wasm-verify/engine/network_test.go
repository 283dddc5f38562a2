package engine

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	chunkprover "github.com/zkwarp/zkwarp/zkml/chunks/prover"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// small is a network of two layers on gray pictures of 3 x 2 pixels.
func small(t *testing.T) (*graph.Program, *graph.Weights) {
	t.Helper()
	b := graph.NewBuilder("small")
	x := b.Input("x", []int{1, 1, 2, 3}, 0, 255, 1.0/255)
	flat := b.Reshape("flat", x, []int{1, 6})
	w := b.Param("w", []int{6, 4}, []int32{1, -2, 3, 0, 2, 2, -1, 1, 0, 3, 1, -3, 1, 1, 1, 2, -2, 0, 3, 1, 0, 0, 1, 2}, 1)
	v := b.Param("v", []int{4, 3}, []int32{1, 2, -1, 0, 1, 1, -2, 1, 0, 3, -1, 1}, 1)
	y := b.MatMul("y", b.MatMul("hidden", flat, w, false, 1.0/255), v, false, 1.0/255)
	p, weights, err := b.Build(y, graph.NoPost, []string{"red", "green", "blue"})
	if err != nil {
		t.Fatal(err)
	}
	return p, weights
}

func gray(t *testing.T, values ...uint8) []byte {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, 3, 2))
	for i, v := range values {
		picture.SetGray(i%3, i/3, color.Gray{v})
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// files are named files: a name and what is in it, by turns.
func files(list ...any) (out []File) {
	for i := 0; i < len(list); i += 2 {
		out = append(out, File{list[i].(string), list[i+1].([]byte)})
	}
	return out
}

// TestExchangedEnds has a network whose two inputs and output have one format. What a proof names first is not what the key does (0.2 s).
func TestExchangedEnds(t *testing.T) {
	b := graph.NewBuilder("difference")
	x, y := b.Input("in", []int{4}, -50, 50, 1), b.Input("in.too", []int{4}, -50, 50, 1)
	z := b.Linear("difference", []graph.Term{{Coef: 1, T: x}, {Coef: -1, T: y}}, 0, 1)
	p, w, err := b.BuildAll([]graph.TensorID{z}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	q, err := dev.NewQueue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	vk, pk, err := prover.Setup(q, p, w, &prover.SetupOptions{Commits: zkml.Commits{Inputs: []int{0, 1}, Outputs: []int{0}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := prover.Prove(q, pk, []int32{1, 2, 3, 4, 5, 6, 7, 9}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var code, opening [][]byte
	for i, o := range r.Openings {
		code, opening = append(code, r.Statement.Commitments[i].Encode()), append(opening, o.Encode())
	}
	good := files("z.difference.commitment", code[2], "z.in.too.commitment", code[1], "z.in.commitment", code[0])
	for name, c := range map[string]struct {
		verdict, check, reason string
		commitments, openings  []File
	}{
		"by name":         {"accepted", "", "", good, nil},
		"openings":        {"accepted", "", "", nil, files("in.opening", opening[0], "a.difference.opening", opening[2], "in.too.opening", opening[1])},
		"both kinds":      {"accepted", "", "", good[:2], files("in.opening", opening[0])},
		"exchanged":       {"rejected", zkml.CheckInputBind, "", files("difference.commitment", code[2], "in.too.commitment", code[0], "in.commitment", code[1]), nil},
		"input as output": {"rejected", zkml.CheckInputBind, "", files("difference.commitment", code[0], "in.too.commitment", code[1], "in.commitment", code[2]), nil},
		"openings so":     {"rejected", zkml.CheckInputBind, "", nil, files("in.opening", opening[1], "difference.opening", opening[2], "in.too.opening", opening[0])},
		"without names":   {"malformed", "", `c could be of input "in" or input "in.too" or output "difference": its name must end in what it is of: in.commitment`, files("c", code[0], "in.too.commitment", code[1], "difference.commitment", code[2]), nil},
		"named twice":     {"malformed", "", `a.in.commitment and b.in.commitment are both of input "in"`, files("a.in.commitment", code[0], "b.in.commitment", code[1], "difference.commitment", code[2]), nil},
	} {
		var keys Keys
		got := keys.Verify(&Case{Key: vk.Encode(), Commitments: c.commitments, Openings: c.openings, Proofs: [][]byte{r.Proof}})
		if got.Verdict != c.verdict || got.Check != c.check || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: %s, %s: %s; want %s, %s: %s", name, got.Verdict, got.Check, got.Reason, c.verdict, c.check, c.reason)
		}
	}
}

func TestNetworks(t *testing.T) {
	p, w := small(t)
	dev, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	input := gray(t, 0, 50, 100, 150, 200, 255)
	x, err := zkmlfile.ReadInput(p, input)
	if err != nil {
		t.Fatal(err)
	}
	context := []byte("nonce 7")
	answer := func(y []int32) []byte {
		a, err := zkmlfile.NewAnswer(p, y)
		if err != nil {
			t.Fatal(err)
		}
		text, err := a.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var keys Keys
	check := func(what string, c Case, verdict, name, reason string) *Inference {
		t.Helper()
		r := keys.Verify(&c)
		if r.Verdict != verdict || r.Check != name || !strings.Contains(r.Reason, reason) {
			t.Errorf("%s: %s, %s: %s; want %s, %s: %s", what, r.Verdict, r.Check, r.Reason, verdict, name, reason)
		}
		return r
	}
	// cheat spoils a good case in every way that does not depend on the kind of key.
	cheat := func(t *testing.T, good Case, y []int32) {
		t.Helper()
		r := check("good", good, "accepted", "", "")
		if r.Answer == nil || r.Answer.Label == "" || r.Bits < zkml.MinSecurity || r.VerifyMS <= 0 || len(r.Input) != 64 || r.Input == r.Output {
			t.Errorf("report %+v", r)
		}
		c := good
		c.Input = gray(t, 1, 50, 100, 150, 200, 255)
		check("another picture", c, "rejected", zkml.CheckInputBind, "")
		c.Input = gray(t)[:40]
		check("half a picture", c, "malformed", "", "input: png")
		other := slices.Clone(y)
		other[2]++
		c = good
		c.Answer = answer(other)
		check("another answer", c, "rejected", zkml.CheckOutputBind, "")
		c.Answer = bytes.Replace(good.Answer, []byte(`"label":"`), []byte(`"label":"x`), 1)
		check("another label", c, "rejected", CheckAnswer, "label does not follow")
		c.Answer = []byte(`{"output_data": [[1]]}`)
		check("too short an answer", c, "malformed", "", "answer: ")
		c = good
		c.Context = nil
		if r := keys.Verify(&c); r.Verdict != "rejected" {
			t.Errorf("without the context: %+v", r)
		}
		c = good
		c.Proofs = [][]byte{bytes.Clone(good.Proofs[0])}
		c.Proofs[0][len(c.Proofs[0])-4] ^= 1
		if r := keys.Verify(&c); r.Verdict != "rejected" || r.Check == "" {
			t.Errorf("a changed proof: %+v", r)
		}
		c.Proofs[0] = c.Proofs[0][:len(c.Proofs[0])/2]
		if r := keys.Verify(&c); r.Verdict != "malformed" {
			t.Errorf("half a proof: %+v", r)
		}
		c.Proofs = nil
		if r := keys.Verify(&c); r.Verdict != "malformed" {
			t.Errorf("no proof: %+v", r)
		}
	}
	var committed Case
	for _, mode := range []zkml.Mode{zkml.Committed, zkml.PublicWeights} {
		vk, pk, err := prover.Setup(q, p, w, &prover.SetupOptions{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		r, err := prover.Prove(q, pk, x, &prover.Options{Context: context})
		if err != nil {
			t.Fatal(err)
		}
		c := Case{Key: vk.Encode(), Input: input, Answer: answer(r.Y), Proofs: [][]byte{r.Proof}, Context: context}
		full, err := pk.Encode()
		if err != nil {
			t.Fatal(err)
		}
		wrong := c
		if mode == zkml.PublicWeights {
			check("without the weights", wrong, "malformed", "", "public weights, which are in the proving key")
			c.Key = full
		} else {
			wrong.Key = full
			check("the owner's key", wrong, "malformed", "", "for its owner only")
			committed = c
		}
		cheat(t, c, r.Y)
		if k := keys.Read(c.Key); k.Problem != "" || k.Parts != 1 || k.Parameters != 36 || !slices.Equal(k.Picture, []int{1, 2, 3}) || k.Mode != mode.String() ||
			k.Takes != "x 1×1×2×3" || k.Gives != "y 1×3" || len(k.Terms) == 0 || keys.Read(c.Key) != k {
			t.Errorf("%v: key %+v", mode, k)
		}
		if mode == zkml.PublicWeights {
			c.Proofs = committed.Proofs
			check("the proof of another key", c, "rejected", zkml.CheckKeyDigest, "")
		}
	}
	broken := committed
	broken.Key = bytes.Clone(committed.Key)
	broken.Key[len(broken.Key)-1] ^= 1 // of the key's own proof, which its digest does not cover
	check("a key whose own proof is none", broken, "rejected", zkml.CheckKeyProof, "")
	broken.Key = committed.Key[:100]
	check("half a key", broken, "malformed", "", "key: ")

	vk, pk, err := prover.Setup(q, p, w, &prover.SetupOptions{Commits: zkml.Commits{Inputs: []int{0}}})
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := prover.Prove(q, pk, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	secret := Case{Key: vk.Encode(), Answer: answer(hidden.Y), Proofs: [][]byte{hidden.Proof}, Commitments: files("x.commitment", hidden.Statement.Commitments[0].Encode())}
	if r := check("a committed input", secret, "accepted", "", ""); len(r.Committed) != 1 || !strings.Contains(r.Committed[0].Of, "x") || len(r.Committed[0].File) != 64 || r.Input != "" {
		t.Errorf("report %+v", r)
	}
	if k := keys.Read(secret.Key); k.Needs.Input || !k.Needs.Answer || len(k.Needs.Commitments) != 1 || k.Picture != nil {
		t.Errorf("the key needs %+v", k.Needs)
	}
	again, err := prover.Prove(q, pk, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := secret
	other.Commitments = files("x.commitment", again.Statement.Commitments[0].Encode()) // of the same values, with another salt
	check("another commitment", other, "rejected", zkml.CheckInputBind, "another commitment")
	other.Commitments = nil
	check("no commitment", other, "malformed", "", `no commitment and no opening of input "x", want input "x"`)
	other.Commitments = files("half", secret.Commitments[0].Data[:20])
	check("half a commitment", other, "malformed", "", "half: malformed encoding: commitment: ")
	other = committed
	other.Commitments = secret.Commitments
	check("a commitment too many", other, "malformed", "", "x.commitment is one commitment too many, want none")

	vk, pk, err = prover.Setup(q, p, w, &prover.SetupOptions{Commits: zkml.Commits{Inputs: []int{0}, Outputs: []int{0}}})
	if err != nil {
		t.Fatal(err)
	}
	if hidden, err = prover.Prove(q, pk, x, nil); err != nil {
		t.Fatal(err)
	}
	sides := hidden.Statement.Commitments
	secret = Case{Key: vk.Encode(), Proofs: [][]byte{hidden.Proof}, Commitments: files("any", sides[1].Encode(), "name", sides[0].Encode())}
	if r := check("commitments in any order", secret, "accepted", "", ""); len(r.Committed) != 2 || r.Committed[0].File != digestText(sides[0].Encode()) || r.Answer != nil {
		t.Errorf("report %+v", r)
	}
	secret.Commitments[0] = secret.Commitments[1]
	check("one commitment twice", secret, "malformed", "", `name and name are both of input "x"`)
	// Openings are as good, and a commitment beside one must be its own.
	secret.Commitments = files("y", sides[1].Encode())
	secret.Openings = files("x", hidden.Openings[0].Encode())
	r0 := check("an opening", secret, "accepted", "", "")
	if len(r0.Committed) != 2 || len(r0.Committed[0].Opened) != 6 || r0.Committed[0].Opened[5] != 1 || r0.Committed[1].Opened != nil {
		t.Errorf("report %+v", r0)
	}
	secret.Commitments = nil
	check("an opening alone", secret, "malformed", "", "no commitment and no opening of output")
	secret.Openings = files("x", hidden.Openings[0].Encode(), "y", hidden.Openings[1].Encode())
	check("openings", secret, "accepted", "", "")
	secret.Commitments = files("y", sides[1].Encode(), "x", again.Statement.Commitments[0].Encode())
	check("another opening's commitment", secret, "rejected", zkml.CheckInputBind, "another commitment than the one given")
	secret.Commitments = nil
	bad := *hidden.Openings[1]
	bad.Salt[3] ^= 1
	secret.Openings = files("x", hidden.Openings[0].Encode(), "y", bad.Encode())
	check("an opening under another salt", secret, "rejected", zkml.CheckOutputBind, "")
	bad = *hidden.Openings[1]
	bad.Format[0] ^= 1
	secret.Openings[1].Data = bad.Encode()
	check("an opening of something else", secret, "rejected", zkml.CheckInput, "nothing that the key has committed has")
	secret.Openings[1].Data = secret.Openings[1].Data[:50]
	check("half an opening", secret, "malformed", "", "y: malformed encoding: opening: ")

	cut, err := chunks.Cut(p, w, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	chain, pks, err := chunkprover.Setup(q, cut, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := chunkprover.Prove(t.Context(), []*device.Device{dev}, chain, pks, x, &chunkprover.Options{Context: context})
	if err != nil {
		t.Fatal(err)
	}
	c := Case{Key: chain.Encode(), Input: input, Answer: answer(r.Y), Proofs: [][]byte{r.Proof.Encode()}, Context: context}
	cheat(t, c, r.Y)
	if k := keys.Read(c.Key); k.Parts != 2 || k.Parameters != 36 || !slices.Equal(k.Picture, []int{1, 2, 3}) || len(k.Terms) != 0 {
		t.Errorf("the chain's key: %+v", k)
	}
	if err := errors.Join(cut.CommitInput("x"), cut.CommitOutput(p.Tensor(p.Outputs[0]).Name)); err != nil {
		t.Fatal(err)
	}
	cut.CommitBoundaries()
	dark, darkKeys, err := chunkprover.Setup(q, cut, nil)
	if err != nil {
		t.Fatal(err)
	}
	unseen, err := chunkprover.Prove(t.Context(), []*device.Device{dev}, dark, darkKeys, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	ends := unseen.Statement.Commitments
	secret = Case{Key: dark.Encode(), Proofs: [][]byte{unseen.Proof.Encode()}, Commitments: files("b", ends[1].Encode(), "a", ends[0].Encode())}
	if r := check("a chain's commitments in any order", secret, "accepted", "", ""); len(r.Committed) != 2 || r.Committed[0].File != digestText(ends[0].Encode()) || r.Answer != nil {
		t.Errorf("report %+v", r)
	}
	secret.Openings = files("a", unseen.Openings[0].Encode())
	check("a chain's opening", secret, "accepted", "", "")
	secret.Openings = nil
	secret.Commitments[0].Data = hidden.Statement.Commitments[1].Encode()
	check("a chain's output under another root", secret, "rejected", zkml.CheckOutputBind, "part 2")
	secret.Commitments = secret.Commitments[:1]
	check("a commitment less", secret, "malformed", "", `no commitment and no opening of input "x"`)

	c.Proofs = nil
	for k := range 2 {
		c.Proofs = append(c.Proofs, (&chunks.PartProof{Chain: chain.Digest(), Part: 1 - k, Y: r.Proof.Y[1-k], Proof: r.Proof.Proofs[1-k]}).Encode())
	}
	check("parts in any order", c, "accepted", "", "")
	c.Proofs = c.Proofs[:1]
	check("a part alone", c, "malformed", "", "part")
	c.Proofs = append(c.Proofs, committed.Proofs...)
	check("a part and the proof of a program", c, "malformed", "", "2 files")
	committed.Proofs = append(committed.Proofs, committed.Proofs[0])
	check("two proofs", committed, "malformed", "", "2 files")

	for want, files := range map[Role][][]byte{
		RoleKey:        {c.Key, committed.Key, []byte(zkml.MagicProvingKey)},
		RoleInput:      {input, []byte(`{"input_data": [[1]]}`), []byte("\x93NUMPY..."), []byte("PK\x03\x04...")},
		RolePicture:    {[]byte("\xff\xd8\xff\xe0..."), []byte("GIF89a"), []byte("RIFF....WEBPVP8 ")},
		RoleAnswer:     {committed.Answer},
		RoleProof:      {committed.Proofs[0], c.Proofs[0], r.Proof.Encode()},
		RoleCommitment: {sides[0].Encode()},
		RoleOpened:     {hidden.Openings[0].Encode()},
		RoleOpening:    {[]byte("ZKWWPRF\n")},
		RoleNone:       {nil, []byte("text"), []byte("RIFF")},
	} {
		for _, f := range files {
			if got := RoleOf(f); got != want {
				t.Errorf("%.12q is taken for %q, want %q", f, got, want)
			}
		}
	}
}
