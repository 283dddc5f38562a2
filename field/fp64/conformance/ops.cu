// Every function of fp64.cuh, for comparison with whole numbers on the host.
#include "FP64_HEADER"
#include "field/fp64/fp64.cuh"

typedef Doubles<FP64_FIELD> F;
typedef FP64_FIELD P;
typedef P::Words W;

// Calls, since the functions' copies would take minutes to compile.
DEVICE_CALL F product(F a, F b) { return mul(a, b); }
DEVICE_CALL F square(F a) { return sqr(a); }
DEVICE_CALL F product_less(F a, F b, F c) { return mul_less(a, b, c); }
DEVICE_CALL F square_less(F a, F b, F c) { return sqr_less(a, b, c); }
DEVICE_CALL F products(F a, F b, F c, F d) { return mul_sub(a, b, c, d); }

DEVICE_CALL void write(u32 *out, F a) {
  const Mont<W> w = to_words(a);
#pragma unroll
  for (u32 j = 0; j < W::N; j++) out[j] = w.x[j];
}

DEVICE_INLINE void put(u32 *out, u32 &k, const F &a) { write(out + k++ * W::N, a); }

// in is four elements a thread, out OUTPUTS.
extern "C" __global__ void __launch_bounds__(64) fp64_ops_VARIANT(u32 *out, const u32 *in, u32 n, u32 outputs) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  F x[4];
#pragma unroll
  for (u32 e = 0; e < 4; e++) {
    Mont<W> w;
#pragma unroll
    for (u32 j = 0; j < W::N; j++) w.x[j] = in[(i * 4 + e) * W::N + j];
    x[e] = from_words<P>(w);
  }
  out += (u64)i * outputs * W::N;
  u32 k = 0;
  put(out, k, x[0]);
  put(out, k, product(x[0], x[1]));
  put(out, k, square(product(x[0], x[1])));
  put(out, k, sub(x[0], x[1]));
  put(out, k, product(sub(x[0], x[1]), sub(x[2], x[3])));
  const F d = product_less(x[0], x[1], x[2]);
  put(out, k, d);
  put(out, k, square_less(d, product(x[0], x[2]), product(x[1], x[3])));
  put(out, k, products(d, sub(product(x[0], x[1]), d), x[2], x[3]));
  // The difference of a product and itself, in other limbs.
  F c, one;
#pragma unroll
  for (u32 j = 0; j < P::L; j++) {
    c.x[j] = P::enter(j);
    one.x[j] = P::leave(j);
  }
  const F y = product(product(x[0], x[1]), c);
  Mont<W> flags;
#pragma unroll
  for (u32 j = 0; j < W::N; j++) flags.x[j] = 0;
  flags.x[0] = is_zero(product_less(product(x[0], x[1]), c, y)) | is_zero(product_less(x[0], x[1], x[2])) << 1;
#pragma unroll
  for (u32 j = 0; j < W::N; j++) out[k * W::N + j] = flags.x[j];
  k++;
  // A long chain, so that sizes settle.
  F p = x[0], q = x[1], z = x[2];
  for (u32 r = 0; r < 20; r++) {
    const F u = product_less(z, q, p), uu = square(u), uuu = product(u, uu), v = product(p, uu);
    p = square_less(u, uuu, v);
    q = products(u, sub(v, p), q, uuu);
    z = product(z, uu);
  }
  put(out, k, p);
  put(out, k, q);
  put(out, k, product(z, one));
}
