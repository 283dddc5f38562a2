package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/bitproof"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

func (a *app) inspectCommand() *cobra.Command {
	var (
		html, key string
		m         modelFlags
		e         estimate
	)
	c := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Describe a model, calibration, key, proof, commitment, opening, statement, answer or results file",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if html != "" {
				if err := a.checkOutputs(html); err != nil {
					return err
				}
			}
			if isFolder(args[0]) {
				if key != "" {
					return usageError("--key goes with the proof of an answer, which %s is not", args[0])
				}
				v, err := a.inspectFolder(args[0], m, &e)
				if err != nil {
					return err
				}
				return a.inspected(v, html)
			}
			data, err := a.readFile("file", args[0])
			if err != nil {
				return err
			}
			var of subject
			if key != "" {
				switch artefact(data) {
				case zkml.MagicProof, zkml.MagicCommitment, zkml.MagicOpening:
				default:
					return usageError("--key goes with the proof of an answer, or with a commitment or opening, which %s is not", args[0])
				}
				if of, err = a.loadSubject(key); err != nil {
					return err
				}
			}
			v, err := a.inspect(args[0], data, m, of, &e)
			if err != nil {
				return err
			}
			digest := sha256.Sum256(data)
			v.File, v.Bytes, v.SHA256 = args[0], len(data), hexText(digest[:])
			return a.inspected(v, html)
		},
	}
	c.Flags().StringVar(&html, "html", "", "also write a page with pictures: the graph, and the cost of each step")
	c.Flags().StringVar(&key, "key", "", "the verifier's key, to tell whether the proof of an answer is whole, or which input or output a commitment or opening is of")
	c.Flags().StringVar(&e.calibration, "calibration", "", "for a model: its calibration, for exact costs")
	c.Flags().BoolVar(&e.always, "estimate", false, "for a model: estimate costs however large it is, which runs it once")
	m.register(c)
	layersFlag(c, &m.layers)
	return c
}

// inspected prints what was found, and writes the page if one is wanted. A model that cannot be proved is described and an error all the same.
func (a *app) inspected(v *view, html string) error {
	if html != "" {
		var page bytes.Buffer
		if err := inspectPage(&page, v); err != nil {
			return err
		}
		if err := a.write(output{path: html, data: page.Bytes()}); err != nil {
			return err
		}
		if html == "-" {
			return v.refused
		}
	}
	if err := a.result(v, "%s", v.text()); err != nil {
		return err
	}
	return v.refused
}

// calibrationMagic begins calibration files (docs/onnx.md).
const calibrationMagic = "ZKWCAL1\n"

// inspect decodes a file by its first bytes; of is for proofs, commitments and openings, and may be nil.
func (a *app) inspect(path string, data []byte, m modelFlags, of subject, e *estimate) (*view, error) {
	if v, ok, err := inspectWHIR(path, data); ok {
		return v, err
	}
	fail := func(what string, err error) (*view, error) { return nil, inputError("%s %s: %w", what, path, err) }
	switch magic := artefact(data); {
	case magic == zkml.MagicVerifyingKey:
		vk, err := zkml.DecodeVerifyingKey(data)
		if err != nil {
			return fail("key", err)
		}
		return viewKey("verifier's key", vk), nil
	case magic == zkml.MagicProvingKey:
		pk, err := zkprover.DecodeProvingKey(data)
		if err != nil {
			return fail("key", err)
		}
		key, proof, err := pk.Memory()
		if err != nil {
			return fail("key", err)
		}
		v := viewKey("prover's key", pk.VerifyingKey())
		v.fact("weights held", pk.Weights().Count())
		narrow, _, err := pk.MemoryAs(zkprover.Narrow)
		if err != nil {
			return fail("key", err)
		}
		v.fact("device memory", fmt.Sprintf("about %s for the key while it is loaded, %s for a proof; %s between proofs where it is kept narrow", sizeText(key), sizeText(proof), sizeText(narrow)))
		return v, nil
	case magic == chunks.MagicChain:
		c, err := a.decodeChain(path, data)
		if err != nil {
			return nil, err
		}
		return viewChain("verifiers' key of a chain", c), nil
	case magic == chunks.MagicProof:
		return viewChainProof(path, data)
	case magic == chunks.MagicPart:
		return viewPartProof(path, data)
	case magic == zkml.MagicProof:
		vk, ok := of.(*zkml.VerifyingKey)
		if of != nil && !ok {
			return nil, usageError("--key is of a model in parts, and %s is the proof of one program", path)
		}
		return viewProof(path, data, vk)
	case magic == zkml.MagicCommitment:
		return viewCommitment(path, data, of)
	case magic == zkml.MagicOpening:
		return viewOpening(path, data, of)
	case magic == bitproof.Magic:
		return viewBitsProof(path, data)
	case isStatement(data):
		return viewStatement(path, data)
	case magic == calibrationMagic:
		c, err := quant.Decode(data)
		if err != nil {
			return fail("calibration", err)
		}
		return viewCalibration(c), nil
	case bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("[")):
		rows, err := bench.Decode(data)
		if err != nil {
			return fail("results", err)
		}
		return viewResults(rows), nil
	case bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")):
		return viewAnswer(path, data)
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
	parsed, err := a.loadModelData(path, data, m)
	uses, unreadable := onnx.Survey(data)
	switch {
	case errors.Is(err, onnx.ErrMalformed) && !strings.EqualFold(filepath.Ext(path), ".onnx"):
		return nil, inputError("%w; nor is it a file of zkwarp's", err)
	case errors.Is(err, onnx.ErrUnsupported) && unreadable == nil:
		return nil, withCode(ExitUnsupported, fmt.Errorf("%w%s", err, unknownOperators(uses)))
	case err != nil:
		return nil, err
	}
	v := viewModel(parsed)
	v.addOperators(uses)
	return v, a.addEstimate(v, path, parsed, e)
}
