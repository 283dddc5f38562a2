package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// Role is what a file is for in the verification of a network's answer.
type Role string

// Roles. A Picture is one that is no PNG: it has to become one first, so that
// whoever else verifies can have the same file.
const (
	RoleKey     Role = "key"
	RoleInput   Role = "input"
	RolePicture Role = "picture"
	RoleAnswer  Role = "answer"
	RoleProof   Role = "proof"
	// A commitment to an input or output that the key has committed.
	RoleCommitment Role = "commitment"
	RoleOpened     Role = "opened"  // the opening of one
	RoleOpening    Role = "opening" // of the other page
	RoleNone       Role = ""
)

// RoleOf tells a file's role by how it begins.
func RoleOf(file []byte) Role {
	begins := func(magics ...string) bool {
		for _, m := range magics {
			if bytes.HasPrefix(file, []byte(m)) {
				return true
			}
		}
		return false
	}
	text := bytes.TrimLeft(file, " \t\r\n")
	switch {
	case begins(zkml.MagicVerifyingKey, zkml.MagicProvingKey, chunks.MagicChain):
		return RoleKey
	case begins(zkml.MagicProof, chunks.MagicProof, chunks.MagicPart):
		return RoleProof
	case begins(zkml.MagicCommitment):
		return RoleCommitment
	case begins(zkml.MagicOpening):
		return RoleOpened
	case begins("ZKWW"):
		return RoleOpening
	case begins("\x89PNG\r\n\x1a\n", "\x93NUMPY", "PK\x03\x04"):
		return RoleInput
	case begins("\xff\xd8\xff", "GIF8", "BM") || begins("RIFF") && bytes.Contains(file[:min(len(file), 16)], []byte("WEBP")) ||
		bytes.Contains(file[:min(len(file), 16)], []byte("ftypavif")):
		return RolePicture
	case bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte(`"output_data"`)):
		return RoleAnswer
	case bytes.HasPrefix(text, []byte("{")):
		return RoleInput
	}
	return RoleNone
}

// Key is a verifier's key of a network, or of a network in parts.
type Key struct {
	// What the key says, for people; empty but for Problem if it is none.
	Problem    string `json:"problem,omitempty"`
	Name       string `json:"name"`
	Digest     string `json:"digest"` // of the key, or of the chain
	Mode       string `json:"mode"`
	Parts      int    `json:"parts"`
	Operations int    `json:"operations"`
	Parameters int    `json:"parameters"`
	Takes      string `json:"takes"`
	Gives      string `json:"gives"`
	// Picture is the size of the one that the network takes: channels, height,
	// width; nil if it takes something else, or a flat list.
	Picture []int `json:"picture,omitempty"`
	// Needs says which files a verification takes beside the key and the proof:
	// inputs and answers that are public, and commitments to the others, or openings.
	Needs Needs `json:"needs"`
	// Bits of all errors together; the terms are of the key of one program.
	Bits  float64     `json:"bits"`
	Terms []zkml.Term `json:"terms,omitempty"`

	vk      *zkml.VerifyingKey
	chain   *chunks.Chain
	weights *graph.Weights
	program *graph.Program // as it is from outside: public inputs and outputs, no parts
	whole   *graph.Program // likewise with what is committed
}

// Needs is which files a verification takes.
type Needs struct {
	Input       bool     `json:"input"`
	Answer      bool     `json:"answer"`
	Commitments []string `json:"commitments"` // what each is of
}

// Keys reads keys and remembers the last one: checking a key takes about as long as a
// proof. The zero value is ready.
type Keys struct {
	mu     sync.Mutex
	digest [32]byte
	last   *Key
}

// Read reads a file.
func (k *Keys) Read(file []byte) *Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	digest := sha256.Sum256(file)
	if k.last == nil || k.digest != digest {
		k.last, k.digest = readKey(file), digest
	}
	return k.last
}

func readKey(file []byte) *Key {
	k := &Key{}
	var err error
	switch {
	case bytes.HasPrefix(file, []byte(chunks.MagicChain)):
		k.chain, err = chunks.DecodeChain(file)
	case bytes.HasPrefix(file, []byte(zkml.MagicProvingKey)):
		k.vk, k.weights, err = zkml.DecodeProvingKey(file)
		if err == nil && k.vk.Mode() != zkml.PublicWeights {
			err = errors.New("a proving key of weights that are not public is for its owner only: verifying takes the .vk file")
		}
	default:
		k.vk, err = zkml.DecodeVerifyingKey(file)
		if err == nil && k.vk.Mode() == zkml.PublicWeights {
			err = errors.New("the key is for public weights, which are in the proving key (.pk): verifying takes that file")
		}
	}
	if err != nil {
		return &Key{Problem: err.Error()}
	}
	var keys []*zkml.VerifyingKey
	var digest [32]byte
	if k.chain != nil {
		keys, digest, k.Bits = k.chain.Keys(), k.chain.Digest(), k.chain.Security()
		k.program, k.whole = zkmlfile.PublicFace(k.chain), zkmlfile.Face(k.chain)
	} else {
		keys, digest, k.program = []*zkml.VerifyingKey{k.vk}, k.vk.Digest(), zkmlfile.Public(k.vk)
		k.whole = k.vk.Program()
		r := zkml.Security(k.vk)
		k.Bits, k.Terms = r.Sum, r.Terms
	}
	k.Name, k.Digest, k.Mode, k.Parts = k.program.Name, fmt.Sprintf("%x", digest), keys[0].Mode().String(), len(keys)
	for _, vk := range keys {
		if k.chain != nil && vk.Mode() == zkml.PublicWeights {
			return &Key{Problem: "a network in parts with public weights: this page does not make its parts' weights, zkwarp verify does"}
		}
		p := vk.Program()
		k.Operations += len(p.Ops)
		for _, id := range p.Params() {
			k.Parameters += p.Tensor(id).Len()
		}
	}
	k.Takes, k.Gives = tensors(k.program, k.program.Inputs), tensors(k.program, k.program.Outputs)
	k.Needs = Needs{Input: len(k.program.Inputs) > 0, Answer: len(k.program.Outputs) > 0, Commitments: []string{}}
	for _, t := range k.committed() {
		k.Needs.Commitments = append(k.Needs.Commitments, t.String())
	}
	if c, h, w, ok := zkmlfile.Image(k.program); ok {
		k.Picture = []int{c, h, w}
	}
	return k
}

// committed lists what the key has committed.
func (k *Key) committed() []zkml.CommittedTensor {
	if k.chain != nil {
		return k.chain.Committed()
	}
	return k.vk.Committed()
}

// tensors lists tensors with their shapes.
func tensors(p *graph.Program, ids []graph.TensorID) string {
	var parts []string
	for _, id := range ids {
		t := p.Tensor(id)
		shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Shape), "[]"), " ", "\u00d7")
		parts = append(parts, t.Name+" "+shape)
	}
	return strings.Join(parts, ", ")
}

// Case is the files of a verification; a network in parts may have a file of proof for each.
type Case struct {
	Key         []byte
	Input       []byte // if there are public inputs
	Answer      []byte // if there are public outputs
	Commitments []File // of what is committed,
	Openings    []File // or what they are made of, which shows the values
	Proofs      [][]byte
	// Context is what the proof is tied to, or nil.
	Context []byte
}

// File is a file with its name, which says what it is of where its contents do not.
type File struct {
	Name string
	Data []byte
}

// Inference is the outcome of a verification, for JSON.
type Inference struct {
	// Verdict is "accepted", "rejected" or "malformed".
	Verdict string `json:"verdict"`
	// Check that failed, and why; for malformed files the reason alone.
	Check  string `json:"check,omitempty"`
	Reason string `json:"reason,omitempty"`
	// The statement, as far as it could be read: SHA-256 of the files and what the answer says.
	Input      string           `json:"input,omitempty"`
	Output     string           `json:"output,omitempty"`
	Answer     *zkmlfile.Answer `json:"answer,omitempty"`
	Labels     []string         `json:"labels,omitempty"` // of the classes
	Committed  []Commitment     `json:"committed,omitempty"`
	ProofBytes int              `json:"proof_bytes"`
	VerifyMS   float64          `json:"verify_ms"`
	Bits       float64          `json:"bits"`
}

// Commitment is a commitment of a statement.
type Commitment struct {
	Of   string `json:"of"`
	File string `json:"file"` // SHA-256, of the opening if there is one
	// Opened are the values, if there is an opening.
	Opened []float64 `json:"opened,omitempty"`
}

// CheckAnswer is the name under which an answer is rejected whose readable part says
// something else than its integers, which are what the proof is about.
const CheckAnswer = "answer"

// Verify verifies that the key's network gives the answer for the input.
func (k *Keys) Verify(c *Case) *Inference {
	r := &Inference{Verdict: "malformed"}
	for _, p := range c.Proofs {
		r.ProofBytes += len(p)
	}
	key := k.Read(c.Key)
	if key.Problem != "" {
		r.Reason = "key: " + key.Problem
		return r
	}
	r.Bits, r.Labels = key.Bits, key.program.Labels
	err := key.verify(c, r)
	switch check := zkml.FailedCheck(err); {
	case err == nil:
		r.Verdict = "accepted"
	case errors.Is(err, zkmlfile.ErrDerived):
		r.Verdict, r.Check, r.Reason = "rejected", CheckAnswer, err.Error()
	case check != "" && check != zkml.CheckFormat:
		r.Verdict, r.Check, r.Reason = "rejected", check, err.Error()
	default:
		r.Reason = err.Error()
	}
	return r
}

func (k *Key) verify(c *Case, r *Inference) error {
	var st zkml.Statement
	var err error
	if k.Needs.Input {
		r.Input = digestText(c.Input)
		if st.X, err = zkmlfile.ReadInput(k.program, c.Input); err != nil {
			return fmt.Errorf("input: %w", err)
		}
	}
	if k.Needs.Answer {
		r.Output = digestText(c.Answer)
		if st.Y, err = zkmlfile.DecodeAnswer(c.Answer, k.program); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
		if r.Answer, err = zkmlfile.NewAnswer(k.program, st.Y); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
	start := time.Now()
	defer func() { r.VerifyMS = milliseconds(start) }()
	if k.chain != nil {
		proof, err := k.join(c.Proofs)
		if err != nil {
			return fmt.Errorf("proof: %w", err)
		}
		if err := k.commitments(c, &st, r); err != nil {
			return err
		}
		return chunks.VerifyStatement(k.chain, &st, proof, &chunks.Options{Context: c.Context})
	}
	if len(c.Proofs) != 1 {
		return fmt.Errorf("proof: %d files, the proof of a network in one part is one", len(c.Proofs))
	}
	if err := k.commitments(c, &st, r); err != nil {
		return err
	}
	return zkml.VerifyStatement(k.vk, &st, c.Proofs[0], &zkml.Options{Context: c.Context, Weights: k.weights})
}

// commitments are the statement's, of the files given and of openings. Which tensor a file is of follows from its format, and where several tensors
// have that, from its name; never from the proof, in which two could have been exchanged.
func (k *Key) commitments(c *Case, st *zkml.Statement, r *Inference) error {
	list := k.committed()
	given, opened := make([]*zkml.Commitment, len(c.Commitments)), make([]*zkml.Opening, len(c.Openings))
	var formats, openedFormats [][32]byte
	var err error
	for i, f := range c.Commitments {
		if given[i], err = zkml.DecodeCommitment(f.Data); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		formats = append(formats, given[i].Format)
	}
	for i, f := range c.Openings {
		if opened[i], err = zkml.DecodeOpening(f.Data); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		openedFormats = append(openedFormats, opened[i].Format)
	}
	commitmentOf, err := place(list, c.Commitments, formats, ".commitment")
	if err != nil {
		return err
	}
	openingOf, err := place(list, c.Openings, openedFormats, ".opening")
	if err != nil {
		return err
	}
	// A commitment of a format that nothing has is for the verifier to reject: in any place that is left.
	for j := range given {
		if slices.Contains(commitmentOf, j) {
			continue
		}
		i := 0
		for i < len(list) && (commitmentOf[i] >= 0 || openingOf[i] >= 0) {
			i++
		}
		if i == len(list) {
			return fmt.Errorf("%s is one commitment too many, want %s", c.Commitments[j].Name, k.wanted())
		}
		commitmentOf[i] = j
	}
	for j, o := range opened {
		if !slices.Contains(openingOf, j) {
			return &zkml.Rejection{Check: zkml.CheckInput, Err: fmt.Errorf("%s is an opening of format %x..., which nothing that the key has committed has: %s", c.Openings[j].Name, o.Format[:4], k.wanted())}
		}
	}
	for i := range list {
		of := Commitment{Of: list[i].String()}
		var made *zkml.Commitment
		if j := commitmentOf[i]; j >= 0 {
			made, of.File = given[j], digestText(c.Commitments[j].Data)
		}
		if j := openingOf[i]; j >= 0 {
			if made, err = k.open(i, &list[i], opened[j], made); err != nil {
				return fmt.Errorf("%s: %w", c.Openings[j].Name, err)
			}
			of.File, of.Opened = digestText(c.Openings[j].Data), k.values(&list[i], opened[j])
		}
		if made == nil {
			return fmt.Errorf("there is no commitment and no opening of %s, want %s", &list[i], k.wanted())
		}
		st.Commitments, r.Committed = append(st.Commitments, *made), append(r.Committed, of)
	}
	return nil
}

func (k *Key) wanted() string {
	if len(k.Needs.Commitments) == 0 {
		return "none"
	}
	return strings.Join(k.Needs.Commitments, ", ")
}

// open makes the commitment of an opening. If one is given it must be that.
func (k *Key) open(i int, t *zkml.CommittedTensor, o *zkml.Opening, given *zkml.Commitment) (*zkml.Commitment, error) {
	check, bind := zkml.CheckInput, zkml.CheckInputBind
	if t.Output {
		check, bind = zkml.CheckOutput, zkml.CheckOutputBind
	}
	if err := t.Check(o); err != nil {
		return nil, &zkml.Rejection{Check: check, Err: err}
	}
	vk := k.vk
	if k.chain != nil {
		var part int
		part, i = k.chain.CommittedIn(i)
		vk = k.chain.Keys()[part]
	}
	made, err := commit(vk, i, o)
	if err == nil && given != nil && *given != *made {
		err = &zkml.Rejection{Check: bind, Err: fmt.Errorf("%s: the opening is of another commitment than the one given", t)}
	}
	return made, err
}

func commit(vk *zkml.VerifyingKey, i int, o *zkml.Opening) (*zkml.Commitment, error) {
	dev, err := device.Open("cpu")
	if err != nil {
		return nil, err
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		return nil, err
	}
	defer q.Close()
	return prover.Commit(q, vk, i, o)
}

// values are what an opening's integers stand for.
func (k *Key) values(t *zkml.CommittedTensor, o *zkml.Opening) []float64 {
	p, ids := k.whole, k.whole.Inputs
	if t.Output {
		ids = p.Outputs
	}
	scale := p.Tensor(ids[t.Index]).Scale
	out := make([]float64, len(o.Values))
	for i, v := range o.Values {
		out[i] = float64(v) * scale
	}
	return out
}

// place finds for each tensor the file that is of it, -1 if there is none. Files of formats that no tensor has are of none.
func place(list []zkml.CommittedTensor, files []File, formats [][32]byte, suffix string) ([]int, error) {
	names := zkmlfile.CommittedNames(list)
	by := slices.Repeat([]int{-1}, len(list))
	for j, f := range files {
		var free []int // tensors that it can be of
		named, longest := -1, ""
		stem := strings.TrimSuffix(f.Name, suffix)
		for i := range list {
			if list[i].Format != formats[j] {
				continue
			}
			free = append(free, i)
			if (stem == names[i] || strings.HasSuffix(stem, "."+names[i])) && len(names[i]) > len(longest) {
				named, longest = i, names[i]
			}
		}
		switch {
		case len(free) == 0:
			continue
		case len(free) == 1:
			named = free[0]
		case named < 0:
			var of, like []string
			for _, i := range free {
				of, like = append(of, list[i].String()), append(like, names[i]+suffix)
			}
			return nil, fmt.Errorf("%s could be of %s: its name must end in what it is of: %s", f.Name, strings.Join(of, " or "), strings.Join(like, " or "))
		}
		if was := by[named]; was >= 0 {
			return nil, fmt.Errorf("%s and %s are both of %s", files[was].Name, f.Name, &list[named])
		}
		by[named] = j
	}
	return by, nil
}

// join is the proof of a chain, from its file or those of its parts.
func (k *Key) join(files [][]byte) (*chunks.Proof, error) {
	var parts []*chunks.PartProof
	for _, f := range files {
		if !bytes.HasPrefix(f, []byte(chunks.MagicPart)) {
			if len(files) > 1 {
				return nil, fmt.Errorf("%d files, want one, or one for each part", len(files))
			}
			return chunks.DecodeProof(f)
		}
		p, err := chunks.DecodePart(f)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return chunks.Join(k.chain, parts)
}

func digestText(file []byte) string { return fmt.Sprintf("%x", sha256.Sum256(file)) }
