package merkle

import (
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

// sponge hashes with a permutation, as many states side by side as it takes.
//
// A row goes through an overwrite sponge on the width-16 permutation with 8 rate
// words. A last block that is not full is permuted with the words of the state that
// it leaves standing; the length in the capacity keeps rows of different lengths
// apart. Two children fill the width-16 permutation; more go through an overwrite
// sponge on the width-24 permutation with 16 rate words.
type sponge[W field.Base[W]] struct {
	*poseidon2.Permutation[W]
	states *sync.Pool // of *[]W for all lanes
}

func newSponge[W field.Base[W]](p *poseidon2.Permutation[W]) sponge[W] {
	return sponge[W]{Permutation: p, states: &sync.Pool{New: func() any {
		s := make([]W, 24*max(1, p.Lanes))
		return &s
	}}}
}

// tag is a domain as an element.
func tag[W field.Base[W]](domain uint32) W {
	var zero W
	return zero.FromUint64(uint64(domain))
}

// worthLanes says whether so many states are permuted faster together, with
// nothing in the other lanes, than each by itself.
func (h sponge[W]) worthLanes(n int) bool { return n > h.Lanes/4 && n > 1 }

func (h sponge[W]) rows(dst []DigestOf[W], m matrix[W], at int) {
	width := m.shape.RowWords
	domain := tag[W](leafDomain(width))
	pooled := h.states.Get().(*[]W)
	defer h.states.Put(pooled)
	lanes := h.Lanes
	s := (*pooled)[:16*lanes]
	for len(dst) > 0 {
		n := min(lanes, len(dst))
		if !h.worthLanes(n) {
			break
		}
		clear(s)
		for j := range lanes {
			s[8*lanes+j] = domain
		}
		for w := 0; w < width; w += 8 {
			m.load(s, lanes, at, n, w, min(8, width-w))
			h.Many16(s)
		}
		store(dst[:n], s, lanes)
		dst, at = dst[n:], at+n
	}
	for i := range dst {
		s := (*[16]W)(*pooled)
		*s = [16]W{8: domain}
		for w := 0; w < width; w += 8 {
			m.load(s[:], 1, at+i, 1, w, min(8, width-w))
			h.Permute16(s)
		}
		dst[i] = DigestOf[W](s[:8])
	}
}

func (h sponge[W]) nodes(dst, src []DigestOf[W], arity int) {
	domain := tag[W](nodeDomain(arity))
	pooled := h.states.Get().(*[]W)
	defer h.states.Put(pooled)
	lanes := h.Lanes
	for len(dst) > 0 {
		n := min(lanes, len(dst))
		if !h.worthLanes(n) {
			break
		}
		if arity == 2 {
			s := (*pooled)[:16*lanes]
			load(s, src[:2*n], lanes, 2)
			load(s[8*lanes:], src[1:2*n], lanes, 2)
			h.Many16(s)
			store(dst[:n], s, lanes)
		} else {
			s := (*pooled)[:24*lanes]
			clear(s[16*lanes:])
			for j := range lanes {
				s[16*lanes+j] = domain
			}
			for c := 0; c < arity; c += 2 {
				load(s, src[c:n*arity], lanes, arity)
				load(s[8*lanes:], src[c+1:n*arity], lanes, arity)
				h.Many24(s)
			}
			store(dst[:n], s, lanes)
		}
		dst, src = dst[n:], src[n*arity:]
	}
	for i := range dst {
		children := src[i*arity : (i+1)*arity]
		if arity == 2 {
			s := (*[16]W)(*pooled)
			copy(s[:], Words(children))
			h.Permute16(s)
			dst[i] = DigestOf[W](s[:8])
			continue
		}
		s := (*[24]W)(*pooled)
		clear(s[16:])
		s[16] = domain
		for c := 0; c+1 < arity; c += 2 {
			copy(s[:], Words(children[c:c+2]))
			h.Permute24(s)
		}
		dst[i] = DigestOf[W](s[:8])
	}
}

// load sets s[k*lanes+j] to word k of src[j*step], as far as src goes.
func load[W field.Base[W]](s []W, src []DigestOf[W], lanes, step int) {
	n := (len(src) + step - 1) / step
	j := 0
	for ; j+8 <= n; j += 8 {
		transpose8(s[j:], lanes, Words(src[j*step:]), 8*step)
	}
	for ; j < n; j++ {
		for k, x := range src[j*step] {
			s[k*lanes+j] = x
		}
	}
}

// store sets word k of dst[j] to s[k*lanes+j].
func store[W field.Base[W]](dst []DigestOf[W], s []W, lanes int) {
	j := 0
	for ; j+8 <= len(dst); j += 8 {
		transpose8(Words(dst[j:]), 8, s[j:], lanes)
	}
	for ; j < len(dst); j++ {
		for k := range dst[j] {
			dst[j][k] = s[k*lanes+j]
		}
	}
}

// transpose8 sets dst[k*to+j] = src[j*from+k] for j and k below 8. It moves words,
// whatever field they are of.
func transpose8[W field.Base[W]](dst []W, to int, src []W, from int) {
	dst, src = dst[:7*to+8], src[:7*from+8]
	words := unsafe.Slice((*m31.Element)(unsafe.Pointer(unsafe.SliceData(src))), len(src))
	if to == 8 {
		m31.Transpose8Words((*[8][8]m31.Element)(unsafe.Pointer(unsafe.SliceData(dst))), words, from)
		return
	}
	var tile [8][8]m31.Element
	m31.Transpose8Words(&tile, words, from)
	for k := range 8 {
		*(*[8]m31.Element)(unsafe.Pointer(&dst[k*to])) = tile[k]
	}
}
