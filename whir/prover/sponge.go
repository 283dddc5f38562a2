package prover

import (
	"errors"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/whir"
)

// Transcript is what proving needs of a transcript on the host: the verifier's,
// and searching for proofs of work.
type Transcript[W field.Base[W], E any] interface {
	whir.Transcript[W, E]
	Grind(bits int) ([2]W, error)
}

// sponge is what an opening needs of a transcript on buffers. The transcripts of
// package transcript/prover are such, and hostSponge makes one of any transcript
// of the host.
type sponge[W field.Base[W], E field.Element[E]] interface {
	AbsorbHost(list []W) error
	AbsorbExt(list device.Buffer[E]) error
	AbsorbDigest(words device.Buffer[W], raw bool) error
	Challenge(dst device.Buffer[E]) error
	Grind(bits int, nonce device.Buffer[W]) error
	// GrindChallenge does work and draws a challenge, AbsorbGrindChallenge absorbs a
	// list before.
	GrindChallenge(bits int, nonce device.Buffer[W], dst device.Buffer[E]) error
	AbsorbGrindChallenge(list device.Buffer[W], bits int, nonce device.Buffer[W], dst device.Buffer[E]) error
	Indices(dst device.Buffer[uint32], bits int) error
}

// hostSponge acts on a transcript of the host, where the queue works on host
// memory.
type hostSponge[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	q      *device.Queue
	tr     Transcript[W, E]
	scheme *whir.Scheme[W, F, E]
}

func (s *hostSponge[W, F, E]) AbsorbHost(list []W) error {
	s.tr.Absorb(list)
	return s.q.Err()
}

func (s *hostSponge[W, F, E]) AbsorbExt(list device.Buffer[E]) error {
	s.tr.Absorb(s.scheme.Words(list.Host()))
	return s.q.Err()
}

func (s *hostSponge[W, F, E]) AbsorbDigest(words device.Buffer[W], raw bool) error {
	s.tr.Absorb(s.scheme.DigestWords([8]W(words.Host())))
	return s.q.Err()
}

func (s *hostSponge[W, F, E]) Challenge(dst device.Buffer[E]) error {
	out := dst.Host()
	for i := range out {
		out[i] = s.tr.Challenge()
	}
	return s.q.Err()
}

func (s *hostSponge[W, F, E]) Grind(bits int, nonce device.Buffer[W]) error {
	n, err := s.tr.Grind(bits)
	if err != nil {
		return err
	}
	copy(nonce.Host(), n[:])
	return s.q.Err()
}

func (s *hostSponge[W, F, E]) AbsorbGrindChallenge(list device.Buffer[W], bits int, nonce device.Buffer[W], dst device.Buffer[E]) error {
	s.tr.Absorb(list.Host())
	return s.GrindChallenge(bits, nonce, dst)
}

func (s *hostSponge[W, F, E]) GrindChallenge(bits int, nonce device.Buffer[W], dst device.Buffer[E]) error {
	return errors.Join(s.Grind(bits, nonce), s.Challenge(dst))
}

func (s *hostSponge[W, F, E]) Indices(dst device.Buffer[uint32], bits int) error {
	list, err := s.tr.Indices(dst.Len(), bits)
	if err != nil {
		return err
	}
	out := dst.Host()
	for i, x := range list {
		out[i] = uint32(x)
	}
	return s.q.Err()
}
