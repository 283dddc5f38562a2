package groth16_test

import (
	"crypto/sha256"
	"math/big"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/hash/mimc"
	"github.com/consensys/gnark/std/lookup/logderivlookup"
	"github.com/consensys/gnark/std/math/bits"
	"github.com/consensys/gnark/std/math/emulated"
	"github.com/consensys/gnark/std/permutation/poseidon2"
	"github.com/consensys/gnark/std/rangecheck"

	hashes "github.com/consensys/gnark-crypto/hash"
)

// cubic: x³ + x + 5 = y.
type cubic struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *cubic) Define(api frontend.API) error {
	api.AssertIsEqual(c.Y, api.Add(api.Mul(c.X, c.X, c.X), c.X, 5))
	return nil
}

// preimage: the MiMC hash of two secrets.
type preimage struct {
	Secret [2]frontend.Variable
	Hash   frontend.Variable `gnark:",public"`
}

func (c *preimage) Define(api frontend.API) error {
	h, err := mimc.NewMiMC(api)
	if err != nil {
		return err
	}
	h.Write(c.Secret[:]...)
	api.AssertIsEqual(c.Hash, h.Sum())
	return nil
}

const depth = 8

// member: a leaf is in a Merkle tree of MiMC hashes.
type member struct {
	Leaf, Index frontend.Variable
	Path        [depth]frontend.Variable
	Root        frontend.Variable `gnark:",public"`
}

func (c *member) Define(api frontend.API) error {
	h, err := mimc.NewMiMC(api)
	if err != nil {
		return err
	}
	node := c.Leaf
	for i, right := range bits.ToBinary(api, c.Index, bits.WithNbDigits(depth)) {
		h.Reset()
		h.Write(api.Select(right, c.Path[i], node), api.Select(right, node, c.Path[i]))
		node = h.Sum()
	}
	api.AssertIsEqual(c.Root, node)
	return nil
}

// mimcOf is the MiMC hash outside of circuits, over BN254.
func mimcOf(values ...*big.Int) *big.Int {
	h := hashes.MIMC_BN254.New()
	for _, v := range values {
		h.Write(v.FillBytes(make([]byte, 32)))
	}
	return new(big.Int).SetBytes(h.Sum(nil))
}

// permuted: one Poseidon2 permutation.
type permuted struct {
	In  [2]frontend.Variable
	Out frontend.Variable `gnark:",public"`
}

func (c *permuted) Define(api frontend.API) error {
	p, err := poseidon2.NewPoseidon2FromParameters(api, 2, 6, 50)
	if err != nil {
		return err
	}
	state := []frontend.Variable{c.In[0], c.In[1]}
	if err := p.Permutation(state); err != nil {
		return err
	}
	api.AssertIsDifferent(state[0], c.Out)
	return nil
}

// open has no secret: x² = y.
type open struct {
	X, Y frontend.Variable `gnark:",public"`
}

func (c *open) Define(api frontend.API) error {
	api.AssertIsEqual(c.Y, api.Mul(c.X, c.X))
	return nil
}

// closed has no public input: x² = y.
type closed struct{ X, Y frontend.Variable }

func (c *closed) Define(api frontend.API) error {
	api.AssertIsEqual(c.Y, api.Mul(c.X, c.X))
	return nil
}

// commits has two commitments, the second to a public input and to the first.
type commits struct {
	X, Z frontend.Variable
	Y    frontend.Variable `gnark:",public"`
}

func (c *commits) Define(api frontend.API) error {
	committer := api.(frontend.Committer)
	first, err := committer.Commit(c.X)
	if err != nil {
		return err
	}
	second, err := committer.Commit(c.Z, c.Y, first)
	if err != nil {
		return err
	}
	api.AssertIsDifferent(first, second)
	api.AssertIsEqual(c.Y, api.Mul(c.X, c.Z))
	return nil
}

// openCommits commits to public inputs only.
type openCommits struct {
	X, Y frontend.Variable `gnark:",public"`
}

func (c *openCommits) Define(api frontend.API) error {
	v, err := api.(frontend.Committer).Commit(c.X, c.Y)
	if err != nil {
		return err
	}
	api.AssertIsDifferent(v, c.X)
	api.AssertIsEqual(c.Y, api.Mul(c.X, c.X))
	return nil
}

// ranges checks that numbers have 16 and 40 bits.
type ranges struct {
	X [20]frontend.Variable
	S frontend.Variable `gnark:",public"`
}

func (c *ranges) Define(api frontend.API) error {
	check := rangecheck.New(api)
	sum := frontend.Variable(0)
	for i, x := range c.X {
		check.Check(x, []int{16, 40}[i%2])
		sum = api.Add(sum, x)
	}
	api.AssertIsEqual(c.S, sum)
	return nil
}

// lookup reads a table of squares.
type lookup struct {
	I [10]frontend.Variable
	S frontend.Variable `gnark:",public"`
}

func (c *lookup) Define(api frontend.API) error {
	table := logderivlookup.New(api)
	for i := range 50 {
		table.Insert(i * i)
	}
	sum := frontend.Variable(0)
	for _, v := range table.Lookup(c.I[:]...) {
		sum = api.Add(sum, v)
	}
	api.AssertIsEqual(c.S, sum)
	return nil
}

// hinted divides with remainder by hint.
type hinted struct {
	X frontend.Variable
	Q frontend.Variable `gnark:",public"`
}

func divide(_ *big.Int, in, out []*big.Int) error {
	out[0].DivMod(in[0], big.NewInt(7), out[1])
	return nil
}

// moody is the hint of a circuit whose author forgot about 13, and leaves at 17.
func moody(_ *big.Int, in, out []*big.Int) error {
	if in[0].Cmp(big.NewInt(13)) == 0 {
		panic("13")
	}
	if in[0].Cmp(big.NewInt(17)) == 0 {
		runtime.Goexit()
	}
	out[0].Set(in[0])
	return nil
}

type moodily struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *moodily) Define(api frontend.API) error {
	out, err := api.Compiler().NewHint(moody, 1, c.X)
	if err != nil {
		return err
	}
	api.AssertIsEqual(c.X, out[0])
	api.AssertIsEqual(c.Y, api.Mul(c.X, c.X))
	return nil
}

func init() { solver.RegisterHint(divide, moody) }

func (c *hinted) Define(api frontend.API) error {
	out, err := api.Compiler().NewHint(divide, 2, c.X)
	if err != nil {
		return err
	}
	api.AssertIsEqual(c.X, api.Add(api.Mul(out[0], 7), out[1]))
	api.AssertIsLessOrEqual(out[1], 6)
	api.AssertIsEqual(c.Q, out[0])
	return nil
}

// fanIn has a constraint over a thousand wires.
type fanIn struct {
	X [1000]frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *fanIn) Define(api frontend.API) error {
	sum := api.Add(0, 0, c.X[:]...)
	api.AssertIsEqual(c.Y, api.Mul(sum, sum))
	return nil
}

// foreign multiplies in the field of secp256k1.
type foreign struct {
	X, Y, Z emulated.Element[emulated.Secp256k1Fp]
}

func (c *foreign) Define(api frontend.API) error {
	f, err := emulated.NewField[emulated.Secp256k1Fp](api)
	if err != nil {
		return err
	}
	f.AssertIsEqual(f.Mul(&c.X, &c.Y), &c.Z)
	return nil
}

// example is a circuit with an assignment, and one that does not satisfy it.
type example struct {
	name         string
	circuit      frontend.Circuit
	right, wrong frontend.Circuit
	commitments  int
	all          bool // over all curves, not BN254 only
	emulated     bool // on simt too
	heavy        bool // only where ZKWARP_TEST_DEVICES says which devices
}

func examples() []example {
	a, b := big.NewInt(1234567), big.NewInt(89)
	path := &member{Leaf: a, Index: 0b10110010, Root: 0}
	node := a
	for i := range depth {
		sibling := big.NewInt(int64(1000 + i))
		path.Path[i] = sibling
		if 0b10110010>>i&1 == 1 {
			node = mimcOf(sibling, node)
		} else {
			node = mimcOf(node, sibling)
		}
	}
	astray := *path
	path.Root, astray.Root = node, a
	var r, rBad ranges
	var l lookup
	var f fanIn
	sum := 0
	for i := range r.X {
		r.X[i] = 1000*i + 1
		sum += 1000*i + 1
	}
	r.S = sum
	rBad = r
	rBad.X[0], rBad.S = 1<<17, sum-1+1<<17
	sum = 0
	for i := range l.I {
		l.I[i] = 3 * i
		sum += 9 * i * i
	}
	l.S = sum
	lBad := l
	lBad.S = sum + 1
	for i := range f.X {
		f.X[i] = i
	}
	f.Y = 499500 * 499500
	fBad := f
	fBad.X[999] = 0
	secp := emulated.ValueOf[emulated.Secp256k1Fp]
	p := emulated.Secp256k1Fp{}.Modulus()
	x := new(big.Int).Sub(p, a)
	y := new(big.Int).Sub(p, b)
	product := new(big.Int).Mul(a, b)
	text, digest := "hello world", sha256.Sum256([]byte("hello world"))
	sixth := [6]frontend.Variable{3, 1, 9, 4, 5, 2}
	powers := delegated{[4]frontend.Variable{1, 2, 3, 4}, [4]frontend.Variable{5, 6, 7, 8}, 1*125 + 8*216 + 27*343 + 64*512}
	powersBad := powers
	powersBad.Sum = 1
	return []example{
		{name: "cubic", circuit: &cubic{}, right: &cubic{3, 35}, wrong: &cubic{3, 36}, all: true},
		{name: "preimage", circuit: &preimage{}, right: &preimage{[2]frontend.Variable{a, b}, mimcOf(a, b)}, wrong: &preimage{[2]frontend.Variable{b, a}, mimcOf(a, b)}},
		{name: "member", circuit: &member{}, right: path, wrong: &astray},
		{name: "permuted", circuit: &permuted{}, right: &permuted{[2]frontend.Variable{1, 2}, 3}},
		{name: "open", circuit: &open{}, right: &open{7, 49}, wrong: &open{7, 48}},
		{name: "closed", circuit: &closed{}, right: &closed{7, 49}, wrong: &closed{7, 48}, all: true, emulated: true},
		{name: "commits", circuit: &commits{}, right: &commits{6, 7, 42}, wrong: &commits{6, 7, 43}, commitments: 2, all: true, emulated: true},
		{name: "open commits", circuit: &openCommits{}, right: &openCommits{7, 49}, wrong: &openCommits{7, 50}, commitments: 1, emulated: true},
		{name: "ranges", circuit: &ranges{}, right: &r, wrong: &rBad, commitments: 1},
		{name: "lookup", circuit: &lookup{}, right: &l, wrong: &lBad, commitments: 1},
		{name: "hinted", circuit: &hinted{}, right: &hinted{100, 14}, wrong: &hinted{100, 15}},
		{name: "fan-in", circuit: &fanIn{}, right: &f, wrong: &fBad},
		{name: "foreign", circuit: &foreign{}, right: &foreign{secp(x), secp(y), secp(product)}, wrong: &foreign{secp(x), secp(y), secp(x)}, commitments: 1},
		{name: "sorted", circuit: &sorted{}, right: &sorted{sixth, 2, 9, 20}, wrong: &sorted{sixth, 4, 5, 7}},
		{name: "signed", circuit: &signed{}, right: signedOf(5, 5), wrong: signedOf(5, 6)},
		{name: "compressed", circuit: &compressed{}, right: compressedOf(text, digest), wrong: compressedOf(text+".", digest)},
		{name: "digested", circuit: &digested{}, right: digestedOf(text, digest), wrong: digestedOf("Hello world", digest), commitments: 1, heavy: true},
		{name: "delegated", circuit: &delegated{}, right: &powers, wrong: &powersBad, commitments: 1},
	}
}

var curves = []ecc.ID{ecc.BN254, ecc.BLS12_377, ecc.BLS12_381, ecc.BW6_761}
