package setup_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"reflect"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	csbn254 "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/std/lookup/logderivlookup"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/internal/setup"
)

var curves = []ecc.ID{ecc.BN254, ecc.BLS12_377, ecc.BLS12_381, ecc.BW6_761}

// chain: Steps times x -> 3x² - 2x + 7 from X, with results Y; of every third x the inverse is
// taken as well.
type chain struct {
	X     frontend.Variable
	Y     frontend.Variable `gnark:",public"`
	Steps int               `gnark:"-"`
}

func (c *chain) Define(api frontend.API) error {
	x := c.X
	for i := range c.Steps {
		square := api.Mul(x, x)
		if i%3 == 0 {
			square = api.Mul(square, api.Inverse(api.Add(x, i+1)))
		}
		x = api.Add(api.Mul(square, 3), api.Mul(x, -2), 7)
	}
	api.AssertIsEqual(c.Y, x)
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

// commits has two commitments, the second to a public input and to the first, and wires
// that come after those they commit to.
type commits struct {
	X, Z, V frontend.Variable
	Y       frontend.Variable `gnark:",public"`
}

func (c *commits) Define(api frontend.API) error {
	committer := api.(frontend.Committer)
	first, err := committer.Commit(c.X, api.Mul(c.X, c.V), c.V)
	if err != nil {
		return err
	}
	second, err := committer.Commit(c.Z, c.Y, first, api.Mul(c.Z, c.Z))
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
	return nil
}

// lookup has a table, and so a commitment with many wires.
type lookup struct {
	In  [4]frontend.Variable
	Sum frontend.Variable `gnark:",public"`
}

func (c *lookup) Define(api frontend.API) error {
	table := logderivlookup.New(api)
	for i := range 6 {
		table.Insert(i * i)
	}
	sum := frontend.Variable(0)
	for _, v := range table.Lookup(c.In[:]...) {
		sum = api.Add(sum, v)
	}
	api.AssertIsEqual(c.Sum, sum)
	return nil
}

// unconstrained has no constraint, which gnark makes keys for as well.
type unconstrained struct {
	X frontend.Variable `gnark:",public"`
}

func (unconstrained) Define(frontend.API) error { return nil }

func compile(t testing.TB, id ecc.ID, c frontend.Circuit) constraint.ConstraintSystem {
	t.Helper()
	ccs, err := frontend.Compile(id.ScalarField(), r1cs.NewBuilder, c, frontend.IgnoreUnconstrainedInputs())
	if err != nil {
		t.Fatal(err)
	}
	return ccs
}

func seeded(seed byte) io.Reader { return mathrand.NewChaCha8([32]byte{seed}) }

// reference is gnark's setup with randomness of a seed. gnark draws from crypto/rand.Reader.
func reference(t *testing.T, ccs constraint.ConstraintSystem, seed byte) (gnark.ProvingKey, gnark.VerifyingKey) {
	t.Helper()
	old := rand.Reader
	defer func() { rand.Reader = old }()
	rand.Reader = seeded(seed)
	pk, vk, err := gnark.Setup(ccs)
	if err != nil {
		t.Fatal(err)
	}
	return pk, vk
}

type raw interface {
	WriteRawTo(w io.Writer) (int64, error)
}

func rawBytes(t *testing.T, v raw) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := v.WriteRawTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// same compares the keys of a system with gnark's.
func same(t *testing.T, ccs constraint.ConstraintSystem, dev string, seed byte) {
	t.Helper()
	wantPK, wantVK := reference(t, ccs, seed)
	pk, vk, err := setup.Run(context.Background(), ccs, setup.Options{Device: dev, Random: seeded(seed)})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(rawBytes(t, pk), rawBytes(t, wantPK)) || !reflect.DeepEqual(pk, wantPK) {
		t.Error("the proving key is not gnark's")
	}
	if !bytes.Equal(rawBytes(t, vk), rawBytes(t, wantVK)) || !reflect.DeepEqual(vk, wantVK) {
		t.Error("the verifying key is not gnark's")
	}
}

func TestKeysAreGnarks(t *testing.T) {
	circuits := map[string]frontend.Circuit{
		"chain": &chain{Steps: 20}, "open": &open{}, "closed": &closed{}, "commits": &commits{}, "openCommits": &openCommits{}, "lookup": &lookup{},
		"unconstrained": &unconstrained{},
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		dev := q.Device().Name()
		for i, id := range curves {
			for name, c := range circuits {
				if q.Device().Kind() == device.SIMT && (id != ecc.BN254 || name != "commits") {
					continue // long points take the emulator long
				}
				t.Run(id.String()+"/"+name, func(t *testing.T) { same(t, compile(t, id, c), dev, byte(i)) })
			}
		}
	})
}

// More constraints than a block of the walk has, and wires that are in thousands of them.
func TestManyConstraints(t *testing.T) {
	ccs := compile(t, ecc.BN254, &chain{Steps: 2600})
	if ccs.GetNbConstraints() < 4200 {
		t.Fatalf("%d constraints", ccs.GetNbConstraints())
	}
	same(t, ccs, "cpu", 9)
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if q.Device().Kind() == device.CUDA {
			same(t, ccs, q.Device().Name(), 9)
		}
	})
}

// A device that is short of memory says how much it needs; the CPU takes its place if it
// was not asked for by name.
func TestLittleMemory(t *testing.T) {
	ccs := compile(t, ecc.BN254, &commits{})
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		dev := q.Device()
		defer dev.SetBudget(0)
		dev.SetBudget(dev.InUse() + 4096)
		_, _, err := setup.Run(context.Background(), ccs, setup.Options{Device: dev.Name()})
		var e *device.Error
		if !errors.As(err, &e) || !errors.Is(err, device.ErrNoMemory) || e.Bytes <= 4096 {
			t.Errorf("4 KiB of a device's memory: %v", err)
		}
		if dev.Kind() == device.CUDA {
			t.Setenv(device.EnvThreshold, "0")
			same(t, ccs, "auto", 3)
		}
	})
}

// The keys of a setup with crypto/rand prove and verify, and no two are the same.
func TestKeysProve(t *testing.T) {
	ccs := compile(t, ecc.BN254, &commits{})
	full, err := frontend.NewWitness(&commits{X: 3, Z: 5, V: 2, Y: 15}, ecc.BN254.ScalarField())
	if err != nil {
		t.Fatal(err)
	}
	public, err := full.Public()
	if err != nil {
		t.Fatal(err)
	}
	var keys [2]gnark.ProvingKey
	for i := range keys {
		pk, vk, err := setup.Run(context.Background(), ccs, setup.Options{})
		if err != nil {
			t.Fatal(err)
		}
		proves(t, ccs, pk, vk, full, public)
		keys[i] = pk
	}
	if !keys[0].IsDifferent(keys[1]) {
		t.Error("two setups made the same key")
	}
}

func proves(t *testing.T, ccs constraint.ConstraintSystem, pk gnark.ProvingKey, vk gnark.VerifyingKey, full, public witness.Witness) {
	t.Helper()
	proof, err := gnark.Prove(ccs, pk, full)
	if err != nil {
		t.Fatal(err)
	}
	if err := gnark.Verify(proof, vk, public); err != nil {
		t.Error(err)
	}
}

// Without tables the key differs in the domain's flag, and proves as well.
func TestNoTables(t *testing.T) {
	ccs := compile(t, ecc.BN254, &open{})
	pk, vk, err := setup.Run(context.Background(), ccs, setup.Options{Device: "cpu", Random: seeded(1), NoTables: true})
	if err != nil {
		t.Fatal(err)
	}
	with, _, err := setup.Run(context.Background(), ccs, setup.Options{Device: "cpu", Random: seeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	a, b := rawBytes(t, pk), rawBytes(t, with)
	differ := 0
	for i := range a {
		if a[i] != b[i] {
			differ++
		}
	}
	if len(a) != len(b) || differ != 1 {
		t.Errorf("%d bytes differ of %d and %d", differ, len(a), len(b))
	}
	full, err := frontend.NewWitness(&open{X: 4, Y: 16}, ecc.BN254.ScalarField())
	if err != nil {
		t.Fatal(err)
	}
	proves(t, ccs, pk, vk, full, full)
}

func TestProgress(t *testing.T) {
	ccs := compile(t, ecc.BN254, &chain{Steps: 2600})
	last := map[string]int{}
	_, _, err := setup.Run(context.Background(), ccs, setup.Options{Device: "cpu", Progress: func(stage string, done, total int) {
		if done < last[stage] || done > total {
			t.Errorf("%s: %d of %d after %d", stage, done, total, last[stage])
		}
		last[stage] = done
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(last) != 3 || last["constraints"] != ccs.GetNbConstraints() || last["points in G1"] == 0 {
		t.Errorf("stages %v", last)
	}
}

// broken is randomness that ends.
type broken struct{ left int }

func (b *broken) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errors.New("no more randomness")
	}
	n := min(len(p), b.left)
	b.left -= n
	return n, nil // zeros
}

func TestBadInput(t *testing.T) {
	ccs := compile(t, ecc.BN254, &commits{})
	run := func(ccs constraint.ConstraintSystem, o setup.Options) error {
		t.Helper()
		o.Device = "cpu"
		pk, vk, err := setup.Run(context.Background(), ccs, o)
		if err == nil || pk != nil || vk != nil {
			t.Errorf("keys %v, %v; %v", pk != nil, vk != nil, err)
		}
		return err
	}
	if err := run(ccs, setup.Options{Random: &broken{left: 100}}); errors.Is(err, setup.ErrSystem) {
		t.Error(err)
	}
	sparse, err := frontend.Compile(ecc.BN254.ScalarField(), scs.NewBuilder, &open{})
	if err != nil {
		t.Fatal(err)
	}
	for name, ccs := range map[string]constraint.ConstraintSystem{"of PLONK": sparse, "none": nil} {
		if err := run(ccs, setup.Options{}); !errors.Is(err, setup.ErrSystem) {
			t.Errorf("a system %s: %v", name, err)
		}
	}
	// Systems that contradict themselves, as one that was read from a file may.
	for name, spoil := range map[string]func(*csbn254.R1CS){
		"more constraints than it has":  func(s *csbn254.R1CS) { s.NbConstraints++ },
		"a wire beyond":                 func(s *csbn254.R1CS) { s.NbInternalVariables -= 3 },
		"a coefficient beyond":          func(s *csbn254.R1CS) { s.Coefficients = s.Coefficients[:1] },
		"data cut short":                func(s *csbn254.R1CS) { s.CallData = s.CallData[:20] },
		"commitments out of order":      func(s *csbn254.R1CS) { c := s.CommitmentInfo.(constraint.Groth16Commitments); c[0], c[1] = c[1], c[0] },
		"no kind of commitments":        func(s *csbn254.R1CS) { s.CommitmentInfo = nil },
		"a commitment to a public wire": func(s *csbn254.R1CS) { s.CommitmentInfo.(constraint.Groth16Commitments)[0].PrivateCommitted = []int{0} },
	} {
		s := compile(t, ecc.BN254, &commits{}).(*csbn254.R1CS)
		spoil(s)
		if err := run(s, setup.Options{}); !errors.Is(err, setup.ErrSystem) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := setup.Run(ctx, ccs, setup.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is done: %v", err)
	}
	if _, _, err := setup.Run(context.Background(), ccs, setup.Options{Device: "cuda:99"}); err == nil {
		t.Error("a device that is not there made keys")
	}
}

// A context that ends while points are made ends the setup.
// A program whose proofs all GPUs share makes its keys on the first.
func TestAllDevices(t *testing.T) {
	ccs, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, &open{})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(device.EnvDevice, "cuda:all")
	_, _, err = setup.Run(t.Context(), ccs, setup.Options{Device: "auto"})
	if _, none := device.Open("cuda:0"); none != nil {
		if !errors.Is(err, device.ErrUnavailable) {
			t.Errorf("without a GPU: %v", err)
		}
	} else if err != nil {
		t.Error(err)
	}
}

func TestCancel(t *testing.T) {
	ccs := compile(t, ecc.BN254, &chain{Steps: 100})
	for _, at := range []string{"constraints", "points in G1", "points in G2"} {
		ctx, cancel := context.WithCancel(context.Background())
		_, _, err := setup.Run(ctx, ccs, setup.Options{Device: "cpu", Progress: func(stage string, _, _ int) {
			if stage == at {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", at, err)
		}
		cancel()
	}
}

func ExampleRun() {
	ccs, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, &closed{})
	if err != nil {
		fmt.Println(err)
		return
	}
	pk, vk, err := setup.Run(context.Background(), ccs, setup.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pk.CurveID(), vk.NbPublicWitness())
	// Output: bn254 0
}
