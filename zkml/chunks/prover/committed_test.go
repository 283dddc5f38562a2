package prover

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
	"github.com/zkwarp/zkwarp/zkml/prover"
)

// net is a program of sums in three parts. All tensors have one shape, so that their commitments can be exchanged. The first part gives u and v, the
// second reads both and gives w and p, the third reads those, v and the inputs. Outputs are y, z and v.
func net(t *testing.T) *chunks.Cutting {
	t.Helper()
	b := graph.NewBuilder("net")
	sum := func(name string, terms ...graph.Term) graph.TensorID { return b.Linear(name, terms, 1, 1) }
	term := func(c int64, id graph.TensorID) graph.Term { return graph.Term{Coef: c, T: id} }
	x1, x2 := b.Input("a", []int{2, 5}, -128, 127, 1), b.Input("b", []int{2, 5}, -100, 99, 1)
	u, v := sum("u", term(1, x1), term(2, x2)), sum("v", term(1, x1), term(-1, x2))
	w, p := sum("w", term(1, u), term(-1, v)), sum("p", term(3, u))
	y, z := sum("y", term(1, w), term(1, p), term(1, v), term(1, x1)), sum("z", term(1, w), term(-2, x2))
	program, weights, err := b.BuildAll([]graph.TensorID{y, z, v}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := chunks.Cut(program, weights, []int{2, 4})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// netInput is an input of net.
func netInput(seed int32) (x []int32) {
	for i := range int32(20) {
		x = append(x, (i*37+seed*11)%100-50)
	}
	return x
}

// committedNet is net with its boundaries committed, the input a, and the outputs y and v. The input b and the output z are public.
func committedNet(t *testing.T) (*chunks.Chain, []*prover.ProvingKey) {
	t.Helper()
	c := net(t)
	c.CommitBoundaries()
	for _, err := range []error{c.CommitInput("a"), c.CommitOutput("y"), c.CommitOutput("v")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	chain, keys, err := Setup(devicetest.Queue(t, devicetest.Open(t, "cpu")), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return chain, keys
}

// seed is always the same.
func seed(n byte) *[32]byte { return &[32]byte{5: n} }

// TestCommits says what is committed, and sees that both ends of a wire are.
func TestCommits(t *testing.T) {
	c := net(t)
	commits := func() (out string) {
		for _, p := range c.Parts {
			out += fmt.Sprintf("%v%v", p.Commits.Inputs, p.Commits.Outputs)
		}
		return out
	}
	// Part 1 reads a and b and gives u, v; part 2 reads u, v and gives w, p; part 3 reads a, b, v, w, p and gives y, z.
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return nil }, "[][][][][][]"},
		{func() error { c.CommitBoundaries(); return nil }, "[][0][0][0 1][3 4][]"},
		{func() error { c.CommitBoundaries(); return nil }, "[][0][0][0 1][3 4][]"},
		{func() error { return c.CommitInput("b") }, "[1][0][0][0 1][1 3 4][]"},
		{func() error { return c.CommitOutput("v") }, "[1][0 1][0 1][0 1][1 2 3 4][]"},
		{func() error { return c.CommitOutput("z") }, "[1][0 1][0 1][0 1][1 2 3 4][1]"},
	} {
		if err := step.do(); err != nil || commits() != step.want {
			t.Errorf("%s, %v, expected %s", commits(), err, step.want)
		}
	}
	for want, err := range map[string]error{`no input "y", the chain's are "a", "b"`: c.CommitInput("y"), `no output "w", the chain's are "y", "z", "v"`: c.CommitOutput("w")} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	if _, _, err := Setup(q, c, &prover.SetupOptions{Commits: zkml.Commits{Inputs: []int{0}}}); err == nil || !strings.Contains(err.Error(), "say themselves") {
		t.Errorf("commits in setup's options: %v", err)
	}
}

// TestCommittedChain proves a chain with committed boundaries, inputs and outputs on several devices, and finds statement and openings to be what
// they should be.
func TestCommittedChain(t *testing.T) {
	chain, keys := committedNet(t)
	x := netInput(1)
	opts := &Options{Context: []byte("a"), Seed: seed(1)}
	first, err := Prove(t.Context(), simulated(t, 2), chain, keys, x, opts)
	if err != nil {
		t.Fatal(err)
	}
	proof := first.Proof.Encode()
	if err := chunks.VerifyStatement(chain, &first.Statement, first.Proof, &chunks.Options{Context: []byte("a")}); err != nil {
		t.Fatal(err)
	}
	one, err := Prove(t.Context(), simulated(t, 1), chain, keys, x, opts)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Proof.Encode(), proof) {
		t.Error("another proof than on two devices")
	}
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	// The values of all parts, and what each of the committed tensors opens to.
	at := func(name string) (out []int32) {
		for i := range 10 {
			a, b := x[i], x[10+i]
			u, v := a+2*b+1, a-b+1
			w, p := u-v+1, 3*u+1
			out = append(out, map[string]int32{"a": a, "b": b, "v": v, "y": w + p + v + a + 1, "z": w - 2*b + 1}[name])
		}
		return out
	}
	list := chain.Committed()
	var names []string
	for i, o := range first.Openings {
		names = append(names, fmt.Sprintf("%s %d", &list[i], list[i].Index))
		if err := list[i].Check(o); err != nil || !slices.Equal(o.Values, at(list[i].Name)) {
			t.Errorf("%s opens to %v, %v", &list[i], o.Values, err)
		}
	}
	if want := []string{`input "a" 0`, `output "y" 0`, `output "v" 2`}; !slices.Equal(names, want) || len(first.Openings) != len(list) {
		t.Errorf("%v are committed, expected %v", names, want)
	}
	if s := first.Statement; !slices.Equal(s.X, at("b")) || !slices.Equal(s.Y, at("z")) || !slices.Equal(first.Y, slices.Concat(at("y"), at("z"), at("v"))) {
		t.Errorf("the statement has %v and %v", s.X, s.Y)
	}
	if in, out := chain.PublicInputs(), chain.PublicOutputs(); !slices.Equal(in, []int{1}) || !slices.Equal(out, []int{1}) {
		t.Errorf("public are %v and %v", in, out)
	}
	for k, roots := range first.Proof.Roots {
		if want := []int{2, 2, 1}[k]; len(roots) != want || len(first.Proof.Y[k]) != []int{0, 0, 10}[k] {
			t.Errorf("part %d: %d roots, %d public values", k+1, len(roots), len(first.Proof.Y[k]))
		}
	}
	// Whoever owns an input commits to it with any key that reads it, before there is a proof.
	own, err := list[0].Open(at("a"), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	commitment, err := prover.Commit(q, chain.Keys()[2], 0, own)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Prove(t.Context(), simulated(t, 1), chain, keys, x, &Options{Openings: []*zkml.Opening{own}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Statement.Commitments[0] != *commitment {
		t.Error("the commitment of an opening is not the statement's")
	}
	if err := chunks.VerifyStatement(chain, &r.Statement, r.Proof, nil); err != nil {
		t.Error(err)
	}
	again, err := Prove(t.Context(), simulated(t, 1), chain, keys, x, &Options{Openings: []*zkml.Opening{nil}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[32]byte]bool{}
	for _, r := range []*Result{first, r, again} {
		for _, o := range r.Openings {
			if seen[o.Salt] {
				t.Errorf("a salt is used twice")
			}
			seen[o.Salt] = true
		}
	}
	other, err := Prove(t.Context(), simulated(t, 1), chain, keys, netInput(2), opts)
	if err != nil {
		t.Fatal(err)
	}
	if other.Openings[0].Salt == first.Openings[0].Salt {
		t.Error("another input has the same salt under one seed")
	}
	for want, c := range map[string]struct {
		x []int32
		o []*zkml.Opening
	}{
		"other values than the input":        {netInput(2), []*zkml.Opening{own}},
		"2 openings":                         {x, []*zkml.Opening{own, nil}},
		"an opening of format":               {x, []*zkml.Opening{{Values: own.Values}}},
		"expected 20 for the chain's 2 inpu": {x[1:], nil},
	} {
		if _, err := Prove(t.Context(), simulated(t, 1), chain, keys, c.x, &Options{Openings: c.o}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}

	decodedChain, err := chunks.DecodeChain(chain.Encode())
	if err != nil || decodedChain.Digest() != chain.Digest() {
		t.Fatalf("the chain changed on its way: %v", err)
	}
	decodedProof, err := chunks.DecodeProof(proof)
	if err != nil {
		t.Fatal(err)
	}
	if err := chunks.VerifyStatement(decodedChain, &first.Statement, decodedProof, &chunks.Options{Context: []byte("a")}); err != nil {
		t.Error(err)
	}
	for n := 0; n < len(proof); n += 1 + n/8 {
		if _, err := chunks.DecodeProof(proof[:n]); err == nil {
			t.Errorf("the first %d bytes are a proof", n)
		}
	}
	word := bytes.Clone(proof)
	copy(word[24:], []byte{255, 255, 255, 127}) // of the first root
	if _, err := chunks.DecodeProof(word); err == nil || !strings.Contains(err.Error(), "root of a committed output") {
		t.Errorf("a root that is no digest: %v", err)
	}
}

// TestBoundariesCommitted has ends that are public and boundaries that are not: chunks.Verify takes such chains, and proofs have no value of a
// boundary. A network with lookups, on all devices.
func TestBoundariesCommitted(t *testing.T) {
	c := zkmltest.MLP(3, 2, 6, 7, 5)
	cutting, err := chunks.Cut(c.Program, c.Weights, []int{3})
	if err != nil {
		t.Fatal(err)
	}
	cutting.CommitBoundaries()
	cpu := devicetest.Open(t, "cpu")
	chain, keys, err := SetupOn([]*device.Queue{devicetest.Queue(t, cpu), devicetest.Queue(t, cpu)}, cutting, &prover.SetupOptions{Commitment: whir.Options{FoldWork: whir.NoWork, QueryWork: whir.NoWork}})
	if err != nil {
		t.Fatal(err)
	}
	var first []byte
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		r, err := Prove(t.Context(), []*device.Device{q.Device()}, chain, keys, c.X, &Options{Seed: seed(3)})
		if err != nil {
			t.Fatal(err)
		}
		if err := chunks.Verify(chain, c.X, r.Y, r.Proof, nil); err != nil || !slices.Equal(r.Y, c.Output()) {
			t.Fatalf("%v, %v", r.Y, err)
		}
		if first == nil {
			first = r.Proof.Encode()
		}
		if !bytes.Equal(r.Proof.Encode(), first) || len(r.Proof.Y[0]) > 0 || len(r.Statement.Commitments)+len(r.Openings) > 0 {
			t.Error("another proof than on the first device, or one with values of the boundary")
		}
	})
}

// copiedStatement shares nothing.
func copiedStatement(s *zkml.Statement) *zkml.Statement {
	return &zkml.Statement{X: slices.Clone(s.X), Y: slices.Clone(s.Y), Commitments: slices.Clone(s.Commitments)}
}

// TestCommittedCheats has provers of a chain with committed boundaries whose parts do not agree: each is rejected by the check that is meant for it.
func TestCommittedCheats(t *testing.T) {
	chain, keys := committedNet(t)
	opts := &chunks.Options{Context: []byte("a")}
	x := netInput(1)
	run := func(x []int32, n byte) *Result {
		r, err := Prove(t.Context(), simulated(t, 1), chain, keys, x, &Options{Context: []byte("a"), Seed: seed(n)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	honest, salted, other := run(x, 1), run(x, 2), run(netInput(2), 1)
	if err := chunks.VerifyStatement(chain, &honest.Statement, honest.Proof, opts); err != nil {
		t.Fatal(err)
	}
	// part is an honest proof of part k with the inputs and openings of other values: what a prover has who begins in the middle.
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	vks := chain.Keys()
	part := func(k int, in []int32) *prover.Result {
		var salts [][32]byte
		for i := range vks[k].Committed() {
			salts = append(salts, [32]byte{31: byte(40*k + i)})
		}
		r, err := prover.Prove(q, keys[k], in, &prover.Options{Context: chain.Context(k, []byte("a")), Salts: salts})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	second := part(1, make([]int32, 20)) // u and v all zero
	take := func(p *chunks.Proof, k int, r *prover.Result) {
		p.Proofs[k], p.Y[k] = r.Proof, r.Statement.Y
		for i, c := range r.Statement.Commitments[len(vks[k].Commits().Inputs):] {
			p.Roots[k][i] = c.Root
		}
	}
	// forge is a part's proof under the header of what the verifier will want of it.
	forge := func(s *zkml.Statement, p *chunks.Proof, k int) {
		of, err := chain.PartStatement(k, s, p)
		if err != nil {
			t.Fatal(err)
		}
		messages, err := zkml.DecodeProof(vks[k], p.Proofs[k])
		if err != nil {
			t.Fatal(err)
		}
		if p.Proofs[k], err = zkml.EncodeProof(vks[k], of.Digests(), messages); err != nil {
			t.Fatal(err)
		}
	}
	const a, y, v = 0, 1, 2 // of the statement's commitments
	for _, c := range []struct {
		name   string
		change func(s *zkml.Statement, p *chunks.Proof)
		check  string
		where  string
	}{
		{"a boundary's root of another run", func(_ *zkml.Statement, p *chunks.Proof) { p.Roots[0][0] = salted.Proof.Roots[0][0] }, zkml.CheckOutputBind, `part 1 of 3; output "u"`},
		{"the same with a header that says so", func(s *zkml.Statement, p *chunks.Proof) {
			p.Roots[0][0] = salted.Proof.Roots[0][0]
			forge(s, p, 0)
		}, zkml.CheckTree, "part 1 of 3"},
		{"roots of two boundaries swapped", func(_ *zkml.Statement, p *chunks.Proof) { p.Roots[1][0], p.Roots[1][1] = p.Roots[1][1], p.Roots[1][0] }, zkml.CheckOutputBind, `part 2 of 3; output "w"`},
		{"roots of the same part in two runs", func(_ *zkml.Statement, p *chunks.Proof) { p.Roots[1] = salted.Proof.Roots[1] }, zkml.CheckOutputBind, `part 2 of 3; output "w"`},
		{"a part with another salt", func(_ *zkml.Statement, p *chunks.Proof) {
			p.Roots[1], p.Proofs[1] = salted.Proof.Roots[1], salted.Proof.Proofs[1]
		}, zkml.CheckInputBind, `part 2 of 3; input "u"`},
		{"a part of other values under its own root", func(_ *zkml.Statement, p *chunks.Proof) { take(p, 1, second) }, zkml.CheckInputBind, `part 2 of 3; input "u"`},
		{"the same under the root of the part before", func(s *zkml.Statement, p *chunks.Proof) {
			take(p, 1, second)
			forge(s, p, 1)
		}, zkml.CheckTree, "part 2 of 3"},
		{"parts after it of its values, too", func(s *zkml.Statement, p *chunks.Proof) {
			take(p, 1, second)
			forge(s, p, 1)
			in := slices.Concat(x, make([]int32, 10))
			third := part(2, slices.Concat(in, second.Y))
			take(p, 2, third)
			s.Y, s.Commitments[y] = third.Statement.Y, third.Statement.Commitments[len(third.Statement.Commitments)-1]
		}, zkml.CheckTree, "part 2 of 3"},
		{"a part before it of another input", func(s *zkml.Statement, p *chunks.Proof) {
			p.Roots[0], p.Proofs[0] = other.Proof.Roots[0], other.Proof.Proofs[0]
			s.Commitments[v] = other.Statement.Commitments[v]
		}, zkml.CheckInputBind, "part 1 of 3"},
		{"a part before it with another salt", func(s *zkml.Statement, p *chunks.Proof) {
			first, err := prover.Prove(q, keys[0], x, &prover.Options{Context: chain.Context(0, []byte("a")), Salts: [][32]byte{honest.Openings[a].Salt, {1}, {2}}})
			if err != nil {
				t.Fatal(err)
			}
			take(p, 0, first)
			s.Commitments[v] = first.Statement.Commitments[2]
		}, zkml.CheckInputBind, `part 2 of 3; input "u"`},
		{"two commitments of the statement exchanged", func(s *zkml.Statement, _ *chunks.Proof) {
			s.Commitments[y], s.Commitments[v] = s.Commitments[v], s.Commitments[y]
		}, zkml.CheckOutputBind, `output "y": part 3`},
		{"an input's commitment and an output's exchanged", func(s *zkml.Statement, p *chunks.Proof) {
			s.Commitments[a], s.Commitments[y] = s.Commitments[y], s.Commitments[a]
			p.Roots[2][0] = s.Commitments[y].Root
		}, zkml.CheckInputBind, `part 1 of 3; input "a"`},
		{"another input", func(s *zkml.Statement, _ *chunks.Proof) { s.Commitments[a] = salted.Statement.Commitments[a] }, zkml.CheckInputBind, `part 1 of 3; input "a"`},
		{"another output", func(s *zkml.Statement, _ *chunks.Proof) { s.Commitments[v] = salted.Statement.Commitments[v] }, zkml.CheckOutputBind, `output "v": part 1`},
		{"another output with the part's root", func(s *zkml.Statement, p *chunks.Proof) {
			s.Commitments[y] = salted.Statement.Commitments[y]
			p.Roots[2][0] = s.Commitments[y].Root
		}, zkml.CheckOutputBind, `part 3 of 3; output "y"`},
		{"public values changed", func(s *zkml.Statement, p *chunks.Proof) {
			s.Y[0]++
			p.Y[2] = s.Y
		}, zkml.CheckOutputBind, "part 3 of 3"},
		{"the statement's public values alone", func(s *zkml.Statement, _ *chunks.Proof) { s.Y[0]++ }, zkml.CheckOutputBind, "not the chain's"},
		{"another public input", func(s *zkml.Statement, _ *chunks.Proof) { s.X[0]++ }, zkml.CheckInputBind, "part 1 of 3"},
		{"an input that is committed stated as public", func(s *zkml.Statement, _ *chunks.Proof) {
			s.X, s.Commitments = slices.Clone(x), s.Commitments[1:]
		}, zkml.CheckInput, "20 values, expected 10"},
		{"an output that is committed stated as public", func(s *zkml.Statement, _ *chunks.Proof) {
			s.Y, s.Commitments = honest.Y, s.Commitments[:1]
		}, zkml.CheckInput, "1 commitments, want 3"},
		{"a commitment of another format", func(s *zkml.Statement, _ *chunks.Proof) { s.Commitments[v].Format[0] ^= 1 }, zkml.CheckOutput, `output "v": a commitment of format`},
		{"an input's commitment of another format", func(s *zkml.Statement, _ *chunks.Proof) { s.Commitments[a].Format[0] ^= 1 }, zkml.CheckInput, `input "a": a commitment of format`},
		{"a boundary that is committed as public values", func(_ *zkml.Statement, p *chunks.Proof) {
			p.Y[0], p.Roots[0] = make([]int32, 20), nil
		}, zkml.CheckOutput, "part 1"},
		{"a root less", func(_ *zkml.Statement, p *chunks.Proof) { p.Roots[1] = p.Roots[1][:1] }, zkml.CheckFormat, "part 2 does not have its 2 roots"},
		{"a root more", func(_ *zkml.Statement, p *chunks.Proof) { p.Roots[1] = append(p.Roots[1], p.Roots[1][0]) }, zkml.CheckFormat, "part 2 does not have its 2 roots"},
		{"no roots", func(_ *zkml.Statement, p *chunks.Proof) { p.Roots = nil }, zkml.CheckFormat, "not one proof"},
		{"a root that is no digest", func(s *zkml.Statement, p *chunks.Proof) {
			p.Roots[0][0][0] = m31.P
			forge(s, p, 0)
		}, zkml.CheckFormat, "part 1 of 3"},
	} {
		s, p := copiedStatement(&honest.Statement), copied(honest.Proof)
		c.change(s, p)
		if err := chunks.VerifyStatement(chain, s, p, opts); zkml.FailedCheck(err) != c.check {
			t.Errorf("%s: %v, expected %q of %s", c.name, err, c.check, c.where)
		} else {
			for _, where := range strings.Split(c.where, "; ") {
				if !strings.Contains(err.Error(), where) {
					t.Errorf("%s: %v, expected %s in it", c.name, err, where)
				}
			}
		}
	}
	// A chain with committed ends is not one that has them public.
	if err := chunks.Verify(chain, x, honest.Y, honest.Proof, opts); zkml.FailedCheck(err) != zkml.CheckInput {
		t.Errorf("all values as public ones: %v", err)
	}
	// Proofs of the same parts whose boundaries are public are of other keys.
	public, publicKeys, err := Setup(q, net(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	open, err := Prove(t.Context(), simulated(t, 1), public, publicKeys, x, &Options{Context: []byte("a")})
	if err != nil {
		t.Fatal(err)
	}
	p := copied(honest.Proof)
	p.Proofs[1] = open.Proof.Proofs[1]
	if err := chunks.VerifyStatement(chain, &honest.Statement, p, opts); zkml.FailedCheck(err) != zkml.CheckKeyDigest {
		t.Errorf("a part with public boundaries: %v", err)
	}
}

// TestCommittedWiring wires keys of which one has committed what the other one has public, or in another format.
func TestCommittedWiring(t *testing.T) {
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	c := net(t)
	setup := func(k int, commits zkml.Commits, o whir.Options) *zkml.VerifyingKey {
		vk, _, err := prover.Setup(q, c.Parts[k].Program, c.Parts[k].Weights, &prover.SetupOptions{Commits: commits, Commitment: o})
		if err != nil {
			t.Fatal(err)
		}
		return vk
	}
	in := func(list ...int) zkml.Commits { return zkml.Commits{Inputs: list} }
	wiring := [][]chunks.Source{c.Parts[0].Inputs, c.Parts[1].Inputs}
	outputs := []chunks.Source{{Part: 1}, {Part: 0, Index: 1}}
	both := zkml.Commits{Outputs: []int{0, 1}}
	made := setup(0, both, whir.Options{})
	for _, k := range []struct {
		name  string
		first *zkml.VerifyingKey
		reads *zkml.VerifyingKey
		want  string
	}{
		{"a reader that has it public", made, setup(1, in(0), whir.Options{}), `part 2, input 1: "v", which is output "v" of part 1, is public here and committed there`},
		{"a source that has it public", setup(0, zkml.Commits{Outputs: []int{1}}, whir.Options{}), setup(1, in(0, 1), whir.Options{}),
			`part 2, input 0: "u", which is output "u" of part 1, is committed here and public there`},
		{"another rate", made, setup(1, in(0, 1), whir.Options{LogInvRate: 3}), `part 2, input 0: "u", which is output "u" of part 1, is committed in the format `},
		{"another tree", made, setup(1, in(0, 1), whir.Options{Arity: 4}), "with the same options for commitments"},
	} {
		if _, err := chunks.NewChain([]*zkml.VerifyingKey{k.first, k.reads}, wiring, outputs); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v, expected %q", k.name, err, k.want)
		}
		if _, err := chunks.Link([]*zkml.VerifyingKey{k.first, k.reads}); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s, linked: %v, expected %q", k.name, err, k.want)
		}
	}
	linked, err := chunks.Link([]*zkml.VerifyingKey{made, setup(1, in(0, 1), whir.Options{})})
	if err != nil || len(linked.Committed()) != 0 {
		t.Errorf("linked: %v", err)
	}
	// One input of the chain that two parts read.
	third := setup(2, in(0), whir.Options{})
	wiring = append(wiring, []chunks.Source{{Part: -1}, {Part: -1, Index: 1}, {Part: 0, Index: 1}, {Part: 1}, {Part: 1, Index: 1}})
	_, err = chunks.NewChain([]*zkml.VerifyingKey{setup(0, zkml.Commits{}, whir.Options{}), setup(1, zkml.Commits{}, whir.Options{}), third}, wiring, []chunks.Source{{Part: 2}})
	if want := `part 3, input 0: "a", which an earlier part reads as "a", is committed here and public there`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected %q", err, want)
	}
}

// TestCommittedBounds joins programs whose bounds are not the same: what is committed within narrower bounds is taken, and a value that the
// reader takes and the source does not give is not behind the source's root.
func TestCommittedBounds(t *testing.T) {
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	sum := func(bound, factor int64, commits zkml.Commits) *prover.ProvingKey {
		b := graph.NewBuilder("sum")
		x := b.Input("x", []int{2, 3}, -bound, bound-1, 1)
		program, weights, err := b.BuildAll([]graph.TensorID{b.Linear("y", []graph.Term{{Coef: factor, T: x}}, 0, 1)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, pk, err := prover.Setup(q, program, weights, &prover.SetupOptions{Commits: commits, Security: chunks.PartSecurity(zkml.MinSecurity, 2)})
		if err != nil {
			t.Fatal(err)
		}
		return pk
	}
	first := sum(8, 3, zkml.Commits{Outputs: []int{0}}) // gives [-24, 21]
	join := func(second *prover.ProvingKey) (*chunks.Chain, error) {
		return chunks.NewChain([]*zkml.VerifyingKey{first.VerifyingKey(), second.VerifyingKey()}, [][]chunks.Source{{{Part: -1}}, {{}}}, []chunks.Source{{Part: 1}})
	}
	if _, err := join(sum(16, 1, zkml.Commits{Inputs: []int{0}})); err == nil || !strings.Contains(err.Error(), "bounds [-16, 15]") {
		t.Errorf("a reader with narrower bounds: %v", err)
	}
	second := sum(32, 5, zkml.Commits{Inputs: []int{0}})
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
	// A multiple of the first input that is beyond its bounds: the second part proves what it is told, under a root that the first one cannot have.
	r, err := prover.Prove(q, second, []int32{-32, 21, 0, 3, 6, 9}, &prover.Options{Context: chain.Context(1, nil)})
	if err != nil {
		t.Fatal(err)
	}
	beyond := copied(result.Proof)
	beyond.Proofs[1], beyond.Y[1] = r.Proof, r.Y
	if err := chunks.Verify(chain, x, r.Y, beyond, nil); zkml.FailedCheck(err) != zkml.CheckInputBind {
		t.Errorf("a boundary beyond what the first part gives: %v", err)
	}
	beyond.Roots[0][0] = r.Statement.Commitments[0].Root
	if err := chunks.Verify(chain, x, r.Y, beyond, nil); zkml.FailedCheck(err) != zkml.CheckOutputBind {
		t.Errorf("a boundary beyond what the first part gives, as its root: %v", err)
	}
}

// left is what a run leaves of a part.
type left struct {
	part     *chunks.PartProof
	openings []*zkml.Opening
}

// TestCommittedResume goes on with work that was interrupted: under the seed of the first run every part is kept whatever the others are; with
// another seed, kept parts bring the salts of their outputs, and a part behind one that is proved again is proved again.
func TestCommittedResume(t *testing.T) {
	chain, keys := committedNet(t)
	x := netInput(1)
	files := make([]left, 3)
	prove := func(n byte, have ...int) (r *Result, stale string) {
		t.Helper()
		r, err := Prove(t.Context(), simulated(t, 1), chain, keys, x, &Options{
			Seed: seed(n),
			Kept: func(k int) (*chunks.PartProof, []*zkml.Opening) {
				if slices.Contains(have, k) {
					return files[k].part, files[k].openings
				}
				return nil, nil
			},
			Stale: func(k int, err error) { stale += fmt.Sprintf("%d: %v\n", k+1, err) },
			Proved: func(p *chunks.PartProof, openings []*zkml.Opening) error {
				if files[p.Part].part == nil {
					files[p.Part] = left{p, openings}
				}
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := chunks.VerifyStatement(chain, &r.Statement, r.Proof, nil); err != nil {
			t.Errorf("seed %d with parts %v: %v", n, have, err)
		}
		for i, o := range r.Openings {
			if err := chain.Committed()[i].Check(o); err != nil {
				t.Error(err)
			}
		}
		return r, stale
	}
	kept := func(r *Result) (list []int) {
		for k, p := range r.Parts {
			if p.Kept {
				list = append(list, k)
			}
		}
		return list
	}
	whole, _ := prove(1)
	for k, f := range files {
		if p, err := chunks.DecodePart(f.part.Encode()); err != nil || len(p.Roots) != len(f.openings) || len(p.Roots) != []int{2, 2, 1}[k] {
			t.Fatalf("part %d: %v", k+1, err)
		}
	}
	for _, c := range []struct {
		seed       byte
		have, want []int
		stale      string
	}{
		{1, []int{0, 1, 2}, []int{0, 1, 2}, ""},
		{1, []int{1, 2}, []int{1, 2}, ""},
		{1, []int{2}, []int{2}, ""},
		{1, []int{0}, []int{0}, ""},
		{2, []int{0, 1, 2}, nil, `input "a": the proof is for another commitment`}, // its own input has another salt
	} {
		r, stale := prove(c.seed, c.have...)
		if got := kept(r); !slices.Equal(got, c.want) || !strings.Contains(stale, c.stale) || c.stale == "" != (stale == "") {
			t.Errorf("seed %d with parts %v: kept %v, expected %v; %s", c.seed, c.have, got, c.want, stale)
		}
		if c.seed == 1 && !bytes.Equal(r.Proof.Encode(), whole.Proof.Encode()) {
			t.Errorf("parts %v: another proof", c.have)
		}
	}
	// With the input's opening, the first part holds under any seed, and gives the salts of its outputs to the second.
	again, err := Prove(t.Context(), simulated(t, 1), chain, keys, x, &Options{Seed: seed(9), Openings: whole.Openings[:1], Kept: func(k int) (*chunks.PartProof, []*zkml.Opening) {
		return files[k].part, files[k].openings
	}})
	if err != nil || !bytes.Equal(again.Proof.Encode(), whole.Proof.Encode()) || len(kept(again)) != 3 {
		t.Errorf("with the input's opening: kept %v, %v", kept(again), err)
	}
	again, err = Prove(t.Context(), simulated(t, 1), chain, keys, x, &Options{Seed: seed(9), Openings: whole.Openings[:1], Kept: func(k int) (*chunks.PartProof, []*zkml.Opening) {
		if k == 0 {
			return nil, nil
		}
		return files[k].part, files[k].openings
	}})
	if err != nil || len(kept(again)) != 0 {
		t.Errorf("without the first part: kept %v, %v", kept(again), err)
	}
	// Openings that are not those of the proof.
	honest := files[0]
	for want, openings := range map[string][]*zkml.Opening{
		"1 openings of committed outputs":          honest.openings[:1],
		"an opening of its committed outputs is m": {honest.openings[0], nil},
		"is not that of the proof's root":          {honest.openings[1], honest.openings[0]},
		"an opening of format":                     {honest.openings[0], {Salt: honest.openings[1].Salt, Values: honest.openings[1].Values}},
		`output "u": value 0 is 1000, expected wi`: {{Format: honest.openings[0].Format, Values: slices.Repeat([]int32{1000}, 10)}, honest.openings[1]},
	} {
		files[0].openings = openings
		if r, stale := prove(1, 0); len(kept(r)) != 0 || !strings.Contains(stale, want) {
			t.Errorf("kept %v, %q, expected %q", kept(r), stale, want)
		}
	}
}

// TestChainSaltsRefused has two inputs of a chain, of which each of its parts reads one, committed to with one salt, and with zeros. No part's own prover
// sees that: who is shown one opening could guess what the other commitment is to.
func TestChainSaltsRefused(t *testing.T) {
	b := graph.NewBuilder("two")
	x1, x2 := b.Input("a", []int{8}, -128, 127, 1), b.Input("b", []int{8}, -128, 127, 1)
	u := b.Linear("u", []graph.Term{{Coef: 2, T: x1}}, 1, 1)
	y := b.Linear("y", []graph.Term{{Coef: 1, T: u}, {Coef: 3, T: x2}}, 1, 1)
	program, weights, err := b.BuildAll([]graph.TensorID{y}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := chunks.Cut(program, weights, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{c.CommitInput("a"), c.CommitInput("b")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	chain, keys, err := Setup(devicetest.Queue(t, devicetest.Open(t, "cpu")), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	prove := func(v2 int32, salt1, salt2 byte) error {
		values := [][]int32{slices.Repeat([]int32{3}, 8), slices.Repeat([]int32{v2}, 8)}
		var openings []*zkml.Opening
		for i, salt := range []byte{salt1, salt2} {
			o, err := chain.Committed()[i].Open(values[i], [32]byte{7: salt})
			if err != nil {
				t.Fatal(err)
			}
			openings = append(openings, o)
		}
		_, err := Prove(t.Context(), simulated(t, 1), chain, keys, slices.Concat(values...), &Options{Openings: openings})
		return err
	}
	for _, err := range []error{prove(4, 1, 2), prove(3, 1, 1)} { // what is the same may be committed to as the same
		if err != nil {
			t.Error(err)
		}
	}
	if err := prove(4, 1, 1); err == nil || !strings.Contains(err.Error(), `input "b" has the salt of input "a" and other values`) {
		t.Errorf("one salt for two inputs: %v", err)
	}
	if err := prove(4, 1, 0); err == nil || !strings.Contains(err.Error(), `chain: the salt of input "b" is zero`) {
		t.Errorf("a salt of zeros: %v", err)
	}
}
