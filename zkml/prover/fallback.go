package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// onHost runs f for a session whose memory is a copy on the host.
func (s *session) onHost(f func(h *session) error) error {
	d, err := device.Open("cpu")
	if err != nil {
		return err
	}
	q, err := d.NewQueue(s.q.Context())
	if err != nil {
		return err
	}
	defer q.Close()
	h := &session{layout: s.layout, q: q, pk: s.pk, arg: s.arg, key: new(keyMemory)}
	defer h.release(0)
	if h.key.words, err = mirror(h, s.q, s.key.words); err != nil {
		return err
	}
	if h.live, err = mirror(h, s.q, s.live); err != nil {
		return err
	}
	if h.scratch, err = mirror(h, s.q, s.scratch); err != nil {
		return err
	}
	h.polys = make([]device.Buffer[m31.Element], len(s.polys))
	for i := range h.polys {
		h.polys[i] = h.at(s.layout.polys[i], s.polys[i].Len())
	}
	return f(h)
}

// mirror is a copy on the host.
func mirror[T any](h *session, q *device.Queue, b device.Buffer[T]) (device.Buffer[T], error) {
	v, err := b.Read(q)
	if err != nil {
		return b, err
	}
	c, err := device.Upload(h.q, v)
	h.owned = append(h.owned, c)
	return c, err
}

func (s *session) countOnDevice() error {
	return s.onHost(func(h *session) error {
		if err := h.count(); err != nil {
			return err
		}
		for i := range s.plan.Tables {
			m := s.plan.Tables[i].Mult
			if err := s.polys[m].CopyFrom(s.q, h.polys[m].Host()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *session) fractionsOnDevice(num device.Buffer[m31.Element], den, ch device.Buffer[m31.QM31]) error {
	return s.onHost(func(h *session) error {
		n, err := mirror(h, s.q, num)
		if err != nil {
			return err
		}
		d, err := mirror(h, s.q, den)
		if err != nil {
			return err
		}
		c, err := mirror(h, s.q, ch)
		if err != nil {
			return err
		}
		if err := h.fractions(n, d, c); err != nil {
			return err
		}
		if err := num.CopyFrom(s.q, n.Host()); err != nil {
			return err
		}
		return den.CopyFrom(s.q, d.Host())
	})
}

func (s *session) restrictOnDevice(jobs []factorJob) error {
	return s.onHost(func(h *session) error {
		for _, j := range jobs {
			own := j
			var err error
			if own.of, err = mirror(h, s.q, j.of); err != nil {
				return err
			}
			if own.out, err = mirror(h, s.q, j.out); err != nil {
				return err
			}
			if err := h.restrictOnHost(&own); err != nil {
				return err
			}
			if err := j.out.CopyFrom(s.q, own.out.Host()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *session) publicOnDevice(jobs []publicJob) error {
	return s.onHost(func(h *session) error {
		for _, j := range jobs {
			own := j
			var err error
			if own.out, err = mirror(h, s.q, j.out); err != nil {
				return err
			}
			if err := h.publicOnHost(&own); err != nil {
				return err
			}
			if err := j.out.CopyFrom(s.q, own.out.Host()); err != nil {
				return err
			}
		}
		return nil
	})
}

// interpret runs a program that has operations without kernels.
func (s *session) interpret(p *graph.Program) error {
	var x []int32
	for _, id := range p.Inputs {
		v, err := s.polys[id].Read(s.q)
		if err != nil {
			return err
		}
		for _, w := range graph.Unpad(p.Tensor(id).Shape, v) {
			x = append(x, signed(w))
		}
	}
	values, err := graph.RunPadded(p, s.pk.weights, x)
	if err != nil {
		return err
	}
	for id, v := range values {
		if k := p.Tensors[id].Kind; k == graph.Column || k == graph.Virtual {
			if err := s.polys[id].CopyFrom(s.q, plan.Embed(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// plain says whether there are kernels for all operations.
func plain(p *graph.Program) bool {
	for _, op := range p.Ops {
		switch op.(type) {
		case graph.MatMul, graph.Linear, graph.Lookup, graph.Reshape:
		default:
			return false
		}
	}
	return true
}
