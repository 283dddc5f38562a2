package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	size   int    // of the proof, in bytes
	digest []byte // its SHA-256
	time   time.Duration
	stale  []int // parts whose files were of something else
	kept   int   // parts whose files were taken
}

// proveChain proves one input. With a folder, proofs of parts are written there as soon as they are made, and those that an earlier run has left
// are taken if they hold for this input. openings are those of committed inputs that have been committed already, nil for the others.
func (a *app) proveChain(ctx context.Context, name string, keys *provers, x []int32, openings []*zkml.Opening, tie []byte, dir string) (*provedChain, error) {
	chain, out := keys.chain, &provedChain{}
	for k, vk := range chain.Keys() {
		if err := a.enough("proving "+chain.PartName(k), proofBytes(vk.Program())); err != nil {
			return nil, err
		}
	}
	var seed *[32]byte
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, inputError("writing %s: %w", dir, plainFS(err))
		}
		var err error
		if seed, err = a.seedOf(chain, dir); err != nil {
			return nil, err
		}
	}
	p := a.startParts("prove", len(chain.Keys()))
	defer p.end()
	o := &chainprover.Options{
		Context: tie, Openings: openings, Seed: seed,
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
			part, made, err := a.keptPart(chain, k, dir)
			found[k] = err
			return part, made
		}
		o.Stale = func(k int, err error) { found[k] = err }
		o.Proved = func(p *chunks.PartProof, made []*zkml.Opening) error {
			for i, path := range openingFiles(chain, p.Part, dir) {
				if err := a.writeOver(output{path: path, data: made[i].Encode(), perm: 0o600}); err != nil {
					return err
				}
			}
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
	h := sha256.New()
	c := &counter{w: h}
	if err := out.Proof.Write(c); err != nil {
		return nil, err
	}
	out.size, out.digest = c.n, h.Sum(nil)
	return out, nil
}

// keptPart reads the proof of a part that an earlier run has left, with the openings of its outputs; nil if there is none.
func (a *app) keptPart(chain *chunks.Chain, k int, dir string) (*chunks.PartProof, []*zkml.Opening, error) {
	path := partFile(dir, k, partSuffix)
	if _, err := os.Stat(path); err != nil {
		return nil, nil, nil //nolint:nilerror // there is none, or it cannot be seen
	}
	data, err := a.readFile("proof", path)
	if err != nil {
		return nil, nil, err
	}
	part, err := chunks.DecodePart(data)
	if err != nil {
		return nil, nil, err
	}
	var made []*zkml.Opening
	for _, path := range openingFiles(chain, k, dir) {
		if data, err = a.readFile("opening", path); err != nil {
			return nil, nil, err
		}
		o, err := zkml.DecodeOpening(data)
		if err != nil {
			return nil, nil, inputError("opening %s: %w", path, err)
		}
		made = append(made, o)
	}
	return part, made, nil
}

// openingFiles are the files of the openings of a part's committed outputs, in order. They are there until the proof is whole.
func openingFiles(chain *chunks.Chain, k int, dir string) (files []string) {
	list := chain.Keys()[k].Committed()
	for i, name := range zkmlfile.CommittedNames(list) {
		if list[i].Output {
			files = append(files, partFile(dir, k, "."+name+openingSuffix))
		}
	}
	return files
}

// seedFile is what the salts of a proof that is being made come from: 32 random bytes, as secret as openings are.
const seedFile = "salts.seed"

// seedOf reads the seed that an earlier run has left in a folder, or draws one and leaves it there. A chain in which nothing is committed has none.
func (a *app) seedOf(chain *chunks.Chain, dir string) (*[32]byte, error) {
	if !slices.ContainsFunc(chain.Keys(), func(vk *zkml.VerifyingKey) bool { return !vk.Commits().Empty() }) {
		return nil, nil
	}
	path := filepath.Join(dir, seedFile)
	if _, err := os.Stat(path); err != nil {
		seed, err := zkml.Salt()
		if err != nil {
			return nil, err
		}
		return &seed, a.writeOver(output{path: path, data: seed[:], perm: 0o600})
	}
	data, err := a.readFile("seed", path)
	if err != nil {
		return nil, err
	}
	if len(data) != 32 {
		return nil, inputError("seed %s has %d bytes, want 32: remove it, and what it belongs to is proved again", path, len(data))
	}
	return (*[32]byte)(data), nil
}

// removeParts takes away what was left of parts that are in a proof now: the secrets, and unless they are to be kept the proofs, and the folder if that
// empties it.
func (a *app) removeParts(chain *chunks.Chain, dir string, keep bool) {
	files, _ := os.ReadDir(dir)
	for _, f := range files { // those of another chain's boundaries, too, which an earlier run may have left
		if strings.HasPrefix(f.Name(), "part-") && strings.HasSuffix(f.Name(), openingSuffix) {
			os.Remove(filepath.Join(dir, f.Name()))
		}
	}
	for k := range chain.Keys() {
		if !keep {
			os.Remove(partFile(dir, k, partSuffix))
		}
	}
	os.Remove(filepath.Join(dir, seedFile))
	if !keep {
		os.Remove(dir)
	}
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
func (a *app) proveWithChain(ctx context.Context, f *proveFlags, keepParts bool) error {
	if f.out == "-" && keepParts {
		return usageError("--keep-parts keeps them beside the proof, which is to go to standard output")
	}
	keys, err := a.loadProvers(f.key)
	if err != nil {
		return err
	}
	face := faceOf(keys.chain)
	if _, outputs := committedNames(face); f.secret != "" && len(outputs) == 0 {
		return usageError("--secret-output goes with committed outputs, of which key %s has none: its answers are in %s", f.key, answerName(f.out))
	}
	in, err := a.loadSecretInput(face, f.key, f.input, f.openings)
	if err != nil {
		return err
	}
	bases := secretNames(face, f.out, in.opened)
	for _, base := range bases {
		if base == "" {
			continue
		}
		if err := a.checkOutputs(base+commitmentSuffix, base+openingSuffix); err != nil {
			return err
		}
	}
	var openings []*zkml.Opening
	for i, t := range face.Committed() {
		switch {
		case t.Output:
		case in.opened[i] == nil:
			openings = append(openings, nil)
		default:
			openings = append(openings, in.opened[i].Opening)
		}
	}
	parts := ""
	if f.out != "-" {
		parts = f.out + ".parts"
	}
	r, err := a.proveChain(ctx, f.device, keys, in.x, openings, []byte(f.context), parts)
	if err != nil {
		return err
	}
	object := map[string]any{}
	files, written, err := a.answerFiles(face, f, &r.Statement, r.Y, object)
	if err != nil {
		return err
	}
	secrets, reports := secretFiles(face, r.Statement.Commitments, r.Openings, in.opened, bases)
	files = append(append([]output{{path: f.out, from: r.Proof.Write}}, files...), secrets...)
	if err := a.write(files...); err != nil {
		return err
	}
	var names []string
	for _, file := range files[1:] {
		names = append(names, file.path)
	}
	for i := range reports {
		written += reports[i].line() + "\n"
	}
	if parts != "" {
		if keepParts {
			names = append(names, "parts in "+parts)
		}
		a.removeParts(keys.chain, parts, keepParts)
	}
	report := newChainReport(keys.chain, r)
	maps.Copy(object, map[string]any{
		"proof": f.out, "prove_ms": milliseconds(r.time), "proof_bytes": r.size, "proof_sha256": hexText(r.digest),
		"parts": report.Parts, "devices": report.Devices, "stages_ms": report.Stages, "parts_kept": report.Kept, "parts_stale": report.Stale, "warnings": report.Warnings,
	})
	if len(reports) > 0 {
		object["commitments"] = reports
	}
	return a.wrote(f.out, object, "%sprove    %s in %s, %d of them kept from before\n%s\nwritten  %s (%s), %s", written, count(len(report.Parts), "part"), durationText(r.time),
		report.Kept, report.text(), f.out, sizeText(int64(r.size)), strings.Join(names, ", "))
}

// partOf says which part of a chain a key is of. wanted is its number from 1, which a key that several parts have needs, or 0.
func partOf(chain *chunks.Chain, pk *zkprover.ProvingKey, wanted int) (int, error) {
	digest := pk.VerifyingKey().Digest()
	var has []int // numbers from 1
	for k, vk := range chain.Keys() {
		if vk.Digest() == digest {
			has = append(has, k+1)
		}
	}
	list := "part "
	if len(has) > 1 {
		list = "parts "
	}
	list += strings.Trim(strings.ReplaceAll(fmt.Sprint(has), " ", ", "), "[]")
	switch {
	case len(has) == 0:
		return 0, inputError("the key has the digest %x..., which no part of the chain has", digest[:8])
	case wanted != 0 && !slices.Contains(has, wanted):
		return 0, usageError("--part %d: the key is that of %s of %d", wanted, list, len(chain.Keys()))
	case wanted != 0:
		return wanted - 1, nil
	case len(has) > 1:
		return 0, usageError("the key is that of %s of %d: pass --part to say which of them the proof is of", list, len(chain.Keys()))
	}
	return has[0] - 1, nil
}
