package circom

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"reflect"
	"strings"

	"github.com/consensys/gnark-crypto/ecc"
)

// The JSON of snarkjs: numbers are strings of decimal digits; points are projective, with a
// third coordinate that is 1, or 0 for infinity. Encoders write byte for byte what snarkjs
// 0.7.6 writes. Decoders refuse points whose third coordinate is another one, infinity written
// otherwise, numbers with a
// sign or leading zeros, and anything behind the value; fields that they do not know they
// leave aside, as snarkjs does. Whether numbers are below their modulus Verify checks.

// decimal is a number of at most maxDigits.
type decimal struct{ *big.Int }

// maxDigits are those of a coordinate of BLS12-381.
const maxDigits = 115

func (d decimal) MarshalJSON() ([]byte, error) {
	if d.Int == nil {
		return nil, errors.New("a number is missing")
	}
	return []byte(`"` + d.String() + `"`), nil
}

func (d *decimal) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if s == "" || len(s) > maxDigits || strings.Trim(s, "0123456789") != "" || (s[0] == '0' && s != "0") {
		return fmt.Errorf("%.20q is no number of %d decimal digits at most", s, maxDigits)
	}
	d.Int, _ = new(big.Int).SetString(s, 10)
	return nil
}

// numbers unwraps them.
func numbers(d []decimal) []*big.Int {
	out := make([]*big.Int, len(d))
	for i := range d {
		out[i] = d[i].Int
	}
	return out
}

func decimals(x []*big.Int) []decimal {
	out := make([]decimal, len(x))
	for i := range x {
		out[i] = decimal{x[i]}
	}
	return out
}

var one, zero = decimal{big.NewInt(1)}, decimal{new(big.Int)}

// isInfinity says that all coordinates are 0.
func isInfinity(coordinates ...*big.Int) bool {
	for _, x := range coordinates {
		if x == nil || x.Sign() != 0 {
			return false
		}
	}
	return true
}

// MarshalJSON writes x, y and 1, or 0, 1 and 0 for infinity.
func (p G1) MarshalJSON() ([]byte, error) {
	if len(p) != 2 {
		return nil, fmt.Errorf("circom: a point of %d coordinates", len(p))
	}
	if isInfinity(p...) {
		return json.Marshal([]decimal{zero, one, zero})
	}
	return json.Marshal(append(decimals(p), one))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *G1) UnmarshalJSON(b []byte) error {
	var c []decimal
	if err := json.Unmarshal(b, &c); err != nil {
		return err
	}
	if len(c) != 3 || c[0].Int == nil || c[1].Int == nil || c[2].Int == nil {
		return fmt.Errorf("%d coordinates; a point has 3", len(c))
	}
	switch {
	case c[2].Sign() == 0 && c[0].Sign() == 0 && c[1].Cmp(one.Int) == 0:
		*p = G1{new(big.Int), new(big.Int)}
	case c[2].Sign() == 0:
		return errors.New("infinity is not 0, 1 and 0")
	case isInfinity(c[0].Int, c[1].Int):
		return errors.New("0, 0 and 1 is no point")
	case c[2].Cmp(one.Int) == 0:
		*p = numbers(c[:2])
	default:
		return errors.New("a point's third coordinate is neither 1 nor 0")
	}
	return nil
}

// MarshalJSON writes x, y and 1, of each the coefficients of 1 and u; infinity is 0, 1 and 0.
func (p G2) MarshalJSON() ([]byte, error) {
	if len(p[0]) != 2 || len(p[1]) != 2 {
		return nil, errors.New("circom: a coordinate is not of two numbers")
	}
	none, unit := []decimal{zero, zero}, []decimal{one, zero}
	if isInfinity(p[0][0], p[0][1], p[1][0], p[1][1]) {
		return json.Marshal([][]decimal{none, unit, none})
	}
	return json.Marshal([][]decimal{decimals(p[0]), decimals(p[1]), unit})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *G2) UnmarshalJSON(b []byte) error {
	var c [][]decimal
	if err := json.Unmarshal(b, &c); err != nil {
		return err
	}
	if len(c) != 3 {
		return fmt.Errorf("%d coordinates; a point has 3", len(c))
	}
	for _, x := range c {
		if len(x) != 2 || x[0].Int == nil || x[1].Int == nil {
			return errors.New("a coordinate is not of two numbers")
		}
	}
	switch {
	case isInfinity(c[2][0].Int, c[2][1].Int):
		if !isInfinity(c[0][0].Int, c[0][1].Int, c[1][1].Int) || c[1][0].Cmp(one.Int) != 0 {
			return errors.New("infinity is not 0, 1 and 0")
		}
		*p = G2{{new(big.Int), new(big.Int)}, {new(big.Int), new(big.Int)}}
	case isInfinity(c[0][0].Int, c[0][1].Int, c[1][0].Int, c[1][1].Int):
		return errors.New("0, 0 and 1 is no point")
	case c[2][0].Cmp(one.Int) == 0 && c[2][1].Sign() == 0:
		*p = G2{numbers(c[0]), numbers(c[1])}
	default:
		return errors.New("a point's third coordinate is neither 1 nor 0")
	}
	return nil
}

// member is a field of an object, and where it goes.
type member struct {
	name string
	to   any
}

// object reads an object whose fields have exactly these names, as for snarkjs: package json
// takes others for them where only the case differs, so that one file would be two proofs, or
// two keys. Of a field that is twice there the last counts.
func object(b []byte, members []member) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	for _, m := range members {
		value, ok := all[m.name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, m.to); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

type proofJSON struct {
	A        *G1    `json:"pi_a"`
	B        *G2    `json:"pi_b"`
	C        *G1    `json:"pi_c"`
	Protocol string `json:"protocol"`
	Curve    string `json:"curve,omitempty"`
}

// MarshalJSON writes proof.json.
func (p Proof) MarshalJSON() ([]byte, error) {
	j := proofJSON{A: &p.A, B: &p.B, C: &p.C, Protocol: "groth16"}
	if p.Curve != ecc.UNKNOWN {
		s, err := systemOf(p.Curve)
		if err != nil {
			return nil, fmt.Errorf("circom: %w", err)
		}
		j.Curve = s.curve().name
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads proof.json. One without a curve, as of rapidsnark, has ecc.UNKNOWN.
func (p *Proof) UnmarshalJSON(b []byte) error {
	var j proofJSON
	err := object(b, []member{{"pi_a", &j.A}, {"pi_b", &j.B}, {"pi_c", &j.C}, {"protocol", &j.Protocol}, {"curve", &j.Curve}})
	if err != nil {
		return err
	}
	if err := groth16(j.Protocol); err != nil {
		return err
	}
	if j.A == nil || j.B == nil || j.C == nil {
		return errors.New("pi_a, pi_b or pi_c is missing")
	}
	id := ecc.UNKNOWN
	if j.Curve != "" {
		var err error
		if id, err = curveNamed(j.Curve); err != nil {
			return err
		}
	}
	*p = Proof{Curve: id, A: *j.A, B: *j.B, C: *j.C}
	return nil
}

func groth16(protocol string) error {
	if protocol != "groth16" {
		return fmt.Errorf("the protocol is %.20q and not groth16", protocol)
	}
	return nil
}

// curveNamed understands the names that snarkjs does.
func curveNamed(name string) (ecc.ID, error) {
	plain := strings.Map(func(r rune) rune {
		if (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') {
			return r
		}
		return -1
	}, strings.ToUpper(name))
	switch plain {
	case "BN128", "BN254", "ALTBN128":
		return ecc.BN254, nil
	case "BLS12381":
		return ecc.BLS12_381, nil
	}
	return ecc.UNKNOWN, fmt.Errorf("the curve is %.20q and not bn128 or bls12381", name)
}

type keyJSON struct {
	Protocol  string        `json:"protocol"`
	Curve     string        `json:"curve"`
	NPublic   *int          `json:"nPublic"`
	Alpha     *G1           `json:"vk_alpha_1"`
	Beta      *G2           `json:"vk_beta_2"`
	Gamma     *G2           `json:"vk_gamma_2"`
	Delta     *G2           `json:"vk_delta_2"`
	AlphaBeta [][][]decimal `json:"vk_alphabeta_12"`
	IC        []G1          `json:"IC"`
}

// MarshalJSON writes verification_key.json. The key's points have to be of their groups, as
// the pairing of alpha and beta is written too.
func (k VerifyingKey) MarshalJSON() ([]byte, error) {
	s, err := systemOf(k.Curve)
	if err != nil {
		return nil, fmt.Errorf("circom: %w: %w", ErrKey, err)
	}
	if err := s.checkKey(&k); err != nil {
		return nil, err
	}
	n := len(k.IC) - 1
	j := keyJSON{
		Protocol: "groth16", Curve: s.curve().name, NPublic: &n,
		Alpha: &k.Alpha, Beta: &k.Beta, Gamma: &k.Gamma, Delta: &k.Delta, IC: k.IC,
	}
	c, err := s.alphaBeta(&k)
	if err != nil {
		return nil, fmt.Errorf("circom: %w: pairing: %w", ErrKey, err)
	}
	for range 2 {
		var half [][]decimal
		for range 3 {
			half, c = append(half, decimals(c[:2])), c[2:]
		}
		j.AlphaBeta = append(j.AlphaBeta, half)
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads verification_key.json. Of the pairing of alpha and beta in it nothing
// depends, as in snarkjs.
func (k *VerifyingKey) UnmarshalJSON(b []byte) error {
	var j keyJSON
	err := object(b, []member{
		{"protocol", &j.Protocol}, {"curve", &j.Curve}, {"nPublic", &j.NPublic},
		{"vk_alpha_1", &j.Alpha}, {"vk_beta_2", &j.Beta}, {"vk_gamma_2", &j.Gamma}, {"vk_delta_2", &j.Delta},
		{"vk_alphabeta_12", &j.AlphaBeta}, {"IC", &j.IC},
	})
	if err != nil {
		return err
	}
	if err := groth16(j.Protocol); err != nil {
		return err
	}
	id, err := curveNamed(j.Curve)
	if err != nil {
		return err
	}
	switch {
	case j.Alpha == nil || j.Beta == nil || j.Gamma == nil || j.Delta == nil:
		return errors.New("vk_alpha_1, vk_beta_2, vk_gamma_2 or vk_delta_2 is missing")
	case j.NPublic == nil || *j.NPublic < 0 || len(j.IC) != *j.NPublic+1:
		return fmt.Errorf("IC has %d points, which is not one more than nPublic", len(j.IC))
	}
	*k = VerifyingKey{Curve: id, Alpha: *j.Alpha, Beta: *j.Beta, Gamma: *j.Gamma, Delta: *j.Delta, IC: j.IC}
	return nil
}

// MarshalJSON writes public.json.
func (p Public) MarshalJSON() ([]byte, error) {
	out := make([]decimal, len(p))
	for i := range p {
		out[i] = decimal{p[i].Big()}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads public.json.
func (p *Public) UnmarshalJSON(b []byte) error {
	var d []decimal
	if err := json.Unmarshal(b, &d); err != nil {
		return err
	}
	out := make(Public, len(d))
	for i := range d {
		if d[i].Int == nil || d[i].BitLen() > 256 {
			return fmt.Errorf("public signal %d is no number of 256 bits at most", i)
		}
		toWords(out[i][:], d[i].Int)
	}
	*p = out
	return nil
}

// JSONFile is what files of snarkjs hold.
type JSONFile interface {
	Proof | Public | VerifyingKey
}

// WriteJSON writes a value as snarkjs's files have it.
func WriteJSON[T JSONFile](w io.Writer, v T) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// maxJSON bounds files of JSON: a verifying key of a million public signals is of 240 MB.
const maxJSON = 1 << 28

// ReadJSON reads a file's value; name is for errors, which are an ErrFormat.
func ReadJSON[T JSONFile](name string, r io.Reader) (T, error) {
	var v T
	b, err := io.ReadAll(io.LimitReader(r, maxJSON+1))
	if err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > maxJSON {
		return v, fmt.Errorf("%s: %w: more than %d bytes", name, ErrFormat, maxJSON)
	}
	if bytes.Equal(bytes.TrimSpace(b), []byte("null")) {
		return v, fmt.Errorf("%s: %w: null", name, ErrFormat)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		if t := (*json.UnmarshalTypeError)(nil); errors.As(err, &t) {
			err = fmt.Errorf("%s where there should be %s", t.Value, kinds[t.Type.Kind()])
			if t.Field != "" {
				err = fmt.Errorf("%s: %w", t.Field, err)
			}
		}
		return v, fmt.Errorf("%s: %w: %w", name, ErrFormat, err)
	}
	return v, nil
}

// kinds are JSON's names for what is read.
var kinds = map[reflect.Kind]string{reflect.Struct: "an object", reflect.Map: "an object", reflect.Slice: "a list", reflect.String: "a string", reflect.Int: "a whole number"}

// OpenJSON reads a file on disk.
func OpenJSON[T JSONFile](path string) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	return ReadJSON[T](path, f)
}
