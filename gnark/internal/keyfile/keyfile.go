// Package keyfile reads gnark's Groth16 proving keys from files, all at once on all
// cores, and of files of its own without reading the points at all: they are slices over
// the mapped file. docs/groth16.md describes the formats.
package keyfile

//go:generate go run ./internal/gen

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/bits"
	"os"
	"reflect"
	"strings"
	"sync"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"

	"github.com/zkwarp/zkwarp/device"
)

// ErrFormat is the class of errors in what a file holds.
var ErrFormat = errors.New("bad key file")

// Format is how a file has the points.
type Format int

// The formats.
const (
	Compressed Format = iota + 1 // gnark's WriteTo: one coordinate of each point
	Raw                          // gnark's WriteRawTo: both
	Dump                         // gnark's WriteDump: as in memory
	Mapped                       // Write's: as in memory, at multiples of Align
)

func (f Format) String() string {
	switch f {
	case Compressed:
		return "compressed"
	case Raw:
		return "raw"
	case Dump:
		return "dump"
	case Mapped:
		return "mapped"
	}
	return "unknown"
}

// Align is what the places of lists are multiples of in files of the format Mapped: the
// size of a page.
const Align = 4096

// dumpMarker begins gnark's dumps, and mappedMarker files of the format Mapped. Read as the
// size of a domain, with which the other formats begin, neither is a power of two.
const (
	dumpMarker   = "\xef\xbe\xad\xde\x00\x00\x00\x00"
	mappedMarker = "zkwarpK1"
)

// Options are choices of Open.
type Options struct {
	// Trusted leaves the check out that points are in their groups.
	Trusted bool
	// Tables makes the tables of the domain, if the key says that it has them.
	Tables bool
	// Device checks the points, if it is not nil and no CPU.
	Device *device.Device
	// Progress, if not nil, is told how many of the lists' bytes are done: twice as many where
	// points are checked after they were read. Calls are one at a time.
	Progress func(done, total int64)

	least int // points that the device checks, if it is not 0: tests have few
}

// File is a key with the file that its points may be in.
type File struct {
	Key    groth16.ProvingKey
	Format Format
	InFile bool // points are in the mapping, until Close

	mapping *mapping
}

// Close gives the mapping back. If InFile, the key is empty afterwards: whoever looks at it once
// more finds no points, where there would be a fault that nobody can recover from.
func (f *File) Close() error {
	m := f.mapping
	f.mapping = nil
	if m == nil {
		return nil
	}
	reflect.ValueOf(f.Key).Elem().SetZero()
	return m.close()
}

// Open reads a key over a curve.
func Open(ctx context.Context, id ecc.ID, path string, o Options) (*File, error) {
	var file *File
	m, err := withFile(path, func(b []byte) (err error) {
		file, err = Read(ctx, id, b, o)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case file.InFile:
		file.mapping = m
		return file, nil
	}
	return file, m.close()
}

// Read is Open for a file's bytes, which the key's points may be in.
func Read(ctx context.Context, id ecc.ID, b []byte, o Options) (*File, error) {
	c, err := curveOf(id)
	if err != nil {
		return nil, err
	}
	if o.Device != nil && o.Device.Kind() == device.CPU {
		o.Device = nil
	}
	return c.read(ctx, b, o)
}

// Wires is how many wires a key in a file is for. The file is found to be whole, but
// points are not looked at.
func Wires(id ecc.ID, path string) (wires int, err error) {
	c, err := curveOf(id)
	if err != nil {
		return 0, err
	}
	m, err := withFile(path, func(b []byte) error {
		l, err := c.system.scan(b)
		if err == nil {
			wires = int(l.wires)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return wires, m.close()
}

// withFile maps a file for a function, and beyond it if the function returns no error.
func withFile(path string, f func([]byte) error) (*mapping, error) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, fmt.Errorf("%w: machines with the highest byte first", errors.ErrUnsupported)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: not a regular file", ErrFormat)
	}
	m, err := mapFile(file, info.Size())
	if err != nil {
		return nil, err
	}
	if err := f(m.bytes); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// Write writes a key in the format Mapped.
func Write(w io.Writer, key groth16.ProvingKey) error {
	write, err := writer(key)
	if err != nil {
		return err
	}
	return write(w)
}

// layout is where a file has what.
type layout struct {
	format      Format
	domain      []byte
	first       []byte // α, β, δ in G1
	second      []byte // β, δ in G2
	wires       uint64
	nA, nB      uint64 // wires at infinity
	infA, infB  []byte
	commitments int
	lists       []list // A, B, Z, K, B in G2, then two of each commitment
}

// list is a list of points in a file.
type list struct {
	name  string
	count int
	b     []byte
}

// sizes are the bytes of things over a curve.
type sizes struct {
	scalar, g1, g2 int // of points both coordinates
}

// cursor goes over a file.
type cursor struct {
	all []byte
	at  int
	err error // the first; what is taken then is empty
}

func (c *cursor) take(n uint64, what string) []byte {
	if c.err == nil && n > uint64(len(c.all)-c.at) {
		c.err = fmt.Errorf("%w: %d bytes of %s at byte %d, where %d are left", ErrFormat, n, what, c.at, len(c.all)-c.at)
	}
	if c.err != nil {
		return nil
	}
	c.at += int(n)
	return c.all[c.at-int(n) : c.at : c.at]
}

func (c *cursor) number(size int, order binary.ByteOrder, what string) uint64 {
	b := c.take(uint64(size), what)
	switch {
	case c.err != nil:
		return 0
	case size == 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

// pad goes on to a multiple of Align over bytes that must be 0.
func (c *cursor) pad(what string) {
	for _, x := range c.take(uint64(-c.at&(Align-1)), "padding before "+what) {
		if x != 0 && c.err == nil {
			c.err = fmt.Errorf("%w: padding before %s that is not 0", ErrFormat, what)
		}
	}
}

// scan finds out where everything is in a file, and that it is whole. It takes no memory by
// what the file says.
func (s *system) scan(all []byte) (*layout, error) {
	c := &cursor{all: all}
	l := &layout{format: Compressed}
	if len(all) >= 8 {
		switch string(all[:8]) {
		case dumpMarker:
			l.format = Dump
		case mappedMarker:
			l.format = Mapped
		}
	}
	inMemory := l.format != Compressed
	if inMemory {
		c.at = 8
	}
	l.domain = c.take(8+5*uint64(s.sizes.scalar)+1, "domain")
	if c.err != nil {
		return nil, c.err
	}
	if err := s.domain(withoutTables(l.domain)); err != nil {
		return nil, fmt.Errorf("%w: no key over %s: its domain: %w", ErrFormat, strings.ReplaceAll(s.id.String(), "_", "-"), err)
	}
	g1, g2 := uint64(s.sizes.g1), uint64(s.sizes.g2)
	if !inMemory && c.at < len(all) {
		// Compressed points have the top bit set, but for the one at infinity of BN254,
		// which α is not.
		if all[c.at]&0x80 == 0 {
			l.format = Raw
		} else {
			g1, g2 = g1/2, g2/2
		}
	}
	l.first = c.take(3*g1, "α, β, δ")
	points := func(name string, size uint64) {
		var n uint64
		if inMemory {
			n = c.number(8, binary.LittleEndian, "the length of "+name)
		} else {
			n = c.number(4, binary.BigEndian, "the length of "+name)
		}
		if c.err == nil && n > 0 && l.format == Mapped {
			c.pad(name)
		}
		over, n8 := bits.Mul64(n, size)
		if over != 0 {
			n8 = 1 << 63
		}
		b := c.take(n8, name)
		if c.err == nil {
			l.lists = append(l.lists, list{name, int(n), b})
		}
	}
	lists := func(second bool) {
		if !second {
			for _, name := range []string{"query A", "query B", "query Z", "query K"} {
				points(name, g1)
			}
		} else {
			points("query B of G2", g2)
		}
	}
	if !inMemory {
		lists(false)
	}
	l.second = c.take(2*g2, "β, δ in G2")
	if !inMemory {
		lists(true)
	}
	l.wires = c.number(8, binary.BigEndian, "the number of wires")
	l.nA = c.number(8, binary.BigEndian, "the number of points at infinity in A")
	l.nB = c.number(8, binary.BigEndian, "the number of points at infinity in B")
	l.infA = c.take(l.wires, "the wires at infinity in A")
	l.infB = c.take(l.wires, "the wires at infinity in B")
	commitments := c.number(4, binary.BigEndian, "the number of commitments")
	if inMemory {
		lists(false)
		lists(true)
	}
	for i := uint64(0); i < commitments && c.err == nil; i++ {
		points(fmt.Sprintf("the basis of commitment %d", i), g1)
		points(fmt.Sprintf("the second basis of commitment %d", i), g1)
	}
	if c.err == nil && c.at != len(all) {
		c.err = fmt.Errorf("%w: %d bytes after its end", ErrFormat, len(all)-c.at)
	}
	if c.err != nil {
		return nil, c.err
	}
	l.commitments = int(commitments)
	return l, l.check()
}

// check says whether the parts fit one another.
func (l *layout) check() error {
	n := binary.BigEndian.Uint64(l.domain)
	if n == 0 || n&(n-1) != 0 {
		return fmt.Errorf("%w: a domain of %d elements, a power of two is wanted", ErrFormat, n)
	}
	if z := uint64(l.lists[2].count); z != n-1 {
		return fmt.Errorf("%w: %d points in query Z, %d are wanted for a domain of %d", ErrFormat, z, n-1, n)
	}
	if l.lists[1].count != l.lists[4].count {
		return fmt.Errorf("%w: %d points in query B of G1 and %d in that of G2", ErrFormat, l.lists[1].count, l.lists[4].count)
	}
	for i, x := range []struct {
		infinity []byte
		n        uint64
	}{{l.infA, l.nA}, {l.infB, l.nB}} {
		var found uint64
		for wire, at := range x.infinity {
			if at > 1 {
				return fmt.Errorf("%w: wire %d is %d in the list of those at infinity in %c, want 0 or 1", ErrFormat, wire, at, 'A'+i)
			}
			found += uint64(at)
		}
		if found != x.n || uint64(l.lists[i].count) != l.wires-found {
			return fmt.Errorf("%w: %d points in %s, and %d or %d wires of %d at infinity", ErrFormat, l.lists[i].count, l.lists[i].name, x.n, found, l.wires)
		}
	}
	for i := range l.commitments {
		if a, b := l.lists[5+2*i].count, l.lists[6+2*i].count; a != b {
			return fmt.Errorf("%w: commitment %d has bases of %d and %d points", ErrFormat, i, a, b)
		}
	}
	return nil
}

func flags(b []byte) []bool {
	out := make([]bool, len(b))
	for i, x := range b {
		out[i] = x != 0
	}
	return out
}

// meter adds up progress.
type meter struct {
	mu          sync.Mutex
	done, total int64
	tell        func(done, total int64)
}

func (m *meter) add(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done += int64(n)
	if m.tell != nil {
		m.tell(m.done, m.total)
	}
}

// words are a field's modulus as elements lie in memory.
func words(modulus *big.Int, bytes int) []uint64 {
	out := make([]uint64, bytes/8)
	b := modulus.FillBytes(make([]byte, bytes))
	for i := range out {
		out[i] = binary.BigEndian.Uint64(b[bytes-8*i-8:])
	}
	return out
}

// canonical says whether all of some elements, as they lie in memory, are below the
// modulus: arithmetic on others is undefined.
func canonical(b []byte, modulus []uint64) bool {
	n := len(modulus)
	for ; len(b) > 0; b = b[8*n:] {
		var borrow uint64
		for i, m := range modulus {
			_, borrow = bits.Sub64(binary.LittleEndian.Uint64(b[8*i:]), m, borrow)
		}
		if borrow == 0 {
			return false
		}
	}
	return true
}
