package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/whir/whirfile"
	"github.com/zkwarp/zkwarp/whir/whirfile/prover"
)

// randomPrefix begins the names of tables and points that are random.
const randomPrefix = "random:"

func (a *app) whirCommitCommand() *cobra.Command {
	var (
		f     whirFlags
		vars  int
		embed bool
		out   string
	)
	c := &cobra.Command{
		Use:   "commit TABLE... -o NAME",
		Short: "Commit to tables: NAME.whir for verifiers, NAME.whirkey to open it with",
		Long: "A table is a .npy array of integers, raw little-endian 32-bit words, or random:SEED with --vars. Its length is a power of two,\n" +
			"and every number is below the field's modulus. Several tables of one length share a commitment.\n" +
			"NAME.whirkey says where the tables are, or holds them with --embed; who has it can learn them.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch out {
			case "":
				return usageError("pass -o NAME")
			case "-":
				return usageError("-o -: want a name, since two files are written: NAME.whir and NAME.whirkey")
			}
			commitPath, keyPath := out+".whir", out+".whirkey"
			if err := a.checkOutputs(commitPath, keyPath); err != nil {
				return err
			}
			f.tables = len(args)
			if _, err := a.whirOptions(&f); err != nil { // before anything large is read
				return err
			}
			schemes, err := f.schemes()
			if err != nil {
				return err
			}
			progress := a.startProgress("whir commit", 2)
			defer progress.end()
			progress.begin("read")
			words, vars, err := a.readTables(schemes[0], args, vars)
			if err != nil {
				return err
			}
			p, err := a.whirParams(&f, vars)
			if err != nil {
				return err
			}
			if err := a.enough("committing", whirBytes(p)); err != nil {
				return err
			}
			progress.begin("commit")
			made, on, took, err := a.whirCommit(cmd.Context(), p, words)
			if err != nil {
				return err
			}
			progress.end()
			key := &whirfile.Key{Commitment: made.Commitment()}
			for i, arg := range args {
				t := whirfile.Table{Digest: whirfile.TableDigest(words[i])}
				seed, random := strings.CutPrefix(arg, randomPrefix)
				switch {
				case random:
					t.Source, t.Name = whirfile.Seed, seed
				case embed || arg == "-":
					t.Words = words[i]
				default:
					t.Source = whirfile.File
					if t.Name, err = relativeTo(filepath.Dir(keyPath), arg); err != nil {
						return err
					}
				}
				key.Tables = append(key.Tables, t)
			}
			commitment := key.Commitment.Encode()
			if err := a.write(output{path: commitPath, data: commitment}, output{path: keyPath, data: key.Encode(), perm: 0o600}); err != nil {
				return err
			}
			d, digest := p.Describe(), key.Commitment.Digest()
			return a.wrote(out, map[string]any{
				"commitment": commitPath, "key": keyPath, "device": on, "commit_ms": milliseconds(took), "sha256": hexText(digest[:]), "parameters": d,
			}, "%s%-11s %s on %s\n%-11s %s (%s) for verifiers, %s to open it with\n%-11s %x", describeText(d), "committed", durationText(took), on,
				"written", commitPath, sizeText(int64(len(commitment))), keyPath, "sha256", digest)
		},
	}
	c.Flags().IntVar(&vars, "vars", 0, "for random tables: base-2 logarithm of the number of elements")
	c.Flags().BoolVar(&embed, "embed", false, "put the tables themselves into the key")
	c.Flags().StringVarP(&out, "output", "o", "", "name of the files, to which .whir and .whirkey are added")
	f.register(c)
	return c
}

// whirCommit commits to tables on the chosen device.
func (a *app) whirCommit(ctx context.Context, p *whirfile.Params, words [][]uint32) (c *prover.Committed, on string, took time.Duration, err error) {
	err = a.onDeviceFor(ctx, a.device, "whir", p.TableWords(), func(q *device.Queue) error {
		if c, err = prover.Commit(q, p, words...); err == nil {
			took, on = c.Took(), q.Device().Name()
		}
		return err
	})
	return c, on, took, err
}

// readTables reads tables of one length, of 2^vars entries unless vars is 0.
func (a *app) readTables(s *whirfile.Scheme, names []string, vars int) ([][]uint32, int, error) {
	if vars < 0 || vars > 30 {
		return nil, 0, usageError("--vars %d: want 1 to 30", vars)
	}
	var out [][]uint32
	for i, name := range names {
		var words []uint32
		if seed, ok := strings.CutPrefix(name, randomPrefix); ok {
			if vars == 0 {
				return nil, 0, usageError("pass --vars N, the size of table %s", name)
			}
			if err := a.enough("a random table", 4*int64(s.EntryWords())<<vars); err != nil {
				return nil, 0, err
			}
			words = whirfile.Random("table", seed, s.Spec().Modulus, s.EntryWords()<<vars)
		} else {
			data, err := a.readFile("table", name)
			if err != nil {
				return nil, 0, err
			}
			if words, err = whirfile.ReadTable(data, s.Spec().Modulus); err != nil {
				return nil, 0, inputError("table %s: %w", name, err)
			}
		}
		n, err := s.TableVars(len(words))
		switch {
		case err != nil:
			return nil, 0, inputError("table %s: %w", name, err)
		case vars != 0 && n != vars:
			what := "--vars says"
			if i > 0 {
				what = "the first table has"
			}
			return nil, 0, inputError("table %s has 2^%d elements, %s 2^%d", name, n, what, vars)
		}
		vars = n
		out = append(out, words)
	}
	return out, vars, nil
}

// relativeTo is a path as it reads from a folder, so that both can be moved
// together.
func relativeTo(folder, path string) (string, error) {
	from, err := filepath.Abs(folder)
	if err != nil {
		return "", inputError("folder %s: %w", folder, plainFS(err))
	}
	to, err := filepath.Abs(path)
	if err != nil {
		return "", inputError("table %s: %w", path, plainFS(err))
	}
	if rel, err := filepath.Rel(from, to); err == nil {
		to = rel
	}
	return filepath.ToSlash(to), nil
}

// errAnotherTable is for tables that are not those of their commitment.
var errAnotherTable = errors.New("is not what was committed to")

// keyTables are the tables of a key that was read from path.
func (a *app) keyTables(path string, k *whirfile.Key) ([][]uint32, error) {
	p := k.Commitment.Params
	var out [][]uint32
	for i, t := range k.Tables {
		words, what := t.Words, fmt.Sprintf("key %s: table %d", path, i)
		switch t.Source {
		case whirfile.Seed:
			words = p.RandomTable(t.Name)
		case whirfile.File:
			file := filepath.FromSlash(t.Name)
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(path), file)
			}
			data, err := a.readFile("table", file)
			if err != nil {
				return nil, err
			}
			what = "table " + file
			if words, err = whirfile.ReadTable(data, p.Inner().Spec().Modulus); err != nil {
				return nil, inputError("%s: %w", what, err)
			}
		}
		if err := p.CheckTable(words); err != nil {
			return nil, inputError("%s: %w", what, err)
		}
		if got := whirfile.TableDigest(words); got != t.Digest {
			return nil, inputError("%s %w: its words have SHA-256 %x, key %s has %x", what, errAnotherTable, got[:8], path, t.Digest[:8])
		}
		out = append(out, words)
	}
	return out, nil
}
