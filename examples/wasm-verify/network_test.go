package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/examples/models"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// network is cnn-264k with its keys, and two of its held-out pictures.
type network struct {
	q        *device.Queue
	vk       *zkml.VerifyingKey
	pk       *prover.ProvingKey
	pictures [2]*image.RGBA
}

func cnn(t *testing.T) *network {
	t.Helper()
	n, err := models.Open(models.Embedded, "cnn-264k")
	if err != nil {
		t.Fatal(err)
	}
	data, err := n.ONNX(n.Files[0].File)
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Parse(data, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := n.Set()
	if err != nil {
		t.Fatal(err)
	}
	var about struct{ Classes []string }
	text, err := models.Embedded.ReadFile("data/emoji.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &about); err != nil {
		t.Fatal(err)
	}
	c, _, err := quant.Calibrate(m, set.Calibration[:16], quant.Options{Labels: about.Classes})
	if err != nil {
		t.Fatal(err)
	}
	p, w, err := quant.Build(m, c)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	out := &network{}
	if out.q, err = dev.NewQueue(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.q.Close() })
	if out.vk, out.pk, err = prover.Setup(out.q, p, w, nil); err != nil {
		t.Fatal(err)
	}
	for k := range out.pictures {
		picture := image.NewRGBA(image.Rect(0, 0, 32, 32))
		for i := range 32 * 32 {
			at := func(c int) uint8 { return uint8(set.Inputs[k][c*32*32+i]*255 + 0.5) }
			picture.Set(i%32, i/32, color.RGBA{at(0), at(1), at(2), 255})
		}
		out.pictures[k] = picture
	}
	return out
}

// prove returns the answer's file and the proof for an input's file, read as zkwarp prove reads it.
func (n *network) prove(t *testing.T, input []byte) (answer, proof []byte) {
	t.Helper()
	x, err := zkmlfile.ReadInput(n.vk.Program(), input)
	if err != nil {
		t.Fatal(err)
	}
	r, err := prover.Prove(n.q, n.pk, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := zkmlfile.NewAnswer(n.vk.Program(), r.Y)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err = a.Encode(); err != nil {
		t.Fatal(err)
	}
	return answer, r.Proof
}

// testNetwork makes a photograph out of a picture. The page makes the network's input out of it, which is proved here from the bytes that
// the page would save; the page has to accept that for the photograph and for those bytes, and nothing else.
func testNetwork(t *testing.T, b *browser) {
	n := cnn(t)
	large := image.NewRGBA(image.Rect(0, 0, 100, 80))
	for y := range 80 {
		for x := range 100 {
			large.Set(x, y, n.pictures[0].At(x*32/100, y*32/80))
		}
	}
	var photo, other bytes.Buffer
	if err := jpeg.Encode(&photo, large, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&other, n.pictures[1]); err != nil {
		t.Fatal(err)
	}
	photoFile, key := file(t, "photo.jpg", photo.Bytes()), file(t, "cnn.vk", n.vk.Encode())
	b.add(key, photoFile)
	b.wait("the key", func() bool { return strings.Contains(b.text("state"), "Missing") })
	if got := b.text("key"); !strings.Contains(got, fmt.Sprintf("%x", n.vk.Digest())) || !strings.Contains(got, "3×32×32") {
		t.Errorf("the key is described as %s", got)
	}
	if got := b.text("state"); got != "Ready. Missing: answer, proof." {
		t.Errorf("the page says: %s", got)
	}
	if got := b.text("drawn"); !strings.HasPrefix(got, "photo.jpg, 100 × 80 pixels, drawn as 32 × 32.") {
		t.Errorf("the page says of the picture: %s", got)
	}
	input, err := base64.StdEncoding.DecodeString(b.js("return btoa(String.fromCharCode(...slots.input.bytes))"))
	if err != nil {
		t.Fatal(err)
	}
	answer, proof := n.prove(t, input)
	var said zkmlfile.Answer
	if err := json.Unmarshal(answer, &said); err != nil {
		t.Fatal(err)
	}

	const accepted = "Accepted: the network in the key gives this answer for this input"
	expect := func(what, verdict string) {
		t.Helper()
		if got := b.text("verdict"); got != verdict {
			t.Errorf("%s: %s (%s), want %s", what, got, b.text("reason"), verdict)
		}
	}
	b.choose(file(t, "photo.out.json", answer), file(t, "photo.proof", proof))
	expect("the photograph", accepted)
	if got := b.text("about"); said.Label == "" || !strings.Contains(got, said.Label) || !strings.Contains(got, "All errors together") {
		t.Errorf("the page does not show the answer %q and the security: %s", said.Label, got)
	}
	t.Log(b.text("reason"))
	screenshot(t, b, "network")

	b.clear()
	b.click("#tamper")
	b.wait("a verdict", func() bool { return b.text("verdict") != "" })
	if got := b.text("verdict"); !strings.HasPrefix(got, "Rejected by the check: opening of ") {
		t.Errorf("after the button: %s (%s)", got, b.text("reason"))
	}
	bad := bytes.Clone(proof)
	bad[120] ^= 1 // in the first commitment
	b.choose(file(t, "tampered.proof", bad))
	if got := b.text("verdict"); !strings.HasPrefix(got, "Rejected by the check: ") {
		t.Errorf("another commitment: %s (%s)", got, b.text("reason"))
	}
	b.choose(file(t, "photo.proof", proof))
	expect("the proof again", accepted)

	b.choose(file(t, "other.png", other.Bytes()))
	expect("another picture", "Rejected by the check: "+zkml.CheckInputBind)
	if got := b.text("drawn"); got != "other.png, 32 × 32 pixels, as it is." {
		t.Errorf("the page says of a PNG: %s", got)
	}
	b.choose(file(t, "input.png", input))
	expect("the PNG that the page made", accepted)

	// Another answer: in its integers, and in what people read alone.
	lie := said
	lie.Values = slices.Clone(said.Values)
	lie.Values[0], lie.Values[1] = lie.Values[1]+1, lie.Values[0]
	text, err := lie.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b.choose(file(t, "lie.out.json", text))
	expect("an answer for readers alone", "Rejected by the check: answer")
	y := slices.Clone(said.OutputData[0])
	y[0]--
	a, err := zkmlfile.NewAnswer(n.vk.Program(), y)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = a.Encode(); err != nil {
		t.Fatal(err)
	}
	b.choose(file(t, "lie.out.json", text))
	expect("another answer", "Rejected by the check: "+zkml.CheckOutputBind)
	if got := b.text("about"); !strings.Contains(got, "Claimed") {
		t.Errorf("the page shows a rejected answer as %s", got)
	}
	b.choose(file(t, "photo.out.json", answer), file(t, "short.proof", proof[:1000]))
	expect("a proof cut short", "These files are not an answer with its proof")
	testCommitted(t, b, n.q)
}

// testCommitted has a key that has its input committed: a commitment takes the place of the input.
func testCommitted(t *testing.T, b *browser, q *device.Queue) {
	g := graph.NewBuilder("secret")
	x := g.Input("x", []int{1, 4}, -128, 127, 1)
	p, w, err := g.Build(g.MatMul("y", x, g.Param("w", []int{4, 2}, []int32{1, -2, 3, 4, -5, 6, 7, 8}, 1), false, 1), graph.NoPost, []string{"no", "yes"})
	if err != nil {
		t.Fatal(err)
	}
	vk, pk, err := prover.Setup(q, p, w, &prover.SetupOptions{Commits: zkml.Commits{Inputs: []int{0}}})
	if err != nil {
		t.Fatal(err)
	}
	var made [2]*prover.Result // with two salts
	for i := range made {
		if made[i], err = prover.Prove(q, pk, []int32{1, -7, 100, 3}, nil); err != nil {
			t.Fatal(err)
		}
	}
	a, err := zkmlfile.NewAnswer(p, made[0].Y)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	commitment := func(i int) string { return file(t, "x.commitment", made[i].Statement.Commitments[0].Encode()) }
	b.add(file(t, "secret.vk", vk.Encode()), file(t, "secret.out.json", answer), file(t, "secret.proof", made[0].Proof))
	b.wait("what is missing", func() bool { return b.text("state") == "Ready. Missing: commitments." })
	b.choose(commitment(0))
	if got, about := b.text("verdict"), b.text("about"); got != "Accepted: the network in the key gives this for what is committed" || !strings.Contains(about, "yes") {
		t.Errorf("a committed input: %s (%s): %s", got, b.text("reason"), about)
	}
	b.choose(commitment(1))
	if got := b.text("verdict"); got != "Rejected by the check: "+zkml.CheckInputBind {
		t.Errorf("another commitment: %s (%s)", got, b.text("reason"))
	}
	b.choose(file(t, "half.vk", vk.Encode()[:200]))
	if got := b.text("verdict"); got != "These files are not an answer with its proof" || !strings.HasPrefix(b.text("reason"), "key: ") {
		t.Errorf("half a key: %s (%s)", got, b.text("reason"))
	}
}

// testAlike has the page verify a network of which everything is committed in one format, so that names say which file is of what.
func testAlike(t *testing.T, b *browser) {
	g := graph.NewBuilder("difference")
	x, y := g.Input("left", []int{4}, -50, 50, 0.5), g.Input("right", []int{4}, -50, 50, 0.5)
	p, w, err := g.BuildAll([]graph.TensorID{g.Linear("difference", []graph.Term{{Coef: 1, T: x}, {Coef: -1, T: y}}, 0, 0.5)}, nil)
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
	code := func(i int) []byte { return r.Statement.Commitments[i].Encode() }
	expect := func(what, verdict string) {
		t.Helper()
		if got := b.text("verdict"); got != verdict {
			t.Errorf("%s: %s (%s), want %s", what, got, b.text("reason"), verdict)
		}
	}
	const accepted = "Accepted: the network in the key gives this for what is committed"
	b.add(file(t, "d.vk", vk.Encode()), file(t, "d.proof", r.Proof))
	b.wait("the key", func() bool { return b.text("state") == "Ready. Missing: commitments." })
	b.choose(file(t, "d.difference.commitment", code(2)), file(t, "d.left.commitment", code(0)), file(t, "d.right.commitment", code(1)))
	expect("commitments by name", accepted)
	b.choose(file(t, "d.difference.commitment", code(2)), file(t, "d.left.commitment", code(1)), file(t, "d.right.commitment", code(0)))
	expect("two exchanged", "Rejected by the check: "+zkml.CheckInputBind)
	b.choose(file(t, "d.difference.commitment", code(2)), file(t, "one.commitment", code(0)), file(t, "d.right.commitment", code(1)))
	if got := b.text("reason"); !strings.Contains(got, `one.commitment could be of input "left" or input "right" or output "difference"`) {
		t.Errorf("one without a name: %s (%s)", b.text("verdict"), got)
	}
	b.choose(file(t, "d.left.commitment", code(0)), file(t, "d.right.commitment", code(1)), file(t, "d.difference.opening", r.Openings[2].Encode()))
	expect("an opening", accepted)
	if got := b.text("about"); !strings.Contains(got, "opened: -2.0000 -2.0000 -2.0000 -2.5000") {
		t.Errorf("the page does not show what was opened: %s", got)
	}
}
