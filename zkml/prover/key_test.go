package prover

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestKeyEncoding encodes and decodes keys, and damages them.
func TestKeyEncoding(t *testing.T) {
	for _, make := range allCases {
		k := make(t)
		code := k.vk.Encode()
		vk, err := zkml.DecodeVerifyingKey(code)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(vk.Encode(), code) || vk.Digest() != k.vk.Digest() {
			t.Error("a verifying key changes by encoding")
		}
		private, err := k.pk.Encode()
		if err != nil {
			t.Fatal(err)
		}
		pk, err := DecodeProvingKey(private)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Prove(cpu(t), pk, k.X, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := zkml.Verify(vk, k.X, r.Y, r.Proof, nil); err != nil {
			t.Fatal(err)
		}
	}
	k := mlp(t)
	again, _, err := Setup(cpu(t), k.Program, k.Weights, &quick)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Encode(), k.vk.Encode()) {
		t.Error("two setups give two keys")
	}
	code := k.vk.Encode()
	proofAt := len(code) - len(k.vk.WeightsProof())
	for at := range code {
		if at > proofAt && at%53 != 0 {
			continue // a proof's words have their own test
		}
		bad := bytes.Clone(code)
		bad[at] ^= 1 << (at % 8)
		vk, err := zkml.DecodeVerifyingKey(bad)
		if at < proofAt && err == nil {
			t.Fatalf("a key with byte %d changed decodes", at)
		}
		if err == nil {
			rejected(t, vk.Check(), zkml.CheckKeyProof)
		} else if !errors.Is(err, zkml.ErrFormat) {
			t.Fatalf("byte %d: %v is no format error", at, err)
		}
	}
	private, err := k.pk.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(private); n += 1 + n/7 {
		if _, err := DecodeProvingKey(private[:n]); err == nil {
			t.Fatalf("a proving key of %d bytes instead of %d decodes", n, len(private))
		}
	}
	for _, extra := range [][]byte{append(bytes.Clone(code), 0), code[:len(code)-1], nil, private} {
		if _, err := zkml.DecodeVerifyingKey(extra); !errors.Is(err, zkml.ErrFormat) {
			t.Errorf("%d bytes decode as a verifying key: %v", len(extra), err)
		}
	}
	var written bytes.Buffer
	if err := k.pk.Write(&written); err != nil || !bytes.Equal(written.Bytes(), private) {
		t.Errorf("a proving key is written as other bytes than it has: %v", err)
	}
	for room := 0; room < len(private); room += 1 + len(private)/50 {
		if err := k.pk.Write(&full{room}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("written to %d bytes of room: %v", room, err)
		}
	}
	bad := bytes.Clone(private)
	bad[len(bad)-1] ^= 1 // a weight
	if _, err := DecodeProvingKey(bad); !errors.Is(err, zkml.ErrFormat) {
		t.Errorf("a proving key with a changed weight decodes: %v", err)
	}
}

// full is a writer with room for so many bytes.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.room {
		return f.room, io.ErrShortWrite
	}
	f.room -= len(b)
	return len(b), nil
}

// TestKeyOpened proves with keys that are checked beside the proof: the same bytes as ever, and none if a weight is not the key's or the proof of the weights
// does not hold, whichever way verifiers know the weights.
func TestKeyOpened(t *testing.T) {
	for _, mode := range []zkml.Mode{zkml.Committed, zkml.PublicWeights} {
		opts := quick
		opts.Mode = mode
		c := zkmltest.MLP(2, 1, 3, 5)
		q := cpu(t)
		_, made, err := Setup(q, c.Program, c.Weights, &opts)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Prove(q, made, c.X, nil)
		if err != nil {
			t.Fatal(err)
		}
		code, err := made.Encode()
		if err != nil {
			t.Fatal(err)
		}
		pk, err := OpenProvingKey(code)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := Prove(q, pk, c.X, nil); err != nil || !bytes.Equal(r.Proof, want.Proof) {
			t.Errorf("mode %v: another proof with a key that was opened, or none: %v", mode, err)
		}
		if err := pk.Check(); err != nil {
			t.Errorf("mode %v: %v", mode, err)
		}
		spoil := map[string]int{"its digests do not match": len(code) - 1}
		if mode == zkml.Committed {
			at := bytes.Index(code, made.vk.WeightsProof())
			spoil[zkml.CheckKeyProof] = at + len(made.vk.WeightsProof()) - 1
		}
		for says, at := range spoil {
			bad := bytes.Clone(code)
			bad[at] ^= 1
			pk, err := OpenProvingKey(bad)
			if err != nil {
				t.Fatalf("mode %v: byte %d: found out at once: %v", mode, at, err)
			}
			if r, err := Prove(q, pk, c.X, nil); r != nil || !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), says) {
				t.Errorf("mode %v: a proof with byte %d changed: %v, want one that says %q", mode, at, err, says)
			}
			if err := pk.Check(); !errors.Is(err, ErrKey) {
				t.Errorf("mode %v: byte %d: %v", mode, at, err)
			}
		}
	}
}

// TestForeignKeys verifies under keys that the proof is not for.
func TestForeignKeys(t *testing.T) {
	k := mlp(t)
	r := k.prove(t, hooks{})
	other := zkmltest.MLP(2, 1, 3, 5)
	id := other.Program.Params()[0]
	values := other.Weights.Of(id).Ints()
	values[0] ^= 1 // one weight
	other.Weights.Data[id] = graph.NewValues(values)
	vk, pk, err := Setup(cpu(t), other.Program, other.Weights, &quick)
	if err != nil {
		t.Fatal(err)
	}
	rejected(t, zkml.Verify(vk, k.X, r.Y, r.Proof, nil), zkml.CheckKeyDigest)
	s, err := Prove(cpu(t), pk, k.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	rejected(t, zkml.Verify(k.vk, k.X, s.Y, s.Proof, nil), zkml.CheckKeyDigest)
	// The other proof under this key's digest.
	forged := append(bytes.Clone(r.Proof[:44]), s.Proof[44:]...)
	rejected(t, zkml.Verify(k.vk, k.X, s.Y, forged, nil), zkml.CheckTree, zkml.CheckLeafDen, zkml.CheckWork)
	if _, err := NewProvingKey(k.vk, other.Weights); err == nil {
		t.Error("a proving key takes weights that are not its key's")
	}
	// Keys whose own proof is missing, or another key's.
	for _, proof := range [][]byte{nil, vk.WeightsProof(), append(bytes.Clone(k.vk.WeightsProof()), 0)} {
		bad, err := k.vk.WithWeightsProof(proof)
		if err != nil {
			t.Fatal(err)
		}
		rejected(t, zkml.Verify(bad, k.X, r.Y, r.Proof, nil), zkml.CheckKeyProof)
	}
}

// TestNeedlessWork asks for work where no challenge follows that it could
// protect; nobody would check its nonce.
func TestNeedlessWork(t *testing.T) {
	c := zkmltest.Plain(4)
	vk, _, err := Setup(cpu(t), c.Program, c.Weights, &quick)
	if err != nil {
		t.Fatal(err)
	}
	parts := zkml.KeyParts{Program: c.Program, WeightsDigest: vk.WeightsDigest(), Root: vk.Root(), Settings: vk.Settings()}
	if _, err := zkml.NewVerifyingKey(parts); err != nil {
		t.Fatal(err)
	}
	parts.Settings.Inference.Work = 1
	if _, err := zkml.NewVerifyingKey(parts); err == nil {
		t.Error("a key asks for work before lookups that there are not")
	}
}

// TestExtremes proves at the ends of the input's range, where sums are
// greatest.
func TestExtremes(t *testing.T) {
	for _, make := range allCases {
		k := make(t)
		end := func(of func(in *graph.Tensor) int64) (x []int32) {
			for _, id := range k.Program.Inputs {
				in := k.Program.Tensor(id)
				x = append(x, slices.Repeat([]int32{int32(of(in))}, in.Len())...)
			}
			return x
		}
		for name, of := range map[string]func(in *graph.Tensor) int64{
			"least":    func(in *graph.Tensor) int64 { return in.Lo },
			"greatest": func(in *graph.Tensor) int64 { return in.Hi },
			"zero":     func(*graph.Tensor) int64 { return 0 },
		} {
			x := end(of)
			t.Run(k.Name+"/"+name, func(t *testing.T) {
				r, err := Prove(cpu(t), k.pk, x, nil)
				if err != nil {
					t.Fatal(err)
				}
				y, err := zkml.Mock(k.Program, k.Weights, x)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(y, r.Y) {
					t.Fatalf("proved %v, mock says %v", r.Y, y)
				}
				if err := zkml.Verify(k.vk, x, y, r.Proof, nil); err != nil {
					t.Fatal(err)
				}
			})
		}
		if _, err := Prove(cpu(t), k.pk, end(func(in *graph.Tensor) int64 { return in.Hi + 1 }), nil); err == nil {
			t.Error("an input out of range is proved")
		}
		if _, err := Prove(cpu(t), k.pk, k.X[1:], nil); err == nil {
			t.Error("an input that is too short is proved")
		}
	}
}

// TestBounds gives Verify values whose residues are right but which are not
// the tensors'.
func TestBounds(t *testing.T) {
	k := mlp(t)
	r := k.prove(t, hooks{})
	wrap := func(v []int32) []int32 {
		w := slices.Clone(v)
		if w[0] > 0 {
			w[0] -= m31.P
		} else {
			w[0] += m31.P
		}
		return w
	}
	rejected(t, zkml.Verify(k.vk, wrap(k.X), r.Y, r.Proof, nil), zkml.CheckInput)
	rejected(t, zkml.Verify(k.vk, k.X, wrap(r.Y), r.Proof, nil), zkml.CheckOutput)
	rejected(t, zkml.Verify(k.vk, k.X[1:], r.Y, r.Proof, nil), zkml.CheckInput)
	rejected(t, zkml.Verify(k.vk, k.X, append(slices.Clone(r.Y), 0), r.Proof, nil), zkml.CheckOutput)
}
