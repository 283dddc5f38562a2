package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
)

// partsOf are programs whose keys become a chain.
type partsOf struct {
	n int
	// part returns one of them; it may be called from several goroutines.
	part func(k int) (*graph.Program, *graph.Weights, error)
	// commits says what is committed of a part whose program this is.
	commits func(k int, p *graph.Program) (zkml.Commits, error)
	// chain wires the keys.
	chain func([]*zkml.VerifyingKey) (*chunks.Chain, error)
}

// cutParts are the parts of one program.
func cutParts(p *graph.Program, w *graph.Weights, before []int, commits *commitsFlags) (*partsOf, error) {
	c, err := chunks.Cut(p, w, before)
	if err != nil {
		return nil, withCode(ExitUnsupported, err)
	}
	if err := commits.cut(p, c); err != nil {
		return nil, err
	}
	return &partsOf{
		n: len(c.Parts),
		part: func(k int) (*graph.Program, *graph.Weights, error) {
			return c.Parts[k].Program, c.Parts[k].Weights, nil
		},
		commits: func(k int, _ *graph.Program) (zkml.Commits, error) { return c.Parts[k].Commits, nil },
		chain: func(keys []*zkml.VerifyingKey) (*chunks.Chain, error) {
			var inputs [][]chunks.Source
			for i := range c.Parts {
				inputs = append(inputs, c.Parts[i].Inputs)
			}
			return chunks.NewChain(keys, inputs, c.Outputs)
		},
	}, nil
}

// partSetup is what setup did about one part.
type partSetup struct {
	Part   int     `json:"part"`
	Name   string  `json:"name"`
	File   string  `json:"file,omitempty"`
	Device string  `json:"device,omitempty"`
	Kept   bool    `json:"kept"` // the file was there
	Setup  float64 `json:"setup_ms"`
	Bytes  int     `json:"pk_bytes,omitempty"`
	Memory int64   `json:"memory_bytes"` // that a proof needs, as estimated
}

// setupChain makes the keys of all parts, several at a time on several devices. With a folder each is written as soon as it is made, and those that
// are there already are kept if they are keys of just this part.
func (a *app) setupChain(ctx context.Context, name string, parts *partsOf, dir string, o zkprover.SetupOptions) (*provers, []partSetup, error) {
	o.Security = chunks.PartSecurity(max(o.Security, zkml.MinSecurity), parts.n)
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, nil, inputError("writing %s: %w", dir, plainFS(err))
		}
	}
	out := &provers{keys: make([]*zkprover.ProvingKey, parts.n)}
	reports := make([]partSetup, parts.n)
	p := a.startParts("setup", parts.n)
	defer p.end()
	var mu sync.Mutex
	next := 0
	errs := make([]error, parts.n)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= parts.n && ctx.Err() == nil
	}
	each := func(d *device.Device) {
		for k, ok := take(); ok; k, ok = take() {
			errs[k] = a.setupPart(ctx, d, parts, k, dir, o, p, out, reports)
		}
	}
	err := a.onDevices(name, 1<<40, func(all []*device.Device) error {
		next = 0
		clear(errs)
		var running sync.WaitGroup
		for _, d := range all {
			running.Go(func() { each(d) })
		}
		running.Wait()
		return errors.Join(errs...)
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		if errors.Is(err, whir.ErrInfeasible) {
			err = withCode(ExitUsage, err)
		}
		return nil, nil, withCode(ExitUnsupported, err)
	}
	var vks []*zkml.VerifyingKey
	for _, pk := range out.keys {
		vks = append(vks, pk.VerifyingKey())
	}
	if out.chain, err = parts.chain(vks); err != nil {
		return nil, nil, withCode(ExitUnsupported, err)
	}
	for k := range reports {
		reports[k].Name = out.chain.PartName(k)
	}
	return out, reports, nil
}

// setupPart makes or keeps the key of one part.
func (a *app) setupPart(ctx context.Context, d *device.Device, parts *partsOf, k int, dir string, o zkprover.SetupOptions, p *partProgress, out *provers, reports []partSetup) error {
	fail := func(err error) error { return fmt.Errorf("part %d of %d on %s: %w", k+1, parts.n, d.Name(), err) }
	program, weights, err := parts.part(k)
	if err != nil {
		return fail(err)
	}
	if o.Commits, err = parts.commits(k, program); err != nil {
		return fail(err)
	}
	r := &reports[k]
	r.Part = k + 1
	var pk *zkprover.ProvingKey
	if dir != "" {
		r.File = partFile(dir, k, ".pk")
		if pk, err = a.keptKey(ctx, d, r.File, program, weights, &o); err != nil {
			return fail(err)
		}
	}
	if pk == nil {
		q, err := d.NewQueue(ctx)
		if err != nil {
			return fail(err)
		}
		p.begin(d.Name(), k, "setup")
		o.Progress = func(s zkprover.Stage, done bool) {
			if !done {
				p.begin(d.Name(), k, string(s))
			}
		}
		start := time.Now()
		_, pk, err = zkprover.Setup(q, program, weights, &o)
		if err = errors.Join(err, q.Close()); err != nil {
			return fail(err)
		}
		r.Setup, r.Device = milliseconds(time.Since(start)), d.Name()
		if dir != "" {
			write := func(w io.Writer) error {
				c := &counter{w: w}
				err := pk.Write(c)
				r.Bytes = c.n
				return err
			}
			if err := a.writeOver(output{path: r.File, from: write, perm: 0o600}); err != nil {
				return fail(err)
			}
		}
	} else {
		r.Kept = true
	}
	key, proof, err := pk.Memory()
	if err != nil {
		return fail(err)
	}
	r.Memory = key + proof
	out.keys[k] = pk
	p.done(d.Name())
	return nil
}

// keptKey reads the key of a part that an earlier run has left, nil if there is none. A key of anything else is an error, and is replaced under
// --force.
func (a *app) keptKey(ctx context.Context, d *device.Device, path string, program *graph.Program, weights *graph.Weights, o *zkprover.SetupOptions) (*zkprover.ProvingKey, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	pk, err := a.loadProvingKey(path)
	if err == nil {
		err = sameKey(pk.VerifyingKey(), program, weights, o)
	}
	if err == nil {
		if err = checkRoot(ctx, d, pk); err == nil || !errors.Is(err, zkprover.ErrKey) {
			return pk, err
		}
	}
	if a.force {
		return nil, nil
	}
	return nil, usageError("%s is left from before, and not the key of this part (%w); pass --force to replace it", path, err)
}

// checkRoot says whether a key's weights are what it commits to.
func checkRoot(ctx context.Context, d *device.Device, pk *zkprover.ProvingKey) error {
	q, err := d.NewQueue(ctx)
	if err != nil {
		return err
	}
	return errors.Join(pk.CheckRoot(q), q.Close())
}

// sameKey says whether a key is the one that setup would make, but for its commitment to the weights, which is taken for the right one.
func sameKey(vk *zkml.VerifyingKey, program *graph.Program, weights *graph.Weights, o *zkprover.SetupOptions) error {
	digest, err := weights.Digest(program)
	if err != nil {
		return err
	}
	if got := vk.WeightsDigest(); got != digest {
		return fmt.Errorf("its weights have the digest %x..., want %x...", got[:8], digest[:8])
	}
	settings, err := zkml.Choose(program, o.Mode, o.Commits, max(o.Security, zkml.MinSecurity), o.Commitment)
	if err != nil {
		return err
	}
	want, err := zkml.NewVerifyingKey(zkml.KeyParts{Program: program, Mode: o.Mode, Commits: o.Commits, WeightsDigest: digest, Root: vk.Root(), Settings: settings})
	if err != nil {
		return err
	}
	if got, want := vk.Digest(), want.Digest(); got != want {
		return fmt.Errorf("its digest is %x..., want %x...: another program, mode, level of security or choice of what is committed", got[:8], want[:8])
	}
	return nil
}

// writeChain writes the chain to the provers' folder and to the verifiers' file.
func (a *app) writeChain(c *chunks.Chain, vkPath, dir string) (bytes int, err error) {
	data := c.Encode()
	if err := a.writeOver(output{path: filepath.Join(dir, chainFile), data: data}); err != nil {
		return 0, err
	}
	return len(data), a.write(output{path: vkPath, data: data})
}

// writeOver writes a file that is the program's own, even over one that is there.
func (a *app) writeOver(o output) error {
	temp, err := a.temps.create(o)
	if err != nil {
		return withCode(ExitInput, fmt.Errorf("writing %s: %w", o.path, plainFS(err)))
	}
	defer a.temps.remove(temp)
	return place(temp, o.path, true)
}

// partsTable is what was done about parts, a line each.
func partsTable(columns []string, rows [][]any) string {
	t := table{Columns: columns, Rows: rows}
	return strings.TrimRight(t.text(), "\n")
}

// setupInParts is the verb setup for a model in parts.
func (a *app) setupInParts(ctx context.Context, name string, parts *partsOf, out, vkPath, dir string, o zkprover.SetupOptions) error {
	start := time.Now()
	keys, reports, err := a.setupChain(ctx, name, parts, dir, o)
	if err != nil {
		return err
	}
	took := time.Since(start)
	size, err := a.writeChain(keys.chain, vkPath, dir)
	if err != nil {
		return err
	}
	digest := keys.chain.Digest()
	return a.wrote(out, map[string]any{
		"vk": vkPath, "pk": dir, "vk_bytes": size, "mode": keys.keys[0].VerifyingKey().Mode().String(), "digest": hexText(digest[:]), "setup_ms": milliseconds(took),
		"security_bits": keys.chain.Security(), "parts": reports,
	}, "%s\nsetup    %s in %s, %.1f bits (union), %s\nwritten  %s (%s) for verifiers, %s for provers\ndigest   %x", setupText(reports), count(parts.n, "part"), durationText(took),
		keys.chain.Security(), keys.keys[0].VerifyingKey().Mode(), vkPath, sizeText(int64(size)), dir, digest)
}

// setupText is what setup did about parts, a line each.
func setupText(reports []partSetup) string {
	var rows [][]any
	for _, r := range reports {
		took := durationText(time.Duration(r.Setup * 1e6))
		if r.Kept {
			took = "kept"
		}
		rows = append(rows, []any{r.Name, r.Device, took, sizeText(r.Memory)})
	}
	return partsTable([]string{"part", "device", "set up in", "memory of a proof"}, rows)
}
