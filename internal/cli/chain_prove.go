package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	chainprover "github.com/zkwarp/zkwarp/zkml/chunks/prover"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// partSuffix ends the names of files with the proof of one part.
const partSuffix = ".part"

// provedChain is a proof of a chain, with how it was made.
type provedChain struct {
	*chainprover.Result
	proof []byte
	time  time.Duration
	stale []int // parts whose files were of something else
	kept  int   // parts whose files were taken
}

// proveChain proves one input. With a folder, proofs of parts are written there as soon as they are made, and those that an earlier run has left
// are taken if they hold for this input.
func (a *app) proveChain(ctx context.Context, name string, keys *provers, x []int32, tie []byte, dir string) (*provedChain, error) {
	chain, out := keys.chain, &provedChain{}
	for k, vk := range chain.Keys() {
		if err := a.enough("proving "+chain.PartName(k), proofBytes(vk.Program())); err != nil {
			return nil, err
		}
	}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, inputError("writing %s: %w", dir, plainFS(err))
		}
	}
	p := a.startParts("prove", len(chain.Keys()))
	defer p.end()
	o := &chainprover.Options{
		Context: tie,
		Stage: func(k int, on *device.Device, stage zkprover.Stage, done bool) {
			if !done {
				p.begin(on.Name(), k, string(stage))
			}
		},
		Progress: func(_ int, on *device.Device, done bool) {
			if done {
				p.done(on.Name())
			}
		},
	}
	found := make([]error, len(chain.Keys())) // why a file was not taken
	if dir != "" {
		o.Kept = func(k int) (*chunks.PartProof, []*zkml.Opening) {
			part, err := a.keptPart(partFile(dir, k, partSuffix))
			found[k] = err
			return part, nil
		}
		o.Stale = func(k int, err error) { found[k] = err }
		o.Proved = func(p *chunks.PartProof, _ []*zkml.Opening) error {
			return a.writeOver(output{path: partFile(dir, p.Part, partSuffix), data: p.Encode()})
		}
	}
	err := a.onDevices(name, chainWork(chain), func(all []*device.Device) error {
		start := time.Now()
		loaded, err := chainprover.Once(all, chain, keys.keys)
		if err != nil {
			return err
		}
		for _, line := range loaded.Memory().Lines(chain) {
			a.log.Info("memory", "plan", line)
		}
		r, err := loaded.Prove(ctx, x, o)
		out.Result, out.time = r, time.Since(start)
		return errors.Join(err, loaded.Close())
	})
	for k, why := range found {
		if why != nil {
			out.stale = append(out.stale, k+1)
			a.log.Warn("the proof of a part was left by another run and is not used", "file", partFile(dir, k, partSuffix), "reason", oneLine(why.Error()))
		}
	}
	if err != nil {
		return nil, withCode(ExitDevice, keyError(err))
	}
	for _, w := range out.Warnings {
		a.log.Warn(w)
	}
	for i := range out.Parts {
		if out.Parts[i].Kept {
			out.kept++
		}
	}
	out.proof = out.Proof.Encode()
	return out, nil
}

// keptPart reads the proof of a part that an earlier run has left, nil if there is none.
func (a *app) keptPart(path string) (*chunks.PartProof, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, nil //nolint:nilerror // there is none, or it cannot be seen
	}
	data, err := a.readFile("proof", path)
	if err != nil {
		return nil, err
	}
	return chunks.DecodePart(data)
}

// removeParts takes away the files of parts that are in a proof now, and the folder if that empties it.
func (a *app) removeParts(dir string, parts int) {
	for k := range parts {
		os.Remove(partFile(dir, k, partSuffix))
	}
	os.Remove(dir)
}

// chainReport is what prove says about parts and devices.
type chainReport struct {
	Parts    []partReport       `json:"parts"`
	Devices  []deviceReport     `json:"devices"`
	Stages   map[string]float64 `json:"stages_ms"`
	Kept     int                `json:"parts_kept"`
	Stale    []int              `json:"parts_stale,omitempty"`
	Warnings []string           `json:"warnings,omitempty"`
}

type partReport struct {
	Part   int                `json:"part"`
	Name   string             `json:"name"`
	Device string             `json:"device"`
	Kept   bool               `json:"kept"`
	Prove  float64            `json:"prove_ms"`
	Stages map[string]float64 `json:"stages_ms,omitempty"`
	Bytes  int                `json:"proof_bytes"`
}

type deviceReport struct {
	Device string  `json:"device"`
	Parts  []int   `json:"parts"`
	Busy   float64 `json:"busy_ms"`
	Waited float64 `json:"waited_ms"`
	Need   int64   `json:"need_bytes"`   // greatest estimate of a part
	Memory int64   `json:"memory_bytes"` // that the device had to give, 0 if there is no limit
}

func newChainReport(chain *chunks.Chain, r *provedChain) *chainReport {
	out := &chainReport{Stages: map[string]float64{}, Kept: r.kept, Stale: r.stale, Warnings: r.Warnings}
	for k, part := range r.Parts {
		stages := stageObject(part.Timings)
		for name, ms := range stages {
			out.Stages[name] += ms
		}
		out.Parts = append(out.Parts, partReport{k + 1, chain.PartName(k), part.Device, part.Kept, milliseconds(part.Time), stages, len(r.Proof.Proofs[k])})
	}
	for _, d := range r.Devices {
		var parts []int
		for _, k := range d.Parts {
			parts = append(parts, k+1)
		}
		out.Devices = append(out.Devices, deviceReport{d.Name, parts, milliseconds(d.Busy), milliseconds(d.Waited), d.Need, d.Memory})
	}
	return out
}

// text is the report for people: a line for each part and each device.
func (r *chainReport) text() string {
	var rows [][]any
	for _, p := range r.Parts {
		took := durationText(time.Duration(p.Prove * 1e6))
		if p.Kept {
			took = "kept"
		}
		rows = append(rows, []any{p.Name, p.Device, took, sizeText(int64(p.Bytes))})
	}
	text := partsTable([]string{"part", "device", "proved in", "proof"}, rows)
	rows = nil
	for _, d := range r.Devices {
		if len(d.Parts) == 0 {
			continue
		}
		memory := "no limit"
		if d.Memory > 0 {
			memory = sizeText(d.Memory)
		}
		rows = append(rows, []any{d.Device, len(d.Parts), durationText(time.Duration(d.Busy * 1e6)), durationText(time.Duration(d.Waited * 1e6)), sizeText(d.Need), memory})
	}
	return text + "\n" + partsTable([]string{"device", "parts", "busy", "waited", "needs", "of"}, rows)
}

// proveWithChain is the verb prove for the key of a chain.
func (a *app) proveWithChain(ctx context.Context, dir, name, out string, input []string, tie []byte, keepParts bool) error {
	if out == "-" && keepParts {
		return usageError("--keep-parts keeps them beside the proof, which is to go to standard output")
	}
	keys, err := a.loadProvers(dir)
	if err != nil {
		return err
	}
	program := zkmlfile.Face(keys.chain)
	x, err := a.loadInput(input, program)
	if err != nil {
		return err
	}
	parts := ""
	if out != "-" {
		parts = out + ".parts"
	}
	r, err := a.proveChain(ctx, name, keys, x, tie, parts)
	if err != nil {
		return err
	}
	answer, err := zkmlfile.NewAnswer(program, r.Y)
	if err != nil {
		return err
	}
	text, err := answer.Encode()
	if err != nil {
		return err
	}
	answerPath := answerName(out)
	if err := a.write(output{path: out, data: r.proof}, output{path: answerPath, data: text}); err != nil {
		return err
	}
	kept := ""
	if parts != "" {
		if keepParts {
			kept = ", parts in " + parts
		} else {
			a.removeParts(parts, len(keys.keys))
		}
	}
	digest := sha256.Sum256(r.proof)
	report := newChainReport(keys.chain, r)
	return a.wrote(out, map[string]any{
		"proof": out, "output": answerPath, "answer": answer, "prove_ms": milliseconds(r.time), "proof_bytes": len(r.proof), "proof_sha256": hexText(digest[:]),
		"parts": report.Parts, "devices": report.Devices, "stages_ms": report.Stages, "parts_kept": report.Kept, "parts_stale": report.Stale, "warnings": report.Warnings,
	}, "answer   %s\nprove    %s in %s, %d of them kept from before\n%s\nwritten  %s (%s), %s%s", answerText(answer), count(len(report.Parts), "part"), durationText(r.time),
		report.Kept, report.text(), out, sizeText(int64(len(r.proof))), answerPath, kept)
}

// partOf says which part of a chain a key is of.
func partOf(chain *chunks.Chain, pk *zkprover.ProvingKey) (int, error) {
	digest := pk.VerifyingKey().Digest()
	k := slices.IndexFunc(chain.Keys(), func(vk *zkml.VerifyingKey) bool { return vk.Digest() == digest })
	if k < 0 {
		return 0, inputError("the key has the digest %x..., which no part of the chain has", digest[:8])
	}
	return k, nil
}
