package engine

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
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
	// inputs and answers that are public, and commitments to the others.
	Needs Needs `json:"needs"`
	// Bits of all errors together; the terms are of the key of one program.
	Bits  float64     `json:"bits"`
	Terms []zkml.Term `json:"terms,omitempty"`

	vk      *zkml.VerifyingKey
	chain   *chunks.Chain
	weights *graph.Weights
	program *graph.Program // as it is from outside: public inputs and outputs, no parts
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
		keys, digest, k.program, k.Bits = k.chain.Keys(), k.chain.Digest(), zkmlfile.PublicFace(k.chain), k.chain.Security()
	} else {
		keys, digest, k.program = []*zkml.VerifyingKey{k.vk}, k.vk.Digest(), zkmlfile.Public(k.vk)
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
	Commitments [][]byte
	Proofs      [][]byte
	// Context is what the proof is tied to, or nil.
	Context []byte
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
	File string `json:"file"` // SHA-256
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
		if err := k.commitments(c, k.claimed(proof), &st, r); err != nil {
			return err
		}
		return chunks.VerifyStatement(k.chain, &st, proof, &chunks.Options{Context: c.Context})
	}
	if len(c.Proofs) != 1 {
		return fmt.Errorf("proof: %d files, the proof of a network in one part is one", len(c.Proofs))
	}
	h, _, err := zkml.DecodeProofHeader(c.Proofs[0])
	if err != nil {
		return fmt.Errorf("proof: %w", err)
	}
	if err := k.commitments(c, h.Digests, &st, r); err != nil {
		return err
	}
	return zkml.VerifyStatement(k.vk, &st, c.Proofs[0], &zkml.Options{Context: c.Context, Weights: k.weights})
}

// claimed are the roots that the proof of a chain names for what the chain has committed; not all, if the proof is of something else.
func (k *Key) claimed(proof *chunks.Proof) (d zkml.Digests) {
	for i := range k.committed() {
		part, tensor := k.chain.CommittedIn(i)
		if part >= len(proof.Proofs) {
			break
		}
		h, _, err := zkml.DecodeProofHeader(proof.Proofs[part])
		if err != nil || tensor >= len(h.Roots) {
			break
		}
		d.Roots = append(d.Roots, h.Roots[tensor])
	}
	return d
}

// commitments puts the statement's commitments in the order of the roots that the proof names, and says which is of what.
func (k *Key) commitments(c *Case, claimed zkml.Digests, st *zkml.Statement, r *Inference) error {
	if len(c.Commitments) != len(k.Needs.Commitments) {
		return fmt.Errorf("%d commitments, want %d: %s", len(c.Commitments), len(k.Needs.Commitments), strings.Join(k.Needs.Commitments, ", "))
	}
	var err error
	given := make([]*zkml.Commitment, len(c.Commitments))
	for i, f := range c.Commitments {
		if given[i], err = zkml.DecodeCommitment(f); err != nil {
			return fmt.Errorf("commitment: %w", err)
		}
	}
	left := make([]int, len(given))
	for i := range left {
		left[i] = i
	}
	for i, of := range k.Needs.Commitments {
		// One that the proof does not have is for the verifier to reject: any that is left.
		at := max(0, slices.IndexFunc(left, func(j int) bool { return i < len(claimed.Roots) && given[j].Root == claimed.Roots[i] }))
		j := left[at]
		left = slices.Delete(left, at, at+1)
		st.Commitments = append(st.Commitments, *given[j])
		r.Committed = append(r.Committed, Commitment{of, digestText(c.Commitments[j])})
	}
	return nil
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
