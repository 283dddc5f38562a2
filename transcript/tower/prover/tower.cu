// The device transcript's operations, a launch each. state is the words of tower.State
// and, behind them, what a search for work shares: the best nonce of any block, of 64
// bits, and the number of blocks that have ended.
#include "transcript/tower/prover/tower.cuh"

#define SEARCH_BEST 20
#define SEARCH_ENDED 22

// The tree over a long list: stack has a chaining value for each 1 in the number of
// chunks that are in it.
#define MAX_HEIGHT 24

// parent is the compression over two chaining values under the key.
DEVICE_INLINE void parent(u32 *out, const u32 *key, const u32 *left, const u32 *right, u32 *more, u32 flags) {
  u32 m[16];
  for (int i = 0; i < 8; i++) m[i] = left[i], m[8 + i] = right[i];
  u32 v[16] = {key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7], 0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
               0, 0, 64, BLAKE3_KEYED_HASH | BLAKE3_PARENT | flags};
  blake3_rounds(v, m);
  for (int i = 0; i < 8; i++) {
    more[i] = v[8 + i] ^ key[i];
    out[i] = v[i] ^ v[8 + i];
  }
}

// absorb_long is the step of a list of more than a chunk. Each lane of the warp hashes a
// chunk; the first one puts them together, which few enough lists need to be long.
DEVICE_INLINE void absorb_long(tower &t, const u32 *list, u32 words) {
  __shared__ u32 chunks[32][8], stack[MAX_HEIGHT][8], result[16];
  u32 lane = threadIdx.x, count = (words + TOWER_CHUNK - 1) / TOWER_CHUNK, height = 0;
#pragma unroll 1
  for (u32 base = 0; base < count; base += 32) {
    u32 chunk = base + lane;
    if (chunk < count) {
      const u32 *from = list + (u64)chunk * TOWER_CHUNK;
      u32 left = words - chunk * TOWER_CHUNK < TOWER_CHUNK ? words - chunk * TOWER_CHUNK : TOWER_CHUNK;
      u32 cv[8], flags = BLAKE3_KEYED_HASH | BLAKE3_CHUNK_START;
#pragma unroll
      for (int i = 0; i < 8; i++) cv[i] = t.key[i];
#pragma unroll 1
      for (;;) {
        u32 m[16], n = left < 16 ? left : 16;
#pragma unroll
        for (u32 i = 0; i < 16; i++) m[i] = i < n ? from[i] : 0;
        if (left <= 16) flags |= BLAKE3_CHUNK_END;
        blake3_compress(cv, m, chunk, 4 * n, flags);
        if (left <= 16) break;
        from += 16;
        left -= 16;
        flags = BLAKE3_KEYED_HASH;
      }
#pragma unroll
      for (int i = 0; i < 8; i++) chunks[lane][i] = cv[i];
    }
    __syncwarp();
    if (lane == 0) {
#pragma unroll 1
      for (u32 k = 0; k < 32 && base + k < count; k++) {
        // Subtrees of one size are put together, but for the last chunk: its are on the
        // way to the root, whatever their size.
        u32 done = base + k + 1;
        bool last = done == count;
        u32 joins = last ? height : (u32)(leading_zeros(done & (0u - done)) ^ 31);
        u32 cv[8];
        for (int i = 0; i < 8; i++) cv[i] = chunks[k][i];
#pragma unroll 1
        for (u32 j = 0; j < joins; j++) {
          u32 more[8];
          height--;
          parent(cv, t.key, stack[height], cv, more, last && height == 0 ? BLAKE3_ROOT : 0);
          for (int i = 0; i < 8; i++) result[8 + i] = more[i];
        }
        u32 *to = last ? result : stack[height++];
        for (int i = 0; i < 8; i++) to[i] = cv[i];
      }
    }
    __syncwarp();
  }
#pragma unroll
  for (int i = 0; i < 8; i++) t.key[i] = result[i], t.out[i] = result[8 + i];
  t.left = TOWER_PER_STEP;
}

DEVICE_INLINE void absorb(tower &t, const u32 *list, u32 words) {
  if (words <= TOWER_CHUNK)
    tower_absorb_list(t, list, words);
  else
    absorb_long(t, list, words);
}

DEVICE_INLINE void draw(tower &t, u32 *out, u32 challenges) {
#pragma unroll 1
  for (u32 i = 0; i < challenges; i++) {
    u32 c[4];
    tower_challenge(t, c);
    if (threadIdx.x == 0)
      for (int k = 0; k < 4; k++) out[4 * i + k] = c[k];
  }
}

// Absorbs a list of words unless skip, and then draws challenges to out. nonce, if not
// null, is that of no work.
extern "C" __global__ void __launch_bounds__(32)
tower_step(u32 *__restrict__ state, const u32 *__restrict__ list, u32 words, u32 skip, u32 *__restrict__ nonce, u32 *__restrict__ out, u32 challenges) {
  tower t = tower_load(state);
  if (!skip) absorb(t, list, words);
  draw(t, out, challenges);
  if (nonce && threadIdx.x < 2) nonce[threadIdx.x] = 0;
  __syncwarp();
  if (threadIdx.x == 0) tower_store(state, t);
}

// Absorbs a list of 1 to 8 words that come as arguments.
extern "C" __global__ void __launch_bounds__(32)
tower_absorb_words(u32 *__restrict__ state, u32 words, u32 w0, u32 w1, u32 w2, u32 w3, u32 w4, u32 w5, u32 w6, u32 w7) {
  tower t = tower_load(state);
  const u32 m[16] = {w0, w1, w2, w3, w4, w5, w6, w7};
  tower_absorb(t, m, words);
  __syncwarp();
  if (threadIdx.x == 0) tower_store(state, t);
}

// Draws n indices of so many bits.
extern "C" __global__ void __launch_bounds__(32)
tower_indices(u32 *__restrict__ state, u32 *__restrict__ out, u32 n, u32 bits) {
  tower t = tower_load(state);
  u32 mask = bits == 32 ? ~0u : (1u << bits) - 1;
#pragma unroll 1
  for (u32 i = 0; i < n; i += 4) {
    u32 c[4];
    tower_challenge(t, c);
    if (threadIdx.x == 0)
      for (u32 k = 0; k < 4; k++)
        if (i + k < n) out[i + k] = c[k] & mask;
  }
  __syncwarp();
  if (threadIdx.x == 0) tower_store(state, t);
}

// Searches for the smallest nonce below end that does the work, absorbs it, uses up the
// challenge that shows the work, and draws challenges to out. Threads go up their residue
// classes and stop at the best nonce that anyone has found, so the result is the same in
// whatever order they run. The block that comes last goes on from there. A search that
// has failed leaves a state that is none.
extern "C" __global__ void __launch_bounds__(128)
tower_grind(u32 *state, u32 bits, u64 end, u32 *__restrict__ nonce, u32 *__restrict__ out, u32 challenges) {
  __shared__ u32 last;
  u64 *best = (u64 *)(state + SEARCH_BEST), stride = (u64)gridDim.x * blockDim.x, mask = (1ull << bits) - 1;
  tower start = tower_load(state);
#pragma unroll 1
  for (u64 n = (u64)blockIdx.x * blockDim.x + threadIdx.x; n < end; n += stride) {
    u64 seen = *(volatile u64 *)best; // asked for now, looked at after the work
    tower t = start;
    const u32 m[16] = {(u32)n, (u32)(n >> 32)};
    tower_absorb(t, m, 2);
    if (((t.out[0] | (u64)t.out[1] << 32) & mask) == 0) {
      atomicMin(best, n);
      break;
    }
    if (seen <= n) break;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(state + SEARCH_ENDED, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x >= 32) return;
  __threadfence();
  u64 found = *(volatile u64 *)best;
  __syncwarp();
  if (threadIdx.x == 0) {
    *best = ~0ull;
    state[SEARCH_ENDED] = 0;
  }
  tower t = start;
  const u32 m[16] = {(u32)found, (u32)(found >> 32)};
  u32 c[4];
  tower_absorb(t, m, 2);
  tower_challenge(t, c);
  draw(t, out, challenges);
  if (found == ~0ull) t.left = ~0u;
  __syncwarp();
  if (threadIdx.x == 0) {
    tower_store(state, t);
    nonce[0] = (u32)found;
    nonce[1] = (u32)(found >> 32);
  }
}
