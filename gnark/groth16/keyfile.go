package groth16

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/consensys/gnark-crypto/ecc"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/internal/keyfile"
)

// KeyFormat is how a file has a proving key's points.
type KeyFormat = keyfile.Format

// The formats that OpenProvingKey reads.
const (
	KeyCompressed = keyfile.Compressed // gnark's WriteTo: one coordinate of each point
	KeyRaw        = keyfile.Raw        // gnark's WriteRawTo: both coordinates
	KeyDump       = keyfile.Dump       // gnark's WriteDump: points as they lie in memory
	KeyMapped     = keyfile.Mapped     // WriteProvingKey's: also at places that can be mapped
)

// KeyOption is a choice of OpenProvingKey.
type KeyOption func(*keyfile.Options) error

// WithTrustedFile leaves out the check that the key's points are on the curve and in the
// subgroup of prime order, and of files that have points as they lie in memory the one that coordinates are
// below the modulus: for files that whoever opens them has made, or checked before. Proofs
// from a key with other points do not verify, or may tell of the witness.
//
// The check reads the whole file; its cost, and that of each format, is in docs/groth16.md.
func WithTrustedFile() KeyOption {
	return func(o *keyfile.Options) error { o.Trusted = true; return nil }
}

// WithKeyDevice has the check done by a device, named as for [WithDevice], of several the first: a GPU checks lists of
// 2^18 points or more, which takes cores long in G2. Without it, and where the device fails, the CPU does.
func WithKeyDevice(name string) KeyOption {
	return func(o *keyfile.Options) error {
		devices, err := device.OpenList(name)
		if err != nil {
			return fmt.Errorf("groth16: %w", err)
		}
		o.Device = devices[0]
		return nil
	}
}

// WithDomainTables computes the domain's tables of powers, as gnark's ReadFrom does, where the
// file says that the key has them. They take four elements' memory for each of the domain and
// are used by transforms on the CPU, which take as long without them, give or take a fifth.
// Gnark's writers note in a file whether the key has them.
func WithDomainTables() KeyOption {
	return func(o *keyfile.Options) error { o.Tables = true; return nil }
}

// WithKeyProgress has f called while a key is read, with how many of its points' bytes are
// done and how many there are: one call at a time, from any goroutine.
func WithKeyProgress(f func(done, total int64)) KeyOption {
	return func(o *keyfile.Options) error {
		if f == nil {
			return fmt.Errorf("%w: no function to tell progress", ErrInput)
		}
		o.Progress = f
		return nil
	}
}

// KeyFile is a proving key that was opened by [OpenProvingKey].
type KeyFile struct {
	pk     ProvingKey
	format KeyFormat
	inFile bool

	mu   sync.Mutex
	file *keyfile.File
}

// OpenProvingKey opens a file with a proving key over a curve, which gnark's WriteTo,
// WriteRawTo or WriteDump wrote, or [WriteProvingKey]; which, the file tells.
//
// Files of WriteProvingKey are mapped: the key's points are slices over the file, which is
// read as points are used. The file must not be written to, nor the key's points, before Close. Gnark's
// dumps are copied, for they have points at odd places, and the rest is decoded, on all cores.
//
// A file that is cut short, does not fit together, or holds points that are not in their
// groups, is an ErrInput that names it, and no more memory is taken than the file's size
// accounts for. When ctx ends OpenProvingKey returns its error.
func OpenProvingKey(ctx context.Context, curveID ecc.ID, path string, opts ...KeyOption) (*KeyFile, error) {
	var o keyfile.Options
	for _, option := range opts {
		if err := option(&o); err != nil {
			return nil, err
		}
	}
	f, err := keyfile.Open(ctx, curveID, path, o)
	var system *fs.PathError
	switch {
	case err == nil:
		return &KeyFile{pk: f.Key, format: f.Format, inFile: f.InFile, file: f}, nil
	case errors.Is(err, keyfile.ErrFormat), errors.Is(err, errors.ErrUnsupported):
		return nil, fmt.Errorf("%w: proving key %s: %w", ErrInput, path, err)
	case errors.As(err, &system):
		return nil, fmt.Errorf("proving key: %w", err)
	}
	return nil, fmt.Errorf("proving key %s: %w", path, err)
}

// ProvingKey is the key.
func (k *KeyFile) ProvingKey() ProvingKey { return k.pk }

// Format is how the file has the points.
func (k *KeyFile) Format() KeyFormat { return k.format }

// Mapped says whether points of the key are in the file, and not in memory of their own.
func (k *KeyFile) Mapped() bool { return k.inFile }

// Close gives the mapping back. A key that is Mapped is empty afterwards, and a [Prover] of it
// says that it has changed. What [Prove] keeps of the key it forgets; no proof may be under way.
func (k *KeyFile) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil {
		return nil
	}
	f := k.file
	k.file = nil
	Forget(k.pk)
	return f.Close()
}

// WriteProvingKey writes a proving key so that [OpenProvingKey] maps it, in the format that
// docs/groth16.md describes. It has points as machines with the lowest byte first, such as amd64 and arm64, have them in memory.
func WriteProvingKey(w io.Writer, pk ProvingKey) error {
	if isNil(pk) {
		return fmt.Errorf("%w: no proving key", ErrInput)
	}
	if err := keyfile.Write(w, pk); err != nil {
		return fmt.Errorf("writing a proving key: %w", err)
	}
	return nil
}
