package prover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
	"github.com/zkwarp/zkwarp/zkml/prover"
)

// proved is a chain with a proof.
type proved struct {
	c      *zkmltest.Case
	chain  *chunks.Chain
	keys   []*prover.ProvingKey
	result *Result
}

// simulated is the CPU as n devices.
func simulated(t testing.TB, n int) []*device.Device {
	t.Helper()
	devices := make([]*device.Device, n)
	for i := range devices {
		devices[i] = devicetest.Open(t, "cpu")
	}
	return devices
}

// made proves a decoder in three parts on two devices.
func made(t *testing.T) *proved {
	t.Helper()
	p := &proved{c: zkmltest.Decoder(1, 4, 8, 2, true)}
	n := len(p.c.Program.Ops)
	cutting, err := chunks.Cut(p.c.Program, p.c.Weights, []int{n / 3, 2 * n / 3})
	if err != nil {
		t.Fatal(err)
	}
	devices := simulated(t, 2)
	if p.chain, p.keys, err = Setup(devicetest.Queue(t, devices[0]), cutting, nil); err != nil {
		t.Fatal(err)
	}
	if p.result, err = Prove(context.Background(), devices, p.chain, p.keys, p.c.X, &Options{Context: []byte("a")}); err != nil {
		t.Fatal(err)
	}
	return p
}

func copied(p *chunks.Proof) *chunks.Proof {
	q := new(chunks.Proof)
	for k := range p.Y {
		q.Y, q.Roots, q.Proofs = append(q.Y, slices.Clone(p.Y[k])), append(q.Roots, slices.Clone(p.Roots[k])), append(q.Proofs, slices.Clone(p.Proofs[k]))
	}
	return q
}

// TestSecurity makes a chain of keys that are each good for a single program: together they are not, and no proof of it is looked at.
func TestSecurity(t *testing.T) {
	p := made(t)
	if bits := p.chain.Security(); bits < zkml.MinSecurity {
		t.Errorf("%.2f bits for the chain", bits)
	}
	c := p.c
	cutting, err := chunks.Cut(c.Program, c.Weights, []int{len(c.Program.Ops) / 3, 2 * len(c.Program.Ops) / 3})
	if err != nil {
		t.Fatal(err)
	}
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	var keys []*zkml.VerifyingKey
	var inputs [][]chunks.Source
	for _, part := range cutting.Parts {
		vk, _, err := prover.Setup(q, part.Program, part.Weights, nil)
		if err != nil {
			t.Fatal(err)
		}
		keys, inputs = append(keys, vk), append(inputs, part.Inputs)
	}
	weak, err := chunks.NewChain(keys, inputs, cutting.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	if weak.Security() >= zkml.MinSecurity {
		t.Fatalf("%.2f bits: the keys have bits to spare, the test needs others", weak.Security())
	}
	err = chunks.Verify(weak, c.X, p.result.Y, p.result.Proof, &chunks.Options{Context: []byte("a")})
	if zkml.FailedCheck(err) != zkml.CheckSecurity {
		t.Errorf("a chain of %.2f bits: %v", weak.Security(), err)
	}
}

// TestChain proves a chain and tries to pass off others: each is rejected by the check that is meant for it.
func TestChain(t *testing.T) {
	p := made(t)
	opts := &chunks.Options{Context: []byte("a")}
	x, y := p.c.X, p.result.Y
	if err := chunks.Verify(p.chain, x, y, p.result.Proof, opts); err != nil {
		t.Fatal(err)
	}
	one, err := Prove(context.Background(), simulated(t, 1), p.chain, p.keys, x, &Options{Context: []byte("a")})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Proof.Encode(), p.result.Proof.Encode()) {
		t.Error("the proof depends on the devices")
	}
	// A boundary that differs from what the part before proved: that part's proof is for another output, and with the part's own output
	// in place the next one's is for another input.
	boundary := copied(p.result.Proof)
	boundary.Y[0][0] ^= 1
	swapped := copied(p.result.Proof)
	swapped.Proofs[0], swapped.Proofs[1] = swapped.Proofs[1], swapped.Proofs[0]
	cut := copied(p.result.Proof)
	cut.Proofs, cut.Y, cut.Roots = cut.Proofs[:2], cut.Y[:2], cut.Roots[:2]
	// A prover that runs the second part honestly, on another input than the first part's output.
	forged := copied(p.result.Proof)
	reads := p.chain.Reads(1)
	if !slices.Equal(reads, []int{0}) {
		t.Fatalf("part 1 reads parts %v", reads)
	}
	lied := copied(p.result.Proof)
	program := p.keys[0].VerifyingKey().Program()
	for i := range lied.Y[0] {
		if lied.Y[0][i] != 0 {
			lied.Y[0][i] = 0
		}
	}
	if program.CheckOutput(lied.Y[0]) != nil {
		t.Fatal("zeros are no output of the first part")
	}
	in, err := p.chain.PartInput(1, x, lied.Y)
	if err != nil {
		t.Fatal(err)
	}
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	own, err := prover.Prove(q, p.keys[1], in, &prover.Options{Context: p.chain.Context(1, []byte("a"))})
	if err != nil {
		t.Fatal(err)
	}
	forged.Y[1], forged.Proofs[1] = own.Y, own.Proof
	for _, k := range []struct {
		name  string
		x, y  []int32
		proof *chunks.Proof
		opts  *chunks.Options
		check string
	}{
		{"another boundary", x, y, boundary, opts, zkml.CheckOutputBind},
		{"a part on another input", x, y, forged, opts, zkml.CheckInputBind},
		{"parts in another order", x, y, swapped, opts, zkml.CheckKeyDigest},
		{"a part less", x, y, cut, opts, zkml.CheckFormat},
		{"no proof", x, y, nil, opts, zkml.CheckFormat},
		{"another input", append([]int32{x[0] ^ 1}, x[1:]...), y, p.result.Proof, opts, zkml.CheckInputBind},
		{"another output", x, append([]int32{y[0] ^ 1}, y[1:]...), p.result.Proof, opts, zkml.CheckOutputBind},
		{"an output less", x, y[:len(y)-1], p.result.Proof, opts, zkml.CheckOutputBind},
		{"an output more", x, append(slices.Clone(y), 0), p.result.Proof, opts, zkml.CheckOutputBind},
	} {
		var rejection *zkml.Rejection
		if err := chunks.Verify(p.chain, k.x, k.y, k.proof, k.opts); !errors.As(err, &rejection) || rejection.Check != k.check {
			t.Errorf("%s: %v, expected %q", k.name, err, k.check)
		}
	}
	if err := chunks.Verify(p.chain, x, y, p.result.Proof, nil); !errors.Is(err, zkml.ErrRejected) {
		t.Errorf("another context: %v", err)
	}
	// Parts are verified side by side; the first that fails is reported.
	spoiled := copied(p.result.Proof)
	for k := 2; k >= 0; k-- {
		spoiled.Proofs[k] = spoiled.Proofs[k][:len(spoiled.Proofs[k])-1]
		want := fmt.Sprintf("chain: part %d of 3: ", k+1)
		if err := chunks.Verify(p.chain, x, y, spoiled, opts); zkml.FailedCheck(err) != zkml.CheckFormat || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("parts from %d on are spoiled: %v, expected %q", k+1, err, want)
		}
	}
	// A proof of the same part outside the chain does not hold in it.
	first, err := p.chain.PartInput(0, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := prover.Prove(q, p.keys[0], first, nil)
	if err != nil {
		t.Fatal(err)
	}
	outside := copied(p.result.Proof)
	outside.Proofs[0] = alone.Proof
	if err := chunks.Verify(p.chain, x, y, outside, opts); !errors.Is(err, zkml.ErrRejected) {
		t.Errorf("a proof from outside: %v", err)
	}

	t.Run("encodings", func(t *testing.T) {
		data := p.chain.Encode()
		chain, err := chunks.DecodeChain(data)
		if err != nil {
			t.Fatal(err)
		}
		if chain.Digest() != p.chain.Digest() || !bytes.Equal(chain.Encode(), data) {
			t.Error("the chain changed on its way")
		}
		code := p.result.Proof.Encode()
		proof, err := chunks.DecodeProof(code)
		if err != nil {
			t.Fatal(err)
		}
		if err := chunks.Verify(chain, x, y, proof, opts); err != nil {
			t.Error(err)
		}
		for n := 0; n < len(code); n += 1 + n/8 {
			if _, err := chunks.DecodeProof(code[:n]); err == nil {
				t.Errorf("the first %d bytes are a proof", n)
			}
		}
		for n := 0; n < len(data); n += 1 + n/8 {
			if _, err := chunks.DecodeChain(data[:n]); err == nil {
				t.Errorf("the first %d bytes are a chain", n)
			}
		}
		if _, err := chunks.DecodeProof(append(code, 0)); err == nil {
			t.Error("a byte too many")
		}
	})

	t.Run("wiring", func(t *testing.T) {
		keys := p.chain.Keys()
		two := keys[:1]
		for _, k := range []struct {
			name    string
			inputs  [][]chunks.Source
			outputs []chunks.Source
			want    string
		}{
			{"missing part", [][]chunks.Source{}, nil, "wiring of 0 parts"},
			{"itself", [][]chunks.Source{{{Part: 0}}}, nil, "does not exist before it"},
			{"later", [][]chunks.Source{{{Part: 1}}}, nil, "does not exist before it"},
			{"skipped input", [][]chunks.Source{{{Part: -1, Index: 1}}}, nil, "no part reads input 0"},
			{"too many", [][]chunks.Source{{{Part: -1}, {Part: -1}}}, nil, "wiring of 2 inputs"},
			{"no output", [][]chunks.Source{{{Part: -1}}}, nil, "no outputs"},
			{"bad output", [][]chunks.Source{{{Part: -1}}}, []chunks.Source{{Part: 0, Index: 99}}, "does not exist"},
			{"output twice", [][]chunks.Source{{{Part: -1}}}, []chunks.Source{{Part: 0}, {Part: 0}}, "listed twice"},
		} {
			if _, err := chunks.NewChain(two, k.inputs, k.outputs); err == nil || !strings.Contains(err.Error(), k.want) {
				t.Errorf("%s: %v, expected %q", k.name, err, k.want)
			}
		}
	})
}

// BenchmarkVerify verifies one part with the scores of a language model: 64 rows of 50257.
func BenchmarkVerify(b *testing.B) {
	c := zkmltest.Product(1, 64, 4, 50257, false)
	q := devicetest.Queue(b, devicetest.Open(b, "cpu"))
	vk, pk, err := prover.Setup(q, c.Program, c.Weights, nil)
	if err != nil {
		b.Fatal(err)
	}
	chain, err := chunks.Link([]*zkml.VerifyingKey{vk})
	if err != nil {
		b.Fatal(err)
	}
	r, err := prover.Prove(q, pk, c.X, &prover.Options{Context: chain.Context(0, nil)})
	if err != nil {
		b.Fatal(err)
	}
	proof := &chunks.Proof{Y: [][]int32{r.Y}, Roots: make([][]merkle.Digest, 1), Proofs: [][]byte{r.Proof}}
	y := slices.Clone(r.Y) // as read from another file
	for b.Loop() {
		if err := chunks.Verify(chain, c.X, y, proof, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// TestErrors sees that errors of all devices come back, and that parts behind a failed one are not begun.
func TestErrors(t *testing.T) {
	p := made(t)
	devices := simulated(t, 2)
	if _, err := On(devices, nil, nil); !errors.Is(err, zkml.ErrMissing) {
		t.Errorf("no chain: %v", err)
	}
	for _, d := range devices {
		d.SetBudget(1)
		t.Cleanup(func() { d.SetBudget(0) })
	}
	begun := 0 // by the one device that has part 0; the other waits for it
	_, err := Prove(context.Background(), devices, p.chain, p.keys, p.c.X, &Options{Progress: func(int, *device.Device, bool) { begun++ }})
	if !errors.Is(err, device.ErrNoMemory) || !strings.Contains(err.Error(), "part 1 of 3 (") || begun != 2 {
		t.Errorf("%v after %d calls", err, begun)
	}
	if _, err := Prove(context.Background(), devices, p.chain, p.keys[:1], p.c.X, nil); err == nil {
		t.Error("a key is missing")
	}
	for _, d := range devices {
		d.SetBudget(0)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Prove(ctx, simulated(t, 2), p.chain, p.keys, p.c.X, nil); err == nil {
		t.Error("a cancelled proof succeeded")
	}
}

// TestGPUs proves a chain on all GPUs at once: the bytes are those of the CPU, and every GPU takes part.
func TestGPUs(t *testing.T) {
	devicetest.Open(t, "cuda") // or skip
	gpus, err := device.OpenList("cuda:all")
	if err != nil {
		t.Fatal(err)
	}
	c := zkmltest.Decoder(2, 16, 64, 4, true)
	var before []int
	for at, parts := 1, 2*len(gpus)+1; at < parts; at++ {
		before = append(before, at*len(c.Program.Ops)/parts)
	}
	cutting, err := chunks.Cut(c.Program, c.Weights, before)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("public boundaries", func(t *testing.T) { onGPUs(t, gpus, cutting, c.X) })
	cutting.CommitBoundaries()
	t.Run("committed boundaries", func(t *testing.T) { onGPUs(t, gpus, cutting, c.X) })
}

// onGPUs proves a cutting on all GPUs and compares with the CPU.
func onGPUs(t *testing.T, gpus []*device.Device, cutting *chunks.Cutting, x []int32) {
	t.Helper()
	chain, keys, err := Setup(devicetest.Queue(t, gpus[0]), cutting, nil)
	if err != nil {
		t.Fatal(err)
	}
	opts := &Options{Seed: seed(1)}
	want, err := Prove(t.Context(), simulated(t, 1), chain, keys, x, opts)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // the first time kernels are compiled
		got, err := Prove(t.Context(), gpus, chain, keys, x, opts)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Proof.Encode(), want.Proof.Encode()) {
			t.Error("the proof is not the CPU's")
		}
		if err := chunks.Verify(chain, x, got.Y, got.Proof, nil); err != nil {
			t.Error(err)
		}
		for _, r := range got.Devices {
			if len(r.Parts) == 0 {
				t.Errorf("%s proved nothing", r.Name)
			}
			t.Logf("%s: parts %v, proofs %v, waited %v, needs up to %d MiB of %d", r.Name, r.Parts, r.Busy, r.Waited, r.Need>>20, r.Memory>>20)
		}
	}
}

func TestAssign(t *testing.T) {
	for _, k := range []struct {
		need, memory []int64
		want         []int
		warnings     int
	}{
		{[]int64{5, 9, 5, 9}, []int64{100, 100}, []int{0, 0, 1, 1}, 0},
		{[]int64{1, 1, 1, 1}, []int64{0, 0}, []int{0, 1, 0, 1}, 0},
		{[]int64{10, 20, 30}, []int64{25, 100}, []int{1, 1, 1}, 0},
		{[]int64{200, 1}, []int64{10, 100}, []int{1, 0}, 1},
		{[]int64{200, 1, 50}, []int64{100, 20}, []int{0, 1, 1}, 1},
	} {
		a, err := Assign(k.need, k.memory)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Device, k.want) || len(a.Warnings) != k.warnings {
			t.Errorf("Assign(%v, %v) = %v with %v, expected %v", k.need, k.memory, a.Device, a.Warnings, k.want)
		}
	}
	if _, err := Assign([]int64{1}, nil); err == nil {
		t.Error("no devices")
	}
}

// TestBounds joins programs that were calibrated one by one: a part takes what has narrower bounds than its input, and nothing else.
func TestBounds(t *testing.T) {
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	sum := func(bound, factor int64, scale float64) *prover.ProvingKey {
		b := graph.NewBuilder("sum")
		x := b.Input("x", []int{2, 3}, -bound, bound-1, scale)
		program, weights, err := b.BuildAll([]graph.TensorID{b.Linear("y", []graph.Term{{Coef: factor, T: x}}, 0, scale)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, pk, err := prover.Setup(q, program, weights, &prover.SetupOptions{Security: chunks.PartSecurity(zkml.MinSecurity, 2)})
		if err != nil {
			t.Fatal(err)
		}
		return pk
	}
	first := sum(8, 3, 1) // gives [-24, 21]
	wiring, outputs := [][]chunks.Source{{{Part: -1}}, {{Part: 0}}}, []chunks.Source{{Part: 1}}
	join := func(second *prover.ProvingKey) (*chunks.Chain, error) {
		return chunks.NewChain([]*zkml.VerifyingKey{first.VerifyingKey(), second.VerifyingKey()}, wiring, outputs)
	}
	for _, k := range []struct {
		name   string
		second *prover.ProvingKey
		want   string
	}{
		{"narrower", sum(16, 1, 1), "part 2, input 0: shape [2 3], bounds [-16, 15], scale 1, expected [2 3], at least [-24, 21], 1 as \"y\" has"},
		{"another scale", sum(32, 1, 0.5), "bounds [-32, 31], scale 0.5, expected [2 3], at least [-24, 21], 1 as"},
	} {
		if _, err := join(k.second); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v, expected %q", k.name, err, k.want)
		}
	}
	second := sum(32, 5, 1)
	chain, err := join(second)
	if err != nil {
		t.Fatal(err)
	}
	keys := []*prover.ProvingKey{first, second}
	x := []int32{-8, 7, 0, 1, 2, 3}
	result, err := Prove(t.Context(), simulated(t, 1), chain, keys, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := chunks.Verify(chain, x, result.Y, result.Proof, nil); err != nil || result.Y[0] != -120 {
		t.Errorf("%v, %v", result.Y, err)
	}
	beyond := copied(result.Proof) // the second part takes it, the first one cannot give it
	beyond.Y[0][0] = -32
	if err := chunks.Verify(chain, x, result.Y, beyond, nil); zkml.FailedCheck(err) != zkml.CheckOutput {
		t.Errorf("a boundary beyond what the first part gives: %v", err)
	}
}
