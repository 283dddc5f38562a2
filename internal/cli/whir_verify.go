package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/whir/whirfile"
)

func (a *app) whirVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify (FILE.whir FILE.claims.json FILE.proof | BUNDLE)",
		Short: "Check claims about committed tables",
		Long: "Exit code 0 means: the committed tables have the claimed values. Exit code 1 names the check that failed: for false claims\n" +
			"or another commitment mostly the first proof of work, since challenges depend on both.\n" +
			"A bundle brings its own commitment: compare the sha256 that is printed with that of the commitment you mean.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 3 {
				return usageError("%d files; pass a commitment, its claims and the proof, or one bundle", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := a.loadBundle(args)
			if err != nil {
				return err
			}
			start := time.Now()
			err = b.Verify()
			took := time.Since(start)
			name := args[len(args)-1]
			var r *whirfile.Rejection
			switch {
			case errors.As(err, &r):
				return a.reject(rejected("%s: rejected: %w", name, r), r.Check)
			case err != nil:
				return inputError("%s: %w", name, err)
			}
			s, digest := b.Commitment.Params.Inner().Security(), b.Commitment.Digest()
			return a.result(map[string]any{
				"verified": true, "claims": len(b.Claims), "verify_ms": milliseconds(took), "proof_bytes": len(b.Proof.Encode()),
				"security_bits": s.Sum, "security_bits_min_round": s.Min, "sha256": hexText(digest[:]),
			}, "accepted in %s: %s about %s (weakest step %.1f bits, all together %.1f)\n%-11s %x", durationText(took), count(len(b.Claims), "claim"), committedText(b.Commitment.Params), s.Min, s.Sum, "sha256", digest)
		},
	}
}

// committedText says in a few words what was committed to.
func committedText(p *whirfile.Params) string {
	if n := p.Tables(); n > 1 {
		return grouped(int64(n)) + " tables of 2^" + grouped(int64(p.Vars())) + " elements, " + p.Scheme().Name()
	}
	return "2^" + grouped(int64(p.Vars())) + " elements, " + p.Scheme().Name()
}

// loadBundle reads a bundle, or the three files that make one.
func (a *app) loadBundle(paths []string) (*whirfile.Bundle, error) {
	if len(paths) == 1 {
		data, err := a.readFile("bundle", paths[0])
		if err != nil {
			return nil, err
		}
		b, err := whirfile.DecodeBundle(data)
		if err != nil {
			return nil, inputError("bundle %s: %w", paths[0], err)
		}
		return b, nil
	}
	b := &whirfile.Bundle{}
	for i, part := range []struct {
		what   string
		decode func([]byte) error
	}{
		{"commitment", func(data []byte) (err error) { b.Commitment, err = whirfile.DecodeCommitment(data); return err }},
		{"claims", func(data []byte) (err error) { b.Claims, err = whirfile.DecodeClaims(data); return err }},
		{"proof", func(data []byte) (err error) { b.Proof, err = whirfile.DecodeProof(data); return err }},
	} {
		data, err := a.readFile(part.what, paths[i])
		if err != nil {
			return nil, err
		}
		if err := part.decode(data); err != nil {
			return nil, inputError("%s %s: %w", part.what, paths[i], err)
		}
	}
	if err := b.Commitment.Params.CheckClaims(b.Claims, false); err != nil {
		return nil, inputError("claims %s: %w", paths[1], err)
	}
	return b, nil
}
