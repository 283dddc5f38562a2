package prover

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// parityCase proves one scenario on a queue's device, verifies the proof, and
// returns the digest of the root and the proof.
type parityCase struct {
	name  string
	prove func(t *testing.T, q *device.Queue) string
}

// parityCases is every field with every hash, over schedules of all kinds.
func parityCases() []parityCase {
	var out []parityCase
	// Which shapes a field and hash are tried on: three each, all shapes being
	// gone through in turn.
	names := []string{"three rounds", "samples", "work", "batch", "final length 1", "arity 4", "shrink", "Johnson", "arity 8",
		"one round", "small tree", "no rate gained", "large final", "rate 1/4", "DKT26"}
	next := 0
	shapesFor := func() []string {
		s := []string{names[next%len(names)], names[(next+5)%len(names)], names[(next+10)%len(names)]}
		next += 2
		return s
	}
	for _, h := range []whir.Hash{whir.Poseidon2, whir.BLAKE3, whir.SHA256} {
		out = append(out, parityOf("m31", newKind(CM31(h), transcript.M31()), h, shapesFor())...)
		out = append(out, parityOf("babybear4", newKind(BabyBear4(h), transcript.BabyBear4()), h, shapesFor())...)
		out = append(out, parityOf("babybear5", newKind(BabyBear5(h), transcript.BabyBear5()), h, shapesFor())...)
		out = append(out, parityOf("koalabear4", newKind(KoalaBear4(h), transcript.KoalaBear4()), h, shapesFor())...)
		out = append(out, parityOf("koalabear5", newKind(KoalaBear5(h), transcript.KoalaBear5()), h, shapesFor())...)
	}
	return out
}

func parityOf[W field.Base[W], F field.Element[F], E field.Element[E]](name string, k *kind[W, F, E], h whir.Hash, shapes []string) (out []parityCase) {
	for i, shape := range shapes {
		c, ok := k.shapes()[shape]
		if shape == "DKT26" {
			c, ok = with(k.shapes()["Johnson"], func(c *whir.Config) { c.Bound = whir.DKT26 }), true
		}
		if !ok {
			panic("no shape " + shape)
		}
		prove := func(t *testing.T, q *device.Queue) string {
			sc := k.scenario(t, 70, c)
			if i == 0 { // without a caller's own weight: the tables stay symbols
				sc.claims = sc.claims[:5]
			}
			return sc.digest(t, q)
		}
		out = append(out, parityCase{fmt.Sprintf("%s, %v, %s", name, h, shape), prove})
	}
	return out
}

// digest is that of the proof made on the queue's device.
func (sc *scenario[W, F, E]) digest(t *testing.T, q *device.Queue) string {
	t.Helper()
	root, pf := sc.onDevice(t, q)
	enc, err := sc.scheme.AppendProof(nil, sc.p, pf)
	if err != nil {
		t.Fatal(err)
	}
	if err := sc.kind.verifyBytes(sc.p, root, sc.statement(), enc); err != nil {
		t.Errorf("verify: %v", err)
	}
	sum := sha256.New()
	for _, w := range root {
		fmt.Fprintf(sum, "%08x", uint32(w))
	}
	sum.Write(enc)
	return hex.EncodeToString(sum.Sum(nil))
}

// onDevice proves with everything on the queue's device.
func (sc *scenario[W, F, E]) onDevice(t testing.TB, q *device.Queue) ([8]W, *whir.Proof[W, E]) {
	t.Helper()
	tables := uploads(t, q, sc.tables)
	c, err := sc.prover.Commit(q, sc.p, tables...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Free()
	tr, err := transcriptprover.Start(q, sc.transcript, transcript.TagTest)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Free()
	if err := tr.AbsorbHost(words(t, c)); err != nil {
		t.Fatal(err)
	}
	pf, err := c.Open(q, tr, sc.statement())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range tables {
		b.Free()
	}
	return rootOf(t, c), pf
}

const parityFile = "../testdata/parity.json"

// The same bytes on every device, and the same as ever, for every combination.
func TestParity(t *testing.T) {
	cases := parityCases()
	if len(cases) < 30 {
		t.Fatalf("%d combinations", len(cases))
	}
	want := map[string]string{}
	if *update {
		q := queue(t)
		for _, c := range cases {
			want[c.name] = c.prove(t, q)
		}
		data, err := json.MarshalIndent(want, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(parityFile, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(parityFile)
	if err != nil {
		t.Fatal(err)
	}
	clear(want)
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != len(cases) {
		t.Errorf("%d digests in the file for %d combinations: %v", len(want), len(cases), slices.Sorted(maps.Keys(want)))
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for i, c := range cases {
			// The emulator takes its time: with -short a part of the table.
			if q.Device().Kind() == device.SIMT && testing.Short() && i%5 != 0 {
				continue
			}
			if got := c.prove(t, q); got != want[c.name] {
				t.Errorf("%s: digest %s, want %s", c.name, got, want[c.name])
			}
		}
	})
}
