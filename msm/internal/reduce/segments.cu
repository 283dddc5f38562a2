// The first levels of the sums over buckets (reduce.cu), where there are many: a thread
// takes 2^log buckets one after the other.
#define MONT_KARATSUBA WITH_KARATSUBA
#include "GROUP_HEADER"
#include "SUMS_HEADER"

// pieces is two words for each window, or share of one, that has buckets in the array
// of sums: the first of them and their number. A thread leaves the sum of its buckets in
// the place of the first and the sum of i times the i-th, from 0 on, in the second's.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS_RESIDENT)
reduce_segments_VARIANT(u32 *sums, const u32 *__restrict__ pieces, u32 log) {
  enum : u32 { words = sizeof(Group::Sum) / 4 };
  const u32 first = pieces[2 * blockIdx.y], count = pieces[2 * blockIdx.y + 1];
  const u64 from = (u64)(blockIdx.x * blockDim.x + threadIdx.x) << log;
  const bool some = from < count;
  const u64 left = some ? count - from : 1;
  const u32 last = (u32)(left < (1u << log) ? left : 1u << log) - 1;
  u32 *const to = sums + (first + from) * words;
  SHARED_DYNAMIC(u64, shared);
  // The running sum has taken buckets from the last down to i + 1, and what is written in
  // the end is the sum of its values but for the last one.
  Running<Group, STORAGE<Group::F, NUMBERS SHARED_THREADS>> running(shared, to + (u64)last * words, some);
#pragma unroll 1
  for (u32 i = (1u << log) - 1; i-- > 0;) {
    // Warps that go through the same code at the same time share what the instruction cache
    // holds of it.
    if (IN_STEP) __syncthreads();
    if (i >= last) continue; // a shorter run, the last
    const PLACE<Group::F> s(to + (u64)i * words);
    running.weigh();
    running.take(s);
  }
  // A bucket alone is what it was; the second place would be a stranger's, and is not read.
  if (last > 0) running.write(to, to + words);
}
