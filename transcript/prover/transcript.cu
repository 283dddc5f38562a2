// The device transcript's operations, a launch each. state is the 18 words of
// transcript.State and, from word 20 on, what a search for work shares: the best
// nonce of any block, of 64 bits, and the number of blocks that have ended.
#include "PERMUTATION_HEADER"
#include "TRANSCRIPT_HEADER"

#define SEARCH_BEST 20
#define SEARCH_ENDED 22

// Absorbs a list, if any, and then draws words to out. What the list is follows
// from absorb: 0 nothing, 1 n words, 2 n bytes. nonce, if not null, is that of no
// work.
extern "C" __global__ void __launch_bounds__(32)
transcript_step_VARIANT(u32 *__restrict__ state, const u32 *__restrict__ list, u32 n, u32 absorb, u32 *__restrict__ nonce, u32 *__restrict__ out, u32 words) {
  transcript t = transcript_load(state);
  if (absorb == 1) transcript_absorb(t, list, n);
  if (absorb == 2) transcript_absorb_bytes(t, list, n);
  transcript_squeeze_to(t, out, words);
  if (nonce && threadIdx.x < 2) nonce[threadIdx.x] = 0;
  transcript_store(state, t);
}

// Absorbs a list of n <= 8 words that come as arguments.
extern "C" __global__ void __launch_bounds__(32)
transcript_absorb_words_VARIANT(u32 *__restrict__ state, u32 n, u32 w0, u32 w1, u32 w2, u32 w3, u32 w4, u32 w5, u32 w6, u32 w7) {
  transcript t = transcript_load(state);
  u32 w[8] = {w0, w1, w2, w3, w4, w5, w6, w7};
  transcript_put(t, FIELD_WORD(n));
#pragma unroll
  for (u32 i = 0; i < 8; i++)
    if (i < n) transcript_put(t, w[i]);
  transcript_store(state, t);
}

extern "C" __global__ void __launch_bounds__(32)
transcript_indices_VARIANT(u32 *__restrict__ state, u32 *__restrict__ out, u32 n, u32 bits) {
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
// the result is the same in whatever order they run. base is the state that has
// absorbed the nonce's length already.
DEVICE_INLINE void search_threads(const u32 *base, u32 bits, u64 end, u64 *best) {
  u32 at = base[16], mask = (1u << bits) - 1, stride = gridDim.x * blockDim.x;
  u32 n0 = blockIdx.x * blockDim.x + threadIdx.x, n1 = 0; // the nonce is n0 + n1 p
  // A nonce that ends or straddles a block costs a permutation more.
  bool twice = at >= TRANSCRIPT_RATE - 2;
  for (u64 n = n0; n < end; n += stride) {
    u64 seen = *(volatile u64 *)best; // asked for now, looked at after the work
    u32 s[16], second = FIELD_WORD(n1);
#pragma unroll
    for (int i = 0; i < 16; i++) s[i] = base[i];
    set_rate(s, at, FIELD_WORD(n0));
    if (at < TRANSCRIPT_RATE - 1) set_rate(s, at + 1, second);
#pragma unroll 1
    for (u32 r = 0;; r++) {
      poseidon2_permute16(s);
      if (r == 1 || !twice) break;
      if (at == TRANSCRIPT_RATE - 1) s[0] = second;
    }
    if ((FIELD_NUMBER(s[0]) & mask) == 0) {
      atomicMin(best, n);
      return;
    }
    if (seen <= n) return;
    n0 += stride;
    if (n0 >= FIELD_P) n0 -= FIELD_P, n1++;
  }
}

// The same with a warp for a nonce: fewer at a time, and each in a fraction of the
// time.
DEVICE_INLINE void search_warps(const u32 *base, u32 bits, u64 end, u64 *best) {
  u32 mask = (1u << bits) - 1, stride = gridDim.x * (blockDim.x / 32);
  u32 n0 = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, n1 = 0;
#pragma unroll 1
  for (u64 n = n0; n < end; n += stride) {
    u64 seen = *(volatile u64 *)best;
    transcript t = transcript_load(base);
    transcript_put(t, FIELD_WORD(n0));
    transcript_put(t, FIELD_WORD(n1));
    bool found = (FIELD_NUMBER(transcript_squeeze(t)) & mask) == 0;
    if (found && threadIdx.x % 32 == 0) atomicMin(best, n);
    if (found || shfl_idx(seen, 0) <= n) return;
    n0 += stride;
    if (n0 >= FIELD_P) n0 -= FIELD_P, n1++;
  }
}

// Absorbs a list unless absorb is 0, searches for the smallest nonce below end that
// does the work, absorbs that, uses up the word that shows the work, and draws
// words to out. Every block goes through the list, and the last one to end goes on
// from there. A search that has failed leaves words that are not canonical
// everywhere.
template <bool WARPS>
DEVICE_INLINE void grind(u32 *state, const u32 *list, u32 n, u32 absorb, u32 bits, u64 end, u32 *nonce, u32 *out, u32 words) {
  __shared__ u32 base[TRANSCRIPT_WORDS], last;
  u64 *best = (u64 *)(state + SEARCH_BEST);
  if (threadIdx.x < 32) {
    transcript t = transcript_load(state);
    if (absorb) transcript_absorb(t, list, n);
    transcript_put(t, FIELD_WORD(2u));
    transcript_store(base, t);
  }
  __syncthreads();
  if (WARPS)
    search_warps(base, bits, end, best);
  else
    search_threads(base, bits, end, best);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(state + SEARCH_ENDED, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x >= 32) return;
  __threadfence();
  transcript t = transcript_load(base);
  u64 found = *(volatile u64 *)best;
  __syncwarp();
  if (threadIdx.x == 0) {
    *best = ~0ull;
    state[SEARCH_ENDED] = 0;
  }
  u32 n0 = ~0u, n1 = ~0u;
  if (found == ~0ull) {
    t.word = ~0u;
    for (u32 i = threadIdx.x; i < words; i += 32) out[i] = ~0u;
  } else {
    n0 = FIELD_WORD((u32)(found % FIELD_P)), n1 = FIELD_WORD((u32)(found / FIELD_P));
    transcript_put(t, n0);
    transcript_put(t, n1);
    transcript_squeeze(t);
    transcript_squeeze_to(t, out, words);
  }
  transcript_store(state, t);
  if (threadIdx.x < 2) nonce[threadIdx.x] = threadIdx.x == 0 ? n0 : n1;
}

extern "C" __global__ void __launch_bounds__(128)
transcript_grind_threads_VARIANT(u32 *state, const u32 *__restrict__ list, u32 n, u32 absorb, u32 bits, u64 end, u32 *__restrict__ nonce, u32 *__restrict__ out, u32 words) {
  grind<false>(state, list, n, absorb, bits, end, nonce, out, words);
}

extern "C" __global__ void __launch_bounds__(128)
transcript_grind_warps_VARIANT(u32 *state, const u32 *__restrict__ list, u32 n, u32 absorb, u32 bits, u64 end, u32 *__restrict__ nonce, u32 *__restrict__ out, u32 words) {
  grind<true>(state, list, n, absorb, bits, end, nonce, out, words);
}
