package device_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// program runs a random sequence of device operations, the same for the same
// seed on every device, over two queues of one device, and returns all that it
// read. Buffers move between the queues at synchronisations only.
type program struct {
	t       *testing.T
	rng     *rand.Rand
	queues  [2]*device.Queue
	buffers []owned
	out     bytes.Buffer
}

type owned struct {
	b device.Buffer[uint32]
	q int
}

func (p *program) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *program) step() {
	if len(p.buffers) < 2 {
		p.create()
		return
	}
	i := p.rng.IntN(len(p.buffers))
	x := p.buffers[i]
	q := p.queues[x.q]
	switch p.rng.IntN(9) {
	case 0, 1:
		p.create()
	case 2: // fill a part
		lo := p.rng.IntN(x.b.Len())
		p.check(x.b.Slice(lo, lo+p.rng.IntN(x.b.Len()-lo+1)).Fill(q, p.rng.Uint32()))
	case 3: // copy a part to another buffer of the same queue
		y := p.buffers[p.rng.IntN(len(p.buffers))]
		if y.q == x.q && y.b != x.b {
			n := p.rng.IntN(min(x.b.Len(), y.b.Len()) + 1)
			p.check(device.Copy(q, y.b.Slice(y.b.Len()-n, y.b.Len()), x.b.Slice(0, n)))
		}
	case 4, 5: // compute
		p.add(q, x.b, p.rng.Uint32())
	case 6: // read
		got, err := x.b.Read(q)
		p.check(err)
		p.check(binary.Write(&p.out, binary.LittleEndian, got))
	case 7: // hand over
		p.check(q.Sync())
		p.buffers[i].q = 1 - x.q
	case 8: // free, with work on it still queued
		x.b.Free()
		p.buffers[i] = p.buffers[len(p.buffers)-1]
		p.buffers = p.buffers[:len(p.buffers)-1]
	}
}

func (p *program) create() {
	words := make([]uint32, 1+p.rng.IntN(5000))
	for i := range words {
		words[i] = p.rng.Uint32()
	}
	q := p.rng.IntN(2)
	b, err := device.Upload(p.queues[q], words)
	p.check(err)
	p.buffers = append(p.buffers, owned{b, q})
}

// add is an operation with twins.
func (p *program) add(q *device.Queue, b device.Buffer[uint32], v uint32) {
	if !q.OnHost() {
		launch(p.t, q, "conf_add", device.D1(device.Blocks(b.Len(), 256)), device.D1(256), 0, b.Arg(), device.U32(b.Len()), device.U32(v))
		return
	}
	for i, w := range b.Host() {
		b.Host()[i] = w*3 + v
	}
}

func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(4) {
		devicetest.Same(t, func(t *testing.T, plain *device.Queue) []byte {
			p := &program{t: t, rng: rand.New(rand.NewPCG(seed, 99))}
			for i := range p.queues {
				q, err := plain.Device().NewQueue(context.Background())
				p.check(err)
				p.queues[i] = q
			}
			for range 150 {
				p.step()
			}
			for _, x := range p.buffers {
				got, err := x.b.Read(p.queues[x.q])
				p.check(err)
				p.check(binary.Write(&p.out, binary.LittleEndian, got))
				x.b.Free()
			}
			for _, q := range p.queues {
				p.check(q.Close())
			}
			if p.out.Len() == 0 {
				t.Error("the program read nothing")
			}
			return p.out.Bytes()
		})
	}
}
