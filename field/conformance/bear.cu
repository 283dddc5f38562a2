// What the headers of the fields in Montgomery form have besides, for the
// comparison with Go: the sums that reductions take are given as two words.
#include "FIELD_HEADER"

extern "C" __global__ void __launch_bounds__(128)
conformance_bear_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ a, u32 op, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ext x = ext_load(a, i), r = ext_zero();
  u64 wide = (u64)x.x[1] << 32 | x.x[0];
  switch (op) {
  case 0: // below 2^33 P
    r.x[0] = (u32)fp_fold(wide);
    r.x[1] = (u32)(fp_fold(wide) >> 32);
    r.x[2] = fp_reduce(fp_fold(wide));
    r.x[3] = fp_once(x.x[1]);
    break;
  case 1: r.x[0] = fp_times_w(x.x[0]); break;
  case 2: r = ext_times_x(x); break;
  }
  ext_store(out, i, r);
}
