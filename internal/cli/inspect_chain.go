package cli

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/llm"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// viewChain shows the key of a chain.
func viewChain(kind string, c *chunks.Chain) *view {
	v := &view{Kind: kind}
	p, digest := zkmlfile.Face(c), c.Digest()
	v.fact("program", p.Name)
	v.fact("digest", hexText(digest[:]))
	keys := c.Keys()
	v.fact("parts", len(keys))
	for i, id := range p.Inputs {
		in := p.Tensor(id)
		v.fact(numbered("input", i, len(p.Inputs)), fmt.Sprintf("%s %s, %d to %d, times %g, %s", in.Name, tensorio.ShapeText(in.Shape), in.Lo, in.Hi, in.Scale, seenAs(!slices.Contains(c.PublicInputs(), i))))
	}
	for i, id := range p.Outputs {
		out := p.Tensor(id)
		v.fact(numbered("output", i, len(p.Outputs)), fmt.Sprintf("%s %s, %d to %d, times %g, then %s, %s", out.Name, tensorio.ShapeText(out.Shape), out.Lo, out.Hi, out.Scale, p.Post.Kind, seenAs(!slices.Contains(c.PublicOutputs(), i))))
	}
	list := c.Committed()
	for i := range list {
		v.fact(numbered("format", i, len(list)), fmt.Sprintf("%s, of commitments to %s", hexText(list[i].Format[:]), tensorText(&list[i])))
	}
	v.fact("security", fmt.Sprintf("%.2f bits in sum over all parts", c.Security()))
	t := table{Name: "parts", Columns: []string{"part", "weights", "operations", "parameters", "values in", "out", "committed", "proof, bytes", "memory, MiB", "bits", "digest"}}
	total, hidden := 0, 0
	for k, vk := range keys {
		q, cost, digest := vk.Program(), zkml.CostOfKey(vk), vk.Digest()
		params, held := 0, 0
		for _, t := range vk.Committed() {
			held += graph.Elements(t.Shape)
		}
		hidden += held
		for _, id := range q.Params() {
			params += q.Tensor(id).Len()
		}
		total += cost.ProofBytes
		t.Rows = append(t.Rows, []any{c.PartName(k), vk.Mode().String(), len(q.Ops), params, q.InputLen(), q.OutputLen(), held, cost.ProofBytes,
			float64(partBytes(q, cost)) / (1 << 20), zkml.Security(vk).Sum, hexText(digest[:8])})
	}
	v.fact("proof", fmt.Sprintf("about %s; binding, not zero-knowledge: public values at the boundaries are in it", sizeText(int64(total))))
	if hidden > 0 {
		v.fact("committed", fmt.Sprintf("%d values at boundaries and ends, counted where they are given and where they are taken: a proof has roots of commitments to them", hidden))
	}
	v.Tables = append(v.Tables, t)
	return v
}

// viewChainProof shows the proof of a chain.
func viewChainProof(path string, data []byte) (*view, error) {
	p, err := chunks.DecodeProof(data)
	if err != nil {
		return nil, inputError("proof %s: %w", path, err)
	}
	v := &view{Kind: "proof of a chain"}
	v.fact("parts", len(p.Proofs))
	t := table{Name: "parts", Columns: []string{"number", "public values", "roots", "bytes", "key digest", "input digest"}}
	for k, proof := range p.Proofs {
		h, _, err := zkml.DecodeProofHeader(proof)
		if err != nil {
			return nil, inputError("proof %s: part %d: %w", path, k+1, err)
		}
		t.Rows = append(t.Rows, []any{k + 1, len(p.Y[k]), len(p.Roots[k]), len(proof), hexText(h.Key[:8]), hexText(h.Input[:8])})
	}
	v.fact("complete", "cannot be told without the key; zkwarp verify tells")
	v.Tables = append(v.Tables, t)
	return v, nil
}

// viewPartProof shows the proof of one part.
func viewPartProof(path string, data []byte) (*view, error) {
	p, err := chunks.DecodePart(data)
	if err != nil {
		return nil, inputError("proof %s: %w", path, err)
	}
	h, _, err := zkml.DecodeProofHeader(p.Proof)
	if err != nil {
		return nil, inputError("proof %s: %w", path, err)
	}
	v := &view{Kind: "proof of a part"}
	v.fact("chain digest", hexText(p.Chain[:]))
	v.fact("part", p.Part+1)
	v.fact("public values", len(p.Y))
	v.fact("roots of outputs", len(p.Roots))
	v.fact("key digest", hexText(h.Key[:]))
	v.fact("input digest", hexText(h.Input[:]))
	v.fact("output digest", hexText(h.Output[:]))
	v.fact("proof", fmt.Sprintf("%d bytes", len(p.Proof)))
	v.fact("to believe it", "zkwarp verify, with the chain's key, input, answer and the proofs of all parts")
	return v, nil
}

// inspectFolder describes the folders that are artefacts: provers' keys of chains, and decoders.
func (a *app) inspectFolder(path string, m modelFlags, e *estimate) (*view, error) {
	if _, err := os.Stat(filepath.Join(path, chainFile)); err == nil {
		keys, err := a.loadProvers(path)
		if err != nil {
			return nil, err
		}
		v := viewChain("provers' key of a chain", keys.chain)
		held, size, proof, bytes := 0, int64(0), int64(0), [zkprover.Narrow + 1]int64{}
		for _, pk := range keys.keys {
			held += pk.Weights().Count()
			size += pk.Weights().Bytes()
			for form := range bytes {
				key, most, err := pk.MemoryAs(zkprover.Form(form))
				if err != nil {
					return nil, err
				}
				bytes[form] += key
				proof = max(proof, most)
			}
		}
		v.fact("weights held", held)
		v.fact("host memory", fmt.Sprintf("%s for weights", sizeText(size)))
		v.fact("device memory", fmt.Sprintf("about %s for all keys, %s between proofs where they are kept narrow, up to %s for a proof",
			sizeText(bytes[zkprover.Wide]), sizeText(bytes[zkprover.Narrow]), sizeText(proof)))
		v.File = path
		for k := range keys.keys {
			if info, err := os.Stat(partFile(path, k, ".pk")); err == nil {
				v.Bytes += int(info.Size())
			}
		}
		digest := keys.chain.Digest()
		v.SHA256 = hexText(digest[:])
		return v, nil
	}
	if _, err := os.Stat(filepath.Join(path, "config.json")); err != nil {
		return nil, inputError("%s is a folder, and neither the provers' key of a chain, with %s, nor a decoder, with config.json", path, chainFile)
	}
	if e.calibration != "" {
		c, err := a.loadCalibration(e.calibration)
		if err != nil {
			return nil, err
		}
		if err := m.adopt(e.calibration, c); err != nil {
			return nil, err
		}
		e.exact = c
	}
	if m.tokens > 0 {
		parsed, err := a.loadModel(path, m)
		if err != nil {
			return nil, err
		}
		v := viewModel(parsed)
		v.Kind, v.SHA256 = "decoder", hexText(parsed.SHA256[:])
		if err := a.addEstimate(v, path, parsed, e); err != nil {
			return nil, err
		}
		return v, a.addFolder(v, path)
	}
	c, err := llm.Open(path)
	if err != nil {
		return nil, decoderError(path, err)
	}
	defer func() { _ = c.Close() }() // it was only read
	v, k := &view{Kind: "decoder"}, c.Config()
	v.fact("family", k.Family)
	v.fact("layers", fmt.Sprintf("0:%d", k.Layers))
	v.fact("width", fmt.Sprintf("%d, inner %d", k.Hidden, k.Intermediate))
	v.fact("heads", fmt.Sprintf("%d of queries, %d of keys and values, %d wide", k.Heads, k.KVHeads, k.HeadDim))
	v.fact("vocabulary", k.Vocabulary)
	v.fact("positions", k.Positions)
	v.fact("tensors", len(c.Names()))
	config, err := a.readFile("configuration", filepath.Join(path, "config.json"))
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(config)
	v.SHA256 = hexText(digest[:])
	v.fact("sha256 is", "of config.json")
	v.fact("costs", "pass --tokens N for the operations, and for what a proof takes")
	return v, a.addFolder(v, path)
}

// addFolder adds the size of a decoder's files.
func (a *app) addFolder(v *view, path string) error {
	files, bytes, err := weightFiles(path)
	if err != nil {
		return inputError("reading %s: %w", path, plainFS(err))
	}
	v.File, v.Bytes = path, int(bytes)
	v.fact("files", fmt.Sprintf("%d with %s of weights", files, sizeText(bytes)))
	return nil
}
