package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/whir/whirfile"
	"github.com/zkwarp/zkwarp/whir/whirfile/prover"
)

func (a *app) whirOpenCommand() *cobra.Command {
	var (
		o           claimFlags
		out, bundle string
	)
	c := &cobra.Command{
		Use:   "open NAME.whirkey --point P -o FILE.proof",
		Short: "Prove what committed tables are at points",
		Long: "Writes the proof, and beside it the points with the values: x.proof and x.claims.json. --bundle writes both and the\n" +
			"commitment as one file. Values that --claims gives must be right. The proof is binding, not zero-knowledge.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" && bundle == "" {
				return usageError("pass -o FILE.proof or --bundle FILE")
			}
			var outputs []string
			if out != "" {
				outputs = append(outputs, out, claimsName(out))
			}
			if bundle != "" {
				outputs = append(outputs, bundle)
			}
			if out == "-" && bundle == "-" {
				return usageError("-o - and --bundle - both want standard output")
			}
			if err := a.checkOutputs(outputs...); err != nil {
				return err
			}
			data, err := a.readFile("key", args[0])
			if err != nil {
				return err
			}
			if artefact(data) == whirfile.MagicCommitment {
				return inputError("key %s is a commitment; opening takes the .whirkey file", args[0])
			}
			key, err := whirfile.DecodeKey(data)
			if err != nil {
				return inputError("key %s: %w", args[0], err)
			}
			p := key.Commitment.Params
			claims, err := a.claims(o, p)
			if err != nil {
				return err
			}
			if err := a.enough("opening", whirBytes(p)); err != nil {
				return err
			}
			b, r, err := a.whirOpen(cmd.Context(), args[0], key, claims)
			var wrong *prover.FalseClaim
			if errors.As(err, &wrong) { // those of the file come last, and they alone have values
				wrong.Claim -= len(o.points) + len(o.univariates)
				return inputError("claims %s: %w", o.file, wrong)
			}
			if err != nil {
				return err
			}
			proof, whole := b.Proof.Encode(), b.Encode()
			var files []output
			if out != "" {
				files = append(files, output{path: out, data: proof}, output{path: claimsName(out), data: whirfile.EncodeClaims(b.Claims)})
			}
			if bundle != "" {
				files = append(files, output{path: bundle, data: whole})
			}
			if err := a.write(files...); err != nil {
				return err
			}
			object := map[string]any{
				"device": r.on, "commit_ms": milliseconds(r.commit), "open_ms": milliseconds(r.open), "claims": len(b.Claims), "proof_bytes": len(proof),
				"security_bits": p.Inner().Security().Sum, "security_bits_min_round": p.Inner().Security().Min,
			}
			var written []string
			stdout := ""
			for _, f := range files {
				written = append(written, f.path+" ("+sizeText(int64(len(f.data)))+")")
				if f.path == "-" {
					stdout = "-"
				}
			}
			object["written"] = outputs
			return a.wrote(stdout, object, "opened      %s on %s: tree %s, opening %s\nwritten     %s",
				count(len(b.Claims), "claim"), r.on, durationText(r.commit), durationText(r.open), strings.Join(written, ", "))
		},
	}
	o.register(c)
	c.Flags().StringVarP(&out, "output", "o", "", "the proof to write")
	c.Flags().StringVar(&bundle, "bundle", "", "one file to write with commitment, claims and proof")
	return c
}

// claimsName is where the claims of a proof go: x.proof and x.claims.json.
func claimsName(proof string) string {
	if proof == "-" {
		return "claims.json"
	}
	return strings.TrimSuffix(proof, ".proof") + ".claims.json"
}

// claimFlags say what to prove.
type claimFlags struct {
	points      []string
	univariates []string
	file        string
}

func (o *claimFlags) register(c *cobra.Command) {
	const forms = "coordinates with commas between, each a number or its coefficients as 1:2:3:4; random:SEED; or @FILE with coordinates in lines"
	c.Flags().StringArrayVar(&o.points, "point", nil, "a point of the multilinear polynomial, more than once for more claims: "+forms)
	c.Flags().StringArrayVar(&o.univariates, "univariate", nil, "a point of the polynomial with the table as coefficients: one coordinate, or random:SEED")
	c.Flags().StringVar(&o.file, "claims", "", "a claims file, with or without values")
}

// claims are what the flags ask to prove.
func (a *app) claims(o claimFlags, p *whirfile.Params) ([]whirfile.Claim, error) {
	var out []whirfile.Claim
	add := func(flag string, kind whirfile.Kind, texts []string, n int) error {
		for _, text := range texts {
			point, err := a.point(flag, text, p, n)
			if err != nil {
				return err
			}
			c := []whirfile.Claim{{Kind: kind, Point: point}}
			if err := p.CheckClaims(c, true); err != nil {
				return usageError("--%s %s: %s", flag, clip(text, 40), strings.TrimPrefix(err.Error(), whirfile.ErrFormat.Error()+": claim 0: "))
			}
			out = append(out, c...)
		}
		return nil
	}
	if err := add("point", whirfile.Eval, o.points, p.Vars()); err != nil {
		return nil, err
	}
	if err := add("univariate", whirfile.Univariate, o.univariates, 1); err != nil {
		return nil, err
	}
	if o.file != "" {
		data, err := a.readFile("claims", o.file)
		if err != nil {
			return nil, err
		}
		more, err := whirfile.DecodeClaims(data)
		if err == nil {
			err = p.CheckClaims(more, true)
		}
		if err != nil {
			return nil, inputError("claims %s: %w", o.file, err)
		}
		out = append(out, more...)
	}
	switch {
	case len(out) == 0:
		return nil, usageError("pass --point P, --univariate X or --claims FILE")
	case len(out) > p.Claims():
		return nil, usageError("%s, the commitment allows %d; zkwarp whir commit --claims %d allows more", count(len(out), "claim"), p.Claims(), len(out))
	}
	return out, nil
}

// point reads a point of n coordinates.
func (a *app) point(flag, text string, p *whirfile.Params, n int) ([]whirfile.Words, error) {
	if seed, ok := strings.CutPrefix(text, randomPrefix); ok {
		return p.RandomPoint(seed, n), nil
	}
	fail := func(format string, args ...any) error { return usageError("--"+flag+" "+format, args...) }
	if path, ok := strings.CutPrefix(text, "@"); ok {
		data, err := a.readFile("point", path)
		if err != nil {
			return nil, err
		}
		text = strings.Join(strings.FieldsFunc(string(data), func(r rune) bool { return r == ',' || r == '\n' || r == '\r' || r == ' ' || r == '\t' }), ",")
		fail = func(format string, args ...any) error { return inputError("point "+path+": "+format, args...) }
	}
	var out []whirfile.Words
	for i, coordinate := range strings.Split(text, ",") {
		var w whirfile.Words
		for _, part := range strings.Split(coordinate, ":") {
			v, err := strconv.ParseUint(strings.TrimSpace(part), 10, 32)
			if err != nil {
				return nil, fail("coordinate %d is %q, want a number, or coefficients as 1:2:3:4", i, clip(coordinate, 40))
			}
			w = append(w, uint32(v))
		}
		out = append(out, w)
	}
	return out, nil
}

// opened says where and how fast a proof was made.
type opened struct {
	on           string
	commit, open time.Duration
}

// whirOpen builds the tree of a key that was read from path once more, and proves
// the claims.
func (a *app) whirOpen(ctx context.Context, path string, key *whirfile.Key, claims []whirfile.Claim) (*whirfile.Bundle, *opened, error) {
	p := key.Commitment.Params
	progress := a.startProgress("whir open", 4)
	defer progress.end()
	progress.begin("read")
	words, err := a.keyTables(path, key)
	if err != nil {
		return nil, nil, err
	}
	b, r := &whirfile.Bundle{Commitment: key.Commitment}, &opened{}
	err = a.onDeviceFor(ctx, a.device, "whir", p.TableWords(), func(q *device.Queue) error {
		r.on = q.Device().Name()
		progress.begin("commit")
		c, err := prover.Commit(q, p, words...)
		if err != nil {
			return err
		}
		defer c.Free()
		r.commit = c.Took()
		if c.Commitment().Root != key.Commitment.Root {
			return inputError("key %s: its tables do not have the root of its commitment", path)
		}
		progress.begin("evaluate")
		if b.Claims, err = c.Evaluate(claims); err != nil {
			return err
		}
		progress.begin("open")
		start := time.Now()
		b.Proof, err = c.Open(q, b.Claims)
		r.open = time.Since(start)
		return err
	})
	return b, r, err
}
