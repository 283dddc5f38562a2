package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
)

// A model that is proved in parts has a chain of keys. Its verifiers' key is one file, as other models' is; its provers' key is a folder of the
// same name as the file would have, with the parts' keys and the chain's. Proofs of parts are files in a folder beside the proof until that is
// whole.

// chainFile is the chain in the folder of a provers' key.
const chainFile = "chain.vk"

// partFile is the name of part k's file in a folder.
func partFile(dir string, k int, suffix string) string {
	return filepath.Join(dir, fmt.Sprintf("part-%04d%s", k+1, suffix))
}

// isFolder says whether there is a folder of that name.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// provers is a chain with the keys of its parts.
type provers struct {
	chain *chunks.Chain
	keys  []*zkprover.ProvingKey
}

// decodeChain reads a chain, and checks what does not depend on a proof.
func (a *app) decodeChain(path string, data []byte) (*chunks.Chain, error) {
	c, err := chunks.DecodeChain(data)
	if err != nil {
		return nil, inputError("key %s: %w", path, err)
	}
	return c, nil
}

// loadChain reads the key of a chain, from a file or from the folder of a provers' key.
func (a *app) loadChain(path string) (*chunks.Chain, error) {
	if isFolder(path) {
		path = filepath.Join(path, chainFile)
	}
	data, err := a.readFile("key", path)
	if err != nil {
		return nil, err
	}
	if artefact(data) != chunks.MagicChain {
		return nil, inputError("key %s is not the key of a chain", path)
	}
	return a.decodeChain(path, data)
}

// loadProvers reads the folder of a chain's provers' key.
func (a *app) loadProvers(dir string) (*provers, error) {
	chain, err := a.loadChain(dir)
	if err != nil {
		return nil, err
	}
	p := &provers{chain: chain, keys: make([]*zkprover.ProvingKey, len(chain.Keys()))}
	errs := make([]error, len(p.keys))
	parallel.For(len(p.keys), 1, func(from, to int) {
		for k := from; k < to; k++ {
			p.keys[k], errs[k] = a.loadPart(chain, k, partFile(dir, k, ".pk"))
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// loadPart reads the prover's key of part k.
func (a *app) loadPart(chain *chunks.Chain, k int, path string) (*zkprover.ProvingKey, error) {
	pk, err := a.loadProvingKey(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", chain.PartName(k), err)
	}
	if got, want := pk.VerifyingKey().Digest(), chain.Keys()[k].Digest(); got != want {
		return nil, inputError("%s: key %s has the digest %x..., want %x... as %s says: it was made for another part or model", chain.PartName(k), path, got[:8], want[:8], chainFile)
	}
	return pk, nil
}

// chainWork is the work of all parts.
func chainWork(c *chunks.Chain) (n int) {
	for _, vk := range c.Keys() {
		n += work(vk.Program())
	}
	return n
}

// devicesOf opens all devices of a name: a list with commas between, or cuda:all.
func (a *app) devicesOf(name string) ([]*device.Device, error) {
	var all []*device.Device
	for _, one := range strings.Split(name, ",") {
		list, err := device.OpenList(one)
		if err != nil {
			return nil, withCode(ExitDevice, fmt.Errorf("--device %s: %w", name, err))
		}
		for _, d := range list {
			if d.Kind() == device.CUDA && slices.Contains(all, d) {
				return nil, usageError("--device %s names %s twice", name, d.Name())
			}
			if a.memory > 0 {
				d.SetBudget(int64(a.memory))
			}
			all = append(all, d)
		}
	}
	return all, nil
}

// onDevices runs body with the devices that the flags choose for work on parts: those that are named, or one as for any other work.
func (a *app) onDevices(name string, size int, body func([]*device.Device) error) error {
	if !device.Automatic(name) {
		all, err := a.devicesOf(name)
		if err != nil {
			return err
		}
		return body(all)
	}
	return device.Run(name, "zkml", size, func(d *device.Device) error {
		if a.memory > 0 {
			d.SetBudget(int64(a.memory))
		}
		return body([]*device.Device{d})
	})
}

// multiFlags are short names of devices.
type multiFlags struct{ gpu, multi bool }

func (f *multiFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.gpu, "gpu", false, "same as --device cuda:0")
	c.Flags().BoolVar(&f.multi, "multi-gpu", false, "same as --device cuda:all: all GPUs, each of which proves some of the parts")
}

// device is the device's name.
func (f *multiFlags) device(a *app, c *cobra.Command) (string, error) {
	switch {
	case (f.gpu || f.multi) && c.Flags().Changed("device") || f.gpu && f.multi:
		return "", usageError("pass only one of --device, --gpu and --multi-gpu")
	case f.gpu:
		return "cuda:0", nil
	case f.multi:
		return "cuda:all", nil
	}
	return a.device, nil
}

// oneDevice is the device for what cannot be divided: the first of several.
func (a *app) oneDevice(name string) (string, error) {
	if name != "cuda:all" && !strings.Contains(name, ",") {
		return name, nil
	}
	all, err := a.devicesOf(name)
	if err != nil {
		return "", err
	}
	if len(all) > 1 {
		a.log.Warn("a proof that is not in parts uses one device", "devices", len(all), "using", all[0].Name())
	}
	return all[0].Name(), nil
}
