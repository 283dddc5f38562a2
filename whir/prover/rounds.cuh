// Rounds of the sum-check on sum_b w[b] g[b]: the message is the sum of the lower
// halves' products and that of the differences', and a challenge r takes both tables
// to lo + r (hi - lo), in place.
#pragma once

// round_part adds up a thread's entries of a round over tables of 2 half entries: the
// tables as they are, or, with FOLD, tables of twice the length after they are bound
// to r, which a thread alone reads and writes.
template <bool FOLD>
DEVICE_INLINE void round_part(u32 *g, u32 *w, ext r, u64 half, u64 first, u64 step, ext_acc &low, ext_acc &lead) {
#pragma unroll 1
  for (u64 i = first; i < half; i += step) {
    ext g0 = ext_load(g, i), g1 = ext_load(g, i + half), w0 = ext_load(w, i), w1 = ext_load(w, i + half);
    if (FOLD) {
      ext g2 = ext_load(g, i + 2 * half), g3 = ext_load(g, i + 3 * half), w2 = ext_load(w, i + 2 * half), w3 = ext_load(w, i + 3 * half);
      g0 = whir_fold(g0, g2, r);
      g1 = whir_fold(g1, g3, r);
      w0 = whir_fold(w0, w2, r);
      w1 = whir_fold(w1, w3, r);
      ext_store(g, i, g0);
      ext_store(g, i + half, g1);
      ext_store(w, i, w0);
      ext_store(w, i + half, w1);
    }
    acc_mul(low, w0, g0);
    acc_mul(lead, ext_sub(w1, w0), ext_sub(g1, g0));
  }
}

// round_pass is one round by many blocks. The last one writes the message and, with a
// sponge, absorbs it and draws the challenge.
template <bool FOLD>
DEVICE_INLINE void round_pass(u32 *g, u32 *w, const u32 *challenge, u64 half, u32 *partial, u32 *counter, u32 *message, u32 *sponge, u32 *drawn) {
  __shared__ Total totals[2];
  ext_acc low = acc_zero(), lead = acc_zero();
  ext r = ext_zero();
  if (FOLD) r = ext_load(challenge, 0);
  round_part<FOLD>(g, w, r, half, (u64)blockIdx.x * WHIR_THREADS + threadIdx.x, (u64)gridDim.x * WHIR_THREADS, low, lead);
  ext a = whir_block_sum(acc_value(low), &totals[0]), b = whir_block_sum(acc_value(lead), &totals[1]);
  u32 blocks = gridDim.x;
  if (blocks > 1) {
    if (threadIdx.x == 0) {
      ext_store(partial, 2 * (u64)blockIdx.x, a);
      ext_store(partial, 2 * (u64)blockIdx.x + 1, b);
    }
    if (!whir_arrive(counter, blocks)) return;
    a = b = ext_zero();
    for (u32 i = threadIdx.x; i < blocks; i += WHIR_THREADS) {
      a = ext_add(a, ext_load(partial, 2 * (u64)i));
      b = ext_add(b, ext_load(partial, 2 * (u64)i + 1));
    }
    a = whir_block_sum(a, &totals[0]);
    b = whir_block_sum(b, &totals[1]);
  }
  if (threadIdx.x == 0) {
    ext_store(message, 0, a);
    ext_store(message, 1, b);
  }
  if (threadIdx.x < 32 && sponge != 0) {
    __syncwarp();
    transcript t = transcript_load(sponge);
    ext c = whir_draw(t, message, 2);
    transcript_store(sponge, t);
    if (threadIdx.x == 0) ext_store(drawn, 0, c);
  }
}

#define TAIL_THREADS 512u

// round_tail is `rounds` rounds by one block, on tables of 2 half entries after the
// first challenge, if there is one, is bound.
DEVICE_INLINE void round_tail(u32 *g, u32 *w, const u32 *challenge, u64 half, u32 rounds, u32 *messages, u32 *sponge, u32 *drawn) {
  __shared__ Total totals[2];
  __shared__ ext message[2], next;
  transcript t;
  if (threadIdx.x < 32) t = transcript_load(sponge);
  bool fold = challenge != 0;
  ext r = ext_zero();
  if (fold) r = ext_load(challenge, 0);
#pragma unroll 1
  for (u32 k = 0; k < rounds; k++) {
    ext_acc low = acc_zero(), lead = acc_zero();
    if (fold)
      round_part<true>(g, w, r, half, threadIdx.x, TAIL_THREADS, low, lead);
    else
      round_part<false>(g, w, r, half, threadIdx.x, TAIL_THREADS, low, lead);
    ext a = whir_block_sum(acc_value(low), &totals[0]), b = whir_block_sum(acc_value(lead), &totals[1]);
    if (threadIdx.x == 0) {
      message[0] = a;
      message[1] = b;
      ext_store(messages, 2 * (u64)k, a);
      ext_store(messages, 2 * (u64)k + 1, b);
    }
    if (threadIdx.x < 32) {
      __syncwarp();
      ext c = whir_draw(t, message[0].x, 2);
      if (threadIdx.x == 0) {
        next = c;
        ext_store(drawn, k, c);
      }
    }
    __syncthreads();
    r = next;
    fold = true;
    half >>= 1;
  }
  if (threadIdx.x < 32) transcript_store(sponge, t);
}
