// The device transcript's operations, a launch of one warp each. state is the 18
// words of transcript.State.
#include "transcript/prover/transcript.cuh"

// Absorbs a list unless absorb is 0, and then draws challenges to out.
extern "C" __global__ void __launch_bounds__(32)
transcript_step(u32 *__restrict__ state, const u32 *__restrict__ list, u32 n, u32 absorb, u32 *__restrict__ out, u32 challenges) {
  transcript t = transcript_load(state);
  if (absorb) transcript_absorb(t, list, n);
  for (u32 i = 0; i < challenges; i++) {
    qm31 c = transcript_challenge(t);
    if (threadIdx.x == 0) qm31_store(out, i, c);
  }
  transcript_store(state, t);
}

// Absorbs a list of n <= 8 words that come as arguments.
extern "C" __global__ void __launch_bounds__(32)
transcript_absorb_words(u32 *__restrict__ state, u32 n, u32 w0, u32 w1, u32 w2, u32 w3, u32 w4, u32 w5, u32 w6, u32 w7) {
  transcript t = transcript_load(state);
  u32 w[8] = {w0, w1, w2, w3, w4, w5, w6, w7};
  transcript_put(t, n);
#pragma unroll
  for (u32 i = 0; i < 8; i++)
    if (i < n) transcript_put(t, w[i]);
  transcript_store(state, t);
}

extern "C" __global__ void __launch_bounds__(32)
transcript_indices(u32 *__restrict__ state, u32 *__restrict__ out, u32 n, u32 bits) {
  transcript t = transcript_load(state);
  for (u32 i = 0; i < n; i++) {
    u32 x = transcript_index(t, bits);
    if (threadIdx.x == 0) out[i] = x;
  }
  transcript_store(state, t);
}

DEVICE_INLINE void set_rate(u32 *s, u32 at, u32 w) {
#pragma unroll
  for (u32 j = 0; j < TRANSCRIPT_RATE; j++)
    if (j == at) s[j] = w;
}

// Lowers *best to the smallest nonce below end that does the work. Threads go
// up their residue classes and stop at the best nonce that anyone has found, so
// the result is the same in whatever order they run. state has absorbed the
// nonce's length already.
extern "C" __global__ void __launch_bounds__(128)
transcript_grind(const u32 *__restrict__ state, u32 bits, u64 end, u64 *best) {
  u32 base[16], at = state[16], mask = (1u << bits) - 1;
#pragma unroll
  for (int i = 0; i < 16; i++) base[i] = state[i];
  u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 n = (u64)blockIdx.x * blockDim.x + threadIdx.x; n < end && n < *(volatile u64 *)best; n += stride) {
    u32 s[16], n0 = (u32)(n % M31_P), n1 = (u32)(n / M31_P);
#pragma unroll
    for (int i = 0; i < 16; i++) s[i] = base[i];
    set_rate(s, at, n0);
    if (at < 7) set_rate(s, at + 1, n1);
    // A nonce that ends or straddles a block costs a permutation more.
    u32 permutations = at < 6 ? 1 : 2;
#pragma unroll 1
    for (u32 r = 0; r < permutations; r++) {
      if (r == 1 && at == 7) s[0] = n1;
      poseidon2_permute16(s);
    }
    if ((s[0] & mask) == 0) {
      atomicMin(best, n);
      break;
    }
  }
}

// Absorbs the length of a nonce, as the search expects it, into a copy of the
// state.
extern "C" __global__ void __launch_bounds__(32)
transcript_grind_start(const u32 *__restrict__ state, u32 *__restrict__ copy, u64 *__restrict__ best) {
  transcript t = transcript_load(state);
  transcript_put(t, 2);
  transcript_store(copy, t);
  if (threadIdx.x == 0) *best = ~0ull;
}

// Absorbs the nonce and uses up the word that shows the work. A search that has
// failed leaves words that are not canonical everywhere.
extern "C" __global__ void __launch_bounds__(32)
transcript_grind_finish(u32 *__restrict__ state, const u64 *__restrict__ best, u32 *__restrict__ nonce) {
  transcript t = transcript_load(state);
  u64 n = *best;
  if (n == ~0ull) {
    t.word = ~0u;
    transcript_store(state, t);
    if (threadIdx.x < 2) nonce[threadIdx.x] = ~0u;
    return;
  }
  u32 n0 = (u32)(n % M31_P), n1 = (u32)(n / M31_P);
  transcript_put(t, 2);
  transcript_put(t, n0);
  transcript_put(t, n1);
  transcript_squeeze(t);
  transcript_store(state, t);
  if (threadIdx.x < 2) nonce[threadIdx.x] = threadIdx.x == 0 ? n0 : n1;
}
