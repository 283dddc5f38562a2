package plan

import "math"

// Workload is the estimate of DistMSM (ASPLOS 2024, section 3.1) of the additions that
// one thread makes, for windows of s bits: points n, scalars of lambda bits, gpus with
// threads concurrent threads each. Choices does not use it: it has no sign in its
// digits, assumes a doubling chain for every bucket and knows neither memory nor
// launches. It is here to be compared with. The paper names 20 bits as its optimum for one
// GPU and 11 for 16 (2^26 points, 253 bits, 2^16 threads); as printed it has the first,
// and for 16 GPUs 17 bits, where two of them share a window.
func Workload(n, lambda, gpus, threads, s int) float64 {
	ceil := func(a, b float64) float64 { return math.Ceil(a / b) }
	windows := ceil(float64(lambda), float64(s))
	buckets, t := math.Exp2(float64(s)), float64(threads)
	if float64(gpus) <= windows {
		return ceil(windows, float64(gpus))*ceil(float64(n)+buckets, t) + ceil(buckets, t)*2*float64(s) +
			math.Min(ceil(buckets, t)+math.Log2(t), float64(s))
	}
	share := float64(gpus) / windows
	return (float64(n)+buckets*2*float64(s))/(math.Ceil(share)*t) + math.Log2(buckets/math.Floor(share))
}
