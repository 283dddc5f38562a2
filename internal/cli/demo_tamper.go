package cli

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
)

// proofHeader is the length of a proof's header: magic, version, and the
// digest of the key.
const proofHeader = 8 + 4 + 32

// tamper tries three forgeries.
func (d *demo) tamper() error {
	r := &d.result
	// Another answer: the scores of two digits exchanged.
	y := slices.Clone(d.proved.Y)
	other := (r.Details.Answer + 4) % len(y)
	y[r.Details.Answer], y[other] = y[other], y[r.Details.Answer]
	answer := zkml.Verify(d.vk, d.x, y, d.proved.Proof, nil)
	name := fmt.Sprintf("answer %d -> %d", r.Details.Answer, other)
	r.Rejections.Answer = d.forgery(name, answer)
	// The same proof, made to name the other answer.
	opened, err := zkml.DecodeProof(d.vk, d.proved.Proof)
	if err != nil {
		return err
	}
	renamed, err := zkml.EncodeProof(d.vk, zkml.DigestsOf(d.x, y), opened)
	if err != nil {
		return err
	}
	named := zkml.Verify(d.vk, d.x, y, renamed, nil)
	r.Rejections.Answer += "; with the answer's digest written over: " + d.forgery(name+", renamed", named)

	// Another byte of the proof, in the middle.
	at := len(d.proved.Proof) * 2 / 3
	proof := slices.Clone(d.proved.Proof)
	proof[at] ^= 1
	byteErr := zkml.Verify(d.vk, d.x, d.proved.Y, proof, nil)
	r.Rejections.ProofByte = d.forgery(fmt.Sprintf("proof byte %s", grouped(int64(at))), byteErr)

	// Another weight: an honest proof for a network that differs in one.
	weights, name, err := d.otherWeights()
	if err != nil {
		return err
	}
	_, pk, _, err := d.setupKeys(d.ctx, d.device, d.program, weights, zkprover.SetupOptions{})
	if err != nil {
		return err
	}
	forged, err := d.proveOnce(d.ctx, d.device, pk, d.x, nil, nil)
	if err != nil {
		return err
	}
	weight := zkml.Verify(d.vk, d.x, forged.Y, forged.Proof, nil)
	r.Rejections.Weight = d.forgery(name, weight)
	// The same proof, made to name the honest key.
	relabelled := slices.Clone(forged.Proof)
	copy(relabelled, d.proved.Proof[:proofHeader])
	label := zkml.Verify(d.vk, d.x, forged.Y, relabelled, nil)
	r.Rejections.Weight += "; with the key's digest written over: " + d.forgery(name+", key renamed", label)
	r.TamperedRejected = answer != nil && named != nil && weight != nil && label != nil && byteErr != nil
	return nil
}

// otherWeights copies the weights and changes one of them by one.
func (d *demo) otherWeights() (*graph.Weights, string, error) {
	w := &graph.Weights{Data: slices.Clone(d.weights.Data)}
	id := d.program.Params()[0]
	values := w.Of(id).Ints()
	at := len(values) * 2 / 5
	if int64(values[at]) < d.program.Tensor(id).Hi {
		values[at]++
	} else {
		values[at]--
	}
	w.Data[id] = graph.NewValues(values)
	return w, fmt.Sprintf("weight %s", grouped(int64(at))), w.ValidateFor(d.program)
}

// forgery prints what became of a forged statement and returns the reason.
func (d *demo) forgery(what string, err error) string {
	if err == nil {
		d.say("tamper   %-28s ACCEPTED", what)
		return ""
	}
	why := oneLine(reason{zkml.FailedCheck(err), err}.Error())
	d.say("tamper   %-28s rejected: %s", what, why)
	return why
}
