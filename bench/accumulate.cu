// Sums of points from memory as bucket sums make them: what is left of a product's rate in
// the loop that a multi-scalar multiplication spends its time in.
#define MONT_INLINE_WORDS CALLED_ABOVE
#define MONT_KARATSUBA BY_KARATSUBA
#include "GROUP_HEADER"
#include "bench/accumulate.cuh"

struct Accumulate {
  __device__ __forceinline__ Group::Sum plus(const Group::Sum &s, const Group::Point &p) const { return accumulate(s, p); }
};

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    bench_accumulate_words_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ points, const u32 *__restrict__ entries, u32 count) {
  add_up<Group>(Accumulate(), out, points, entries, count);
}
