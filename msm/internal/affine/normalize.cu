// Sums in XYZZ coordinates to affine points, with one inversion for a block's points.
#define MONT_INLINE_WORDS 8
#include "GROUP_HEADER"
#include "msm/internal/affine/block.cuh"

typedef Group::F F;
typedef Elements<F> E;
enum : u32 { N = sizeof(F) / 4 };

// A thread's points are blockDim.x apart, each of them.
extern "C" __global__ void __launch_bounds__(128) affine_normalize_VARIANT(u32 *out, const u32 *sums, u64 n, u32 each, u32 room) {
  SHARED_DYNAMIC(E::Word, leaves);
  E::Word *const leaf = leaves + threadIdx.x;
  const u64 first = (u64)blockIdx.x * blockDim.x * each + threadIdx.x;
  F run;
  set_one(run);
  for (u32 k = 0; k < each; k++) {
    const u64 i = first + (u64)k * blockDim.x;
    if (i >= n) break;
    // Where the point is to go, there is room for the product of all before it.
    E::store(out + i * (2 * N), run);
    const F zzz = E::fetch(sums + i * (4 * N) + 3 * N);
    if (!is_zero(zzz)) run = mul(run, zzz);
  }
  E::store(leaf, blockDim.x, run);
  block_inverse<F>(leaves, leaves + blockDim.x * E::n, room);
  F inv = E::load(leaf, blockDim.x);
  for (u32 k = each; k-- > 0;) {
    const u64 i = first + (u64)k * blockDim.x;
    if (i >= n) continue;
    u32 *const to = out + i * (2 * N);
    const u32 *const from = sums + i * (4 * N);
    const F zzz = E::fetch(from + 3 * N);
    Affine<Group> p;
    if (is_zero(zzz)) {
      set_zero(p.x);
      set_zero(p.y);
    } else {
      // 1/ZZZ is 1/z³, and 1/ZZ is (ZZ/ZZZ)².
      const F u = mul(inv, E::load(to)), z = mul(E::fetch(from + 2 * N), u);
      inv = mul(inv, zzz);
      p.x = canonical(mul(E::fetch(from), sqr(z)));
      p.y = canonical(mul(E::fetch(from + N), u));
    }
    E::store(to, p.x);
    E::store(to + N, p.y);
  }
}
