package plan

import (
	"math"
	"math/bits"
)

// What sums of few points in two launches (msm/internal/tiny) are made for.
const (
	TinyThreads = 256     // of a block
	TinyBuckets = 128     // of a window, at most
	tinyPoints  = 8 << 10 // of a block, at most
	tinyLeast   = 128     // points that are worth a block
	tinyWindows = 256
)

// TinyParts is in how many parts n points go, a block for each part and window, so that
// all run at once; false where such a sum cannot be made.
func TinyParts(w *Windows, n, units int) (int, bool) {
	if n < 1 || w.Copies != 1 || len(w.List) > tinyWindows {
		return 0, false
	}
	base := 0
	for _, x := range w.List {
		if x.Buckets > TinyBuckets || x.Base != base {
			return 0, false
		}
		base += x.Buckets
	}
	parts := max(1, min(units/len(w.List), (n+tinyLeast-1)/tinyLeast))
	return parts, (n+parts-1)/parts <= tinyPoints
}

// tiny is the seconds of such a sum.
func (p *Problem) tiny(w *Windows) (float64, bool) {
	if p.Devices > 1 || p.Tables > 0 {
		return 0, false
	}
	parts, ok := TinyParts(w, p.N, int(p.Card.Units))
	if !ok {
		return 0, false
	}
	work := productWork(p.Group)
	accumulate := float64(AccumulateProducts)
	if p.Group.Edwards != nil {
		accumulate = edwardsProducts
	}
	// An addition of four lanes is four products and exchanges, 13 products take latency.
	team := latency(p.Group)*4/13 + 0.5e-6
	buckets := 0
	for _, x := range w.List {
		buckets = max(buckets, x.Buckets)
	}
	levels := func(n float64) float64 { return math.Ceil(math.Log2(math.Max(1, n))) }
	points := float64(p.N) / float64(parts)
	length := math.Ceil(points / (TinyThreads - float64(buckets)/2))
	block := p.Card.Wide / p.Card.Units / (work * accumulate) / TinyThreads // additions in turn of all threads a second
	t := length * math.Max(1/block, latency(p.Group)*accumulate/AddProducts)
	t += team * levels(2*points/float64(buckets)/length)
	for s := 0; 1<<s < buckets; s++ {
		adds := buckets >> (s + 1) * (s + 1)
		t += team * math.Ceil(float64(adds)/(TinyThreads/4))
	}
	t += team * levels(float64(parts))
	rounds := math.Ceil(float64(len(w.List)*parts) / p.Card.Units)
	// The host's additions, by eight cores; a product of 64-bit words is a nanosecond.
	n := float64(p.Group.Base.Limbs) / 2
	host := float64(len(w.List)*(1+bits.Len(uint(buckets-1)))) * AddProducts * n * n * float64(p.Group.Degree) * 1e-9 / 8
	return t*rounds + host + 4*p.Card.Launch, true
}

// Tiny says whether the sum with these windows is best made in two launches.
func (p *Problem) Tiny(w *Windows) bool {
	t, ok := p.tiny(w)
	return ok && t < p.Cost(w).Total()
}
