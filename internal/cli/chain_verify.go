package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// loadAnyVerifyingKey reads a verifiers' key: of a chain, or of one program.
func (a *app) loadAnyVerifyingKey(path string) (*chunks.Chain, *zkml.VerifyingKey, error) {
	if isFolder(path) {
		return nil, nil, inputError("key %s is a folder, as provers' keys of models in parts are; verifying takes the .vk file", path)
	}
	data, err := a.readFile("key", path)
	if err != nil {
		return nil, nil, err
	}
	if artefact(data) == chunks.MagicChain {
		c, err := a.decodeChain(path, data)
		return c, nil, err
	}
	vk, err := decodeVerifyingKey(path, data)
	return nil, vk, err
}

// loadChainProof reads the proof of a chain: one file, the files of all parts, or a folder of those.
func (a *app) loadChainProof(chain *chunks.Chain, paths []string) (proof *chunks.Proof, size int, err error) {
	files := paths
	if len(paths) == 1 && isFolder(paths[0]) {
		if files, err = filepath.Glob(filepath.Join(escapeGlob(paths[0]), "*"+partSuffix)); err != nil || len(files) == 0 {
			return nil, 0, inputError("proof %s: no files *%s in this folder", paths[0], partSuffix)
		}
		slices.Sort(files)
	}
	var parts []*chunks.PartProof
	for _, path := range files {
		data, err := a.readFile("proof", path)
		if err != nil {
			return nil, 0, err
		}
		size += len(data)
		switch artefact(data) {
		case chunks.MagicProof:
			if len(files) > 1 {
				return nil, 0, usageError("%s is the proof of a whole chain; it goes alone", path)
			}
			if proof, err = chunks.DecodeProof(data); err != nil {
				return nil, 0, inputError("proof %s: %w", path, err)
			}
			return proof, size, nil
		case chunks.MagicPart:
			part, err := chunks.DecodePart(data)
			if err != nil {
				return nil, 0, inputError("proof %s: %w", path, err)
			}
			if part.Chain != chain.Digest() {
				want := chain.Digest()
				return nil, 0, rejected("proof %s: rejected: %w", path,
					&zkml.Rejection{Check: zkml.CheckKeyDigest, Err: fmt.Errorf("part %d of the chain %x..., the key is of %x...", part.Part+1, part.Chain[:8], want[:8])})
			}
			parts = append(parts, part)
		case zkml.MagicProof:
			return nil, 0, inputError("proof %s is of one program, not of a chain or a part of one", path)
		default:
			return nil, 0, inputError("proof %s is no proof of a chain or of a part of one", path)
		}
	}
	proof, err = chunks.Join(chain, parts)
	return proof, size, withCode(ExitInput, err)
}

// escapeGlob is a path as a pattern that matches it alone.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path // no escapes there
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// verifyChain is the verb verify for the key of a chain.
func (a *app) verifyChain(ctx context.Context, chain *chunks.Chain, paths []string, f *statementFiles, tie []byte, model, calibration string, m modelFlags) error {
	proof, size, err := a.loadChainProof(chain, paths)
	if err != nil {
		return a.reject(err, zkml.FailedCheck(err))
	}
	o := &chunks.Options{Context: tie}
	if slices.ContainsFunc(chain.Keys(), func(vk *zkml.VerifyingKey) bool { return vk.Mode() == zkml.PublicWeights }) {
		if model == "" || calibration == "" {
			return usageError("the key is for public weights: pass --model and --calibration")
		}
		if o.Weights, err = a.chainWeights(chain, model, calibration, m); err != nil {
			return err
		}
	}
	statement, commitments, err := a.readStatement(ctx, faceOf(chain), f)
	if err != nil {
		return a.statementError(err)
	}
	start := time.Now()
	err = chunks.VerifyStatement(chain, statement, proof, o)
	took := time.Since(start)
	if err != nil {
		return a.chainError(strings.Join(paths, ", "), err)
	}
	bits, digest := chain.Security(), chain.Digest()
	object, lines := map[string]any{"verified": true, "parts": len(proof.Proofs), "verify_ms": milliseconds(took), "proof_bytes": size, "security_bits": bits, "chain_digest": hexText(digest[:])}, ""
	for i := range commitments {
		lines += "\n" + commitments[i].line()
	}
	if len(commitments) > 0 {
		object["commitments"] = commitments
	}
	return a.result(object, "accepted in %s (%s, %.1f bits, union)%s", durationText(took), count(len(proof.Proofs), "part"), bits, lines)
}

// chainError is verifyError for chains, whose errors name the part.
func (a *app) chainError(path string, err error) error {
	check := zkml.FailedCheck(err)
	switch {
	case check == zkml.CheckFormat:
		return inputError("proof %s: %w", path, err)
	case errors.Is(err, zkml.ErrRejected):
		return a.reject(rejected("proof %s: rejected: %w", path, err), check)
	}
	return inputError("proof %s: %w", path, err)
}

// chainWeights are the weights of all parts, for keys with public weights: of the program that the files make, cut where the parts' are.
func (a *app) chainWeights(chain *chunks.Chain, model, calibration string, m modelFlags) ([]*graph.Weights, error) {
	var parts *partsOf
	if isFolder(calibration) {
		var err error
		if parts, err = a.calibratedParts(model, calibration, m); err != nil {
			return nil, err
		}
	} else {
		p, w, err := a.loadProgram(model, calibration, m)
		if err != nil {
			return nil, err
		}
		var before []int
		at := 0
		for _, vk := range chain.Keys() {
			at += len(vk.Program().Ops)
			before = append(before, at)
		}
		if at != len(p.Ops) {
			return nil, inputError("model %s with calibration %s has %d operations, the chain's parts %d", model, calibration, len(p.Ops), at)
		}
		if parts, err = cutParts(p, w, before[:len(before)-1], new(commitsFlags)); err != nil {
			return nil, err
		}
	}
	if parts.n != len(chain.Keys()) {
		return nil, inputError("calibration %s has %d parts, the chain %d", calibration, parts.n, len(chain.Keys()))
	}
	var all []*graph.Weights
	for k := range parts.n {
		_, w, err := parts.part(k)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}
