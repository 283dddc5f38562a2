// Bucket sums by affine addition. As in msm/internal/bucket the list of all entries,
// sorted by bucket, is cut into chunks of one length, and chunk c's sums of the buckets
// that it shares with its neighbours go to slots 2c and 2c + 1 of partial sums. Here a
// thread has several chunks, each with an affine sum that grows by one point a step; one
// step of all of a block's chunks takes an inversion, in each lane of one warp. An
// addition is 5 products and a square besides (Montgomery's trick; the tree over the
// block's threads takes what each thread's first chunk saves).
//
// A step goes over a thread's chunks twice: up, to multiply the denominators, keeping
// every product, and down, to take the inverse of each out of that of all.
//
// Products of 12 words are calls, as those of 24 are: several copies of them do not fit
// the cache of instructions.
#define MONT_INLINE_WORDS 8
#include "GROUP_HEADER"
#include "msm/internal/affine/block.cuh"

#define DONE 0x80000000u
#define SIGN 0x80000000u

typedef Group::F F;
typedef Elements<F> E;
enum : u32 { N = sizeof(F) / 4 };

// find is the bucket of entry s, given offsets[low] <= s < offsets[high].
DEVICE_INLINE u32 find(const u32 *offsets, u32 low, u32 high, u32 s) {
  while (high - low > 1) {
    const u32 mid = low + (high - low) / 2;
    if (ldg(offsets + mid) <= s)
      low = mid;
    else
      high = mid;
  }
  return low;
}

// following is the bucket of entry s, the first one after bucket b's. Between the two
// there may be a million empty ones.
DEVICE_CALL u32 following(const u32 *offsets, u32 count, u32 b, u32 s) {
  u32 low = b + 1, step = 1;
  for (;;) {
    const u32 high = count - low > step ? low + step : count;
    if (ldg(offsets + high) > s) return find(offsets, low, high, s);
    low = high;
    step *= 2;
  }
}

// tangent is the numerator of the slope at a point, which has two y below it.
DEVICE_CALL F tangent(F x) {
  const F xx = sqr(x);
  F m = add(dbl(xx), xx);
  if (!Group::a_is_zero) m = add(m, Group::a());
  return m;
}

// put writes an affine sum, or infinity, in the coordinates of buckets and partial sums.
DEVICE_INLINE void put(u32 *to, const E::Word *sum, u32 threads, u32 infinite) {
  F x, y, z;
  set_zero(x);
  set_zero(y);
  set_zero(z);
  if (!infinite) {
    x = canonical(E::load(sum, threads));
    y = canonical(E::load(sum + threads * E::n, threads));
    set_one(z);
  }
  E::store(to, x);
  E::store(to + N, y);
  E::store(to + 2 * N, z);
  E::store(to + 3 * N, z);
}

// Every thread has each chunks, at most 32. state has 3 words a chunk; memory has the sums,
// unless SHARED_SUMS, the products, unless SHARED_PRODUCTS, and a step's points if STAGED.
// Shared memory has the rest, after room elements of the inversion's tree. buckets is all
// zero.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS_RESIDENT)
    affine_sums_VARIANT(const u32 *points, const u32 *entries, const u32 *offsets, u32 count, u32 least, u32 each, u32 room, u32 *state,
                        u32 *memory, u32 *buckets, u32 *ids, u32 *partials) {
  SHARED_DYNAMIC(E::Word, shared);
  const u32 threads = blockDim.x, row = threads * E::n;
  const u32 chunks = gridDim.x * threads * each, total = ldg(offsets + count);
  const u32 cut = (u32)(((u64)total + chunks - 1) / chunks), length = cut > least ? cut : least;

  E::Word *far = reinterpret_cast<E::Word *>(memory) + (u64)blockIdx.x * row * each * ((SHARED_SUMS ? 0 : 2) + (SHARED_PRODUCTS ? 0 : 1) + (STAGED ? 2 : 0));
  E::Word *const nodes = shared;
  E::Word *const near = shared + room * E::n;
  // The product of all of a thread's denominators is a leaf of the tree.
  E::Word *const leaves = SHARED_PRODUCTS ? near + row * (each - 1) : near;
  E::Word *const products = (SHARED_PRODUCTS ? near : far) + threadIdx.x;
  E::Word *const sums = (SHARED_SUMS ? near + row * (SHARED_PRODUCTS ? each : 1) : far + row * (SHARED_PRODUCTS ? 0 : each)) + threadIdx.x;
  E::Word *const staged = far + row * each * ((SHARED_SUMS ? 0 : 2) + (SHARED_PRODUCTS ? 0 : 1)) + threadIdx.x;
  u32 *const at_bucket = state + (u64)blockIdx.x * (3 * threads * each) + threadIdx.x;
  u32 *const at_end = at_bucket + threads * each;
  u32 *const at_entry = at_end + threads * each;

  // One bit a chunk: the sum is infinity; the first entry of its bucket is the chunk's;
  // there was another bucket before.
  u32 infinite = 0xffffffffu, whole = 0, later = 0;
  const u32 first = blockIdx.x * threads * each + threadIdx.x;
  const u64 begin = (u64)first * length, apart = (u64)threads * length;
  for (u32 k = 0; k < each; k++) {
    const u32 c = first + k * threads;
    const u64 from = begin + k * apart;
    ids[2 * c] = DONE;
    ids[2 * c + 1] = DONE;
    if (from >= total) continue;
    const u32 b = find(offsets, 0, count, (u32)from);
    if (ldg(offsets + b) == (u32)from) whole |= 1u << k;
    at_bucket[k * threads] = b;
    at_end[k * threads] = ldg(offsets + b + 1);
  }
  if ((u64)(first - threadIdx.x) * length >= total) return;

  for (u32 s = 0; s < length; s++) {
    // What to do with the chunks: add a point, or double it; take it for the sum; put the
    // sum away first, as its bucket has ended.
    u32 adds = 0, doubles = 0, takes = 0, ends = 0;
    // What a chunk needs is fetched while the one before it is at work, its entry one
    // earlier still.
    u64 at = begin + s, ahead = at + apart;
    u32 next = at < total ? ldg(entries + at) : 0, after = each > 1 && ahead < total ? ldg(entries + ahead) : 0, next_end = at_end[0];
    const u32 *next_point = points + (u64)(next & ~SIGN) * (2 * N);
    F next_x = E::fetch(next_point), next_y, run;
    if (STAGED) next_y = E::fetch(next_point + N);
#pragma unroll 1
    for (u32 k = 0; k < each; k++, at += apart) {
      const u32 entry = next, bit = 1u << k, end = next_end;
      const u32 *const y = next_point + N;
      const F x = next_x;
      if (STAGED) {
        if (entry & SIGN) next_y = neg(next_y);
        E::store(staged + 2 * k * row, threads, x);
        E::store(staged + (2 * k + 1) * row, threads, next_y);
      } else {
        at_entry[k * threads] = entry;
      }
      next = after;
      if (k + 1 < each) {
        next_point = points + (u64)(next & ~SIGN) * (2 * N);
        next_x = E::fetch(next_point);
        if (STAGED) next_y = E::fetch(next_point + N);
        next_end = at_end[(k + 1) * threads];
      }
      ahead += apart;
      after = k + 2 < each && ahead < total ? ldg(entries + ahead) : 0;

      F d;
      set_one(d);
      if (at < total) {
        const E::Word *const sum = sums + 2 * k * row;
        const u32 fresh = (u32)at == end;
        if (fresh) ends |= bit;
        if (is_zero(x) && is_zero(E::fetch(y))) {
          // Adding infinity changes nothing.
        } else if (fresh || infinite & bit) {
          takes |= bit;
        } else {
          d = sub(x, E::load(sum, threads));
          adds |= bit;
          if (is_zero(d)) {
            // Points of one x are equal or opposite, or both.
            F mine = E::fetch(y);
            if (entry & SIGN) mine = neg(mine);
            adds &= ~bit;
            if (is_zero(mine) || !equal(mine, E::load(sum + row, threads))) {
              infinite |= bit;
              set_one(d);
            } else {
              doubles |= bit;
              d = dbl(mine);
            }
          }
        }
      }
      run = k == 0 ? d : mul(run, d);
      E::store(products + k * row, threads, run);
    }
    if (!SHARED_PRODUCTS) E::store(leaves + threadIdx.x, threads, run);
    block_inverse<F>(leaves, nodes, room);

    F inv = E::load(leaves + threadIdx.x, threads);
#pragma unroll 1
    for (u32 k = each; k-- > 0;) {
      const u32 bit = 1u << k;
      if (!((adds | doubles | takes | ends) & bit)) continue;
      E::Word *const sum = sums + 2 * k * row;
      u32 b = 0, end = 0;
      if (ends & bit) {
        b = at_bucket[k * threads];
        end = ldg(offsets + b + 2);
        if (whole & bit) {
          put(buckets + (u64)b * (4 * N), sum, threads, infinite & bit);
        } else {
          const u32 slot = 2 * (first + k * threads) + (later & bit ? 1 : 0);
          ids[slot] = b;
          put(partials + (u64)slot * (4 * N), sum, threads, infinite & bit);
        }
        infinite |= bit;
        whole |= bit;
        later |= bit;
      }
      if ((adds | doubles | takes) & bit) {
        const E::Word *const kept = staged + 2 * k * row;
        const u32 entry = STAGED ? 0 : at_entry[k * threads];
        const u32 *const point = points + (u64)(entry & ~SIGN) * (2 * N);
        // Where RELOAD is set coordinates are loaded where they are used, again and again,
        // rather than kept in registers through the products between.
        F x, y, sx, sy;
        if (!RELOAD || takes & bit) {
          x = STAGED ? E::load(kept, threads) : E::load(point);
          y = STAGED ? E::load(kept + row, threads) : E::load(point + N);
        }
        if (takes & bit) {
          if (entry & SIGN) y = neg(y);
          E::store(sum, threads, x);
          E::store(sum + row, threads, y);
          infinite &= ~bit;
        } else {
          if (!RELOAD) {
            sx = E::load(sum, threads);
            sy = E::load(sum + row, threads);
          }
          F d, i = inv;
          if (k > 0) {
            i = mul(inv, E::load(products + (k - 1) * row, threads));
            if (RELOAD) {
              x = STAGED ? E::load(kept, threads) : E::load(point);
              sx = E::load(sum, threads);
            }
            d = sub(x, sx);
            if (doubles & bit) d = dbl(E::load(sum + row, threads));
            inv = mul(inv, d);
          }
          if (doubles & bit) {
            d = tangent(E::load(sum, threads));
          } else {
            if (RELOAD) {
              y = STAGED ? E::load(kept + row, threads) : E::load(point + N);
              sy = E::load(sum + row, threads);
            }
            if (entry & SIGN) y = neg(y);
            d = sub(y, sy);
          }
          const F slope = mul(d, i);
          d = SQUARES ? sqr(slope) : mul(slope, slope);
          if (RELOAD) x = STAGED ? E::load(kept, threads) : E::load(point);
          d = sub(d, x);
          if (RELOAD) sx = E::load(sum, threads);
          x = sub(d, sx);
          if (RELOAD) sx = E::load(sum, threads);
          d = mul(slope, sub(sx, x));
          if (RELOAD) sy = E::load(sum + row, threads);
          E::store(sum, threads, x);
          E::store(sum + row, threads, sub(d, sy));
        }
      }
      if (ends & bit) {
        // The offset has come by now.
        const u32 here = (u32)(begin + k * apart) + s;
        b++;
        if (end == here) {
          b = following(offsets, count, b, here);
          end = ldg(offsets + b + 1);
        }
        at_bucket[k * threads] = b;
        at_end[k * threads] = end;
      }
    }
  }

  for (u32 k = 0; k < each; k++) {
    const u64 from = begin + k * apart;
    if (from >= total) continue;
    const u32 bit = 1u << k, to = total - (u32)from > length ? (u32)from + length : total, b = at_bucket[k * threads];
    u32 *where = buckets + (u64)b * (4 * N);
    if (!(whole & bit) || at_end[k * threads] != to) {
      const u32 slot = 2 * (first + k * threads) + (later & bit ? 1 : 0);
      ids[slot] = b;
      where = partials + (u64)slot * (4 * N);
    }
    put(where, sums + 2 * k * row, threads, infinite & bit);
  }
}

// joined is p + q and doubled 2 p, as in curve/xyzz.cuh but with calls where products are
// long.
DEVICE_CALL XYZZ<Group> doubled(XYZZ<Group> p) {
  const F u = dbl(p.y), v = sqr(u), w = mul(u, v), s = mul(p.x, v), xx = sqr(p.x);
  F m = add(dbl(xx), xx);
  if (!Group::a_is_zero) m = add(m, mul(Group::a(), sqr(p.zz)));
  XYZZ<Group> r;
  r.x = sub(sqr(m), dbl(s));
  r.y = sub(mul(m, sub(s, r.x)), mul(w, p.y));
  r.zz = mul(v, p.zz);
  r.zzz = mul(w, p.zzz);
  return r;
}

DEVICE_INLINE XYZZ<Group> joined(const XYZZ<Group> &p, const XYZZ<Group> &q) {
  if (is_infinity(p)) return q;
  if (is_infinity(q)) return p;
  const F u = mul(p.x, q.zz), s = mul(p.y, q.zzz);
  const F d = sub(mul(q.x, p.zz), u), e = sub(mul(q.y, p.zzz), s);
  if (is_zero(d) && is_zero(e)) return doubled(p);
  const F dd = sqr(d), ddd = mul(d, dd), v = mul(u, dd);
  XYZZ<Group> r;
  r.x = sub(sub(sqr(e), ddd), dbl(v));
  r.y = sub(mul(e, sub(v, r.x)), mul(s, ddd));
  r.zz = mul(mul(p.zz, q.zz), dd);
  r.zzz = mul(mul(p.zzz, q.zzz), ddd);
  return r;
}

// affine_join adds one list of n sums to another.
extern "C" __global__ void __launch_bounds__(128) affine_join_VARIANT(u32 *to, const u32 *from, u32 n) {
  typedef Elements<XYZZ<Group> > S;
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 *const at = to + (u64)i * (4 * N);
  S::store(at, canonical(joined(S::load(at), S::fetch(from + (u64)i * (4 * N)))));
}
