package whirfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/whir"
)

func commitment(t testing.TB, s *Scheme) *Commitment {
	t.Helper()
	p, err := s.Choose(8, whir.Options{Lambda: 90})
	if err != nil {
		t.Fatal(err)
	}
	return &Commitment{p, Root{1, 2, 3, 4}}
}

func TestCommitmentFile(t *testing.T) {
	for _, s := range Schemes() {
		c := commitment(t, s)
		file := c.Encode()
		again, err := DecodeCommitment(file)
		if err != nil {
			t.Fatal(err)
		}
		if again.Root != c.Root || again.Params.Scheme() != s || !bytes.Equal(again.Encode(), file) {
			t.Errorf("%s: the commitment changed on its way through a file", s.Name())
		}
		change := func(at int, v uint32) []byte {
			out := slices.Clone(file)
			binary.LittleEndian.PutUint32(out[at:], v)
			return out
		}
		for want, bad := range map[string][]byte{
			"cut off":                         file[:len(file)-1],
			"1 bytes too many":                append(slices.Clone(file), 0),
			"version 2":                       change(8, 2),
			`begins with "ZKWWPRF\n"`:         append([]byte(MagicProof), file[8:]...),
			"no such scheme":                  bytes.Replace(file, []byte(s.Name()), bytes.ToUpper([]byte(s.Name())), 1),
			"the scheme's name needs 4294967": change(12, 1<<32-1),
		} {
			if _, err := DecodeCommitment(bad); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", s.Name(), err, want)
			}
		}
	}
}

func TestFind(t *testing.T) {
	for _, s := range Schemes() {
		if got, err := Find(s.Name()); err != nil || got != s {
			t.Errorf("Find(%q) = %v, %v", s.Name(), got, err)
		}
	}
	if _, err := Find("m31-md5"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "m31-poseidon2") {
		t.Errorf("an unknown scheme: %v", err)
	}
}

func TestReadTable(t *testing.T) {
	const modulus = 1<<31 - 1
	npy := func(descr string, body ...byte) []byte {
		head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (2,), }\n", descr)
		return append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head))), append([]byte(head), body...)...)
	}
	for name, file := range map[string][]byte{
		"raw":    {7, 0, 0, 0, 0, 1, 0, 0},
		"int64":  npy("<i8", 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
		"uint64": npy("<u8", 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
		"uint32": npy("<u4", 7, 0, 0, 0, 0, 1, 0, 0),
		"float":  npy("<f4", 0, 0, 0xe0, 0x40, 0, 0, 0x80, 0x43),
	} {
		got, err := ReadTable(file, modulus)
		if err != nil || !slices.Equal(got, []uint32{7, 256}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for want, file := range map[string][]byte{
		"neither a .npy file nor whole":    {1, 2, 3},
		"word 1 is 2147483647, want less":  {0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f},
		"element 1 is -1, want an integer": npy("|i1", 1, 0xff),
		"element 1 is 0.5":                 npy("<f4", 0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f),
		"needs more than the file's":       npy("<i8", 1),
		"element 0 is 2147483647, want":    npy("<u4", 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0),
	} {
		if _, err := ReadTable(file, modulus); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	s := Schemes()[0]
	for _, n := range []int{0, 1, 3, 6} {
		if _, err := s.TableVars(n * s.EntryWords()); !errors.Is(err, ErrFormat) {
			t.Errorf("a table of %d entries: %v", n, err)
		}
	}
	if v, err := s.TableVars(8 * s.EntryWords()); v != 3 || err != nil {
		t.Errorf("a table of 8 entries has %d variables (%v)", v, err)
	}
}

// Random words are fixed for good: seeds stand for tables in key files.
func TestRandom(t *testing.T) {
	got := Random("table", "1", 1<<31-1, 4)
	if fmt.Sprint(got) != "[1029640560 371397250 1897050432 2127794130]" {
		t.Errorf("seed 1 gives %v", got)
	}
	for _, w := range Random("table", "2", 1<<30, 1000) {
		if w >= 1<<30 {
			t.Fatalf("%d is not below the modulus", w)
		}
	}
	if slices.Equal(Random("point", "1", 1<<31-1, 4), got) {
		t.Error("the label does not matter")
	}
}

func TestDescribe(t *testing.T) {
	for _, s := range Schemes() {
		p := commitment(t, s).Params
		d := p.Describe()
		if d.Scheme != s.Name() || d.Vars != 8 || d.Lambda != 90 || d.Min < 90 || len(d.Rounds) != p.Inner().Rounds() || len(d.Lines) == 0 {
			t.Errorf("%s: %+v", s.Name(), d)
		}
		left := p.Inner().Vars()
		for _, r := range d.Rounds {
			if r.Vars != left || r.LogLeaves != r.Vars+r.LogInvRate-r.Fold || r.Queries < 1 {
				t.Errorf("%s: round %+v", s.Name(), r)
			}
			left -= r.Fold
		}
		if left != d.FinalVars {
			t.Errorf("%s: %d variables are left, want %d", s.Name(), left, d.FinalVars)
		}
	}
}

// Whatever a file holds, reading it is an error of ErrFormat or gives what
// encodes to a file that reads the same.
func FuzzDecode(f *testing.F) {
	for _, s := range Schemes() {
		c := commitment(f, s)
		f.Add(c.Encode())
		pf := &Proof{Params: c.Params.Digest(), Body: []byte{1, 2, 3, 4}}
		f.Add(pf.Encode())
		claims := []Claim{{Kind: Eval, Point: c.Params.RandomPoint("x", 8), Values: c.Params.RandomPoint("v", 1)}}
		f.Add(EncodeClaims(claims))
		f.Add((&Bundle{c, claims, pf}).Encode())
		f.Add((&Key{c, []Table{{Source: Seed, Name: "1"}}}).Encode())
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		check := func(what string, err error, encode func() []byte) {
			switch {
			case err != nil && !errors.Is(err, ErrFormat):
				t.Errorf("%s: %v is no error of the format", what, err)
			case err == nil && encode != nil && !bytes.Equal(encode(), file):
				t.Errorf("%s: two files for one %s", what, what)
			}
		}
		c, err := DecodeCommitment(file)
		check("commitment", err, func() []byte { return c.Encode() })
		pf, err := DecodeProof(file)
		check("proof", err, func() []byte { return pf.Encode() })
		k, err := DecodeKey(file)
		check("key", err, func() []byte { return k.Encode() })
		_, err = DecodeClaims(file)
		check("claims", err, nil)
		b, err := DecodeBundle(file)
		check("bundle", err, nil)
		if err == nil {
			check("verification", errorOfFormat(b.Verify()), nil)
		}
		_, err = ReadTable(file, 1<<31-1)
		check("table", err, nil)
	})
}

// errorOfFormat is err without rejections.
func errorOfFormat(err error) error {
	var r *Rejection
	if errors.As(err, &r) {
		return nil
	}
	return err
}
