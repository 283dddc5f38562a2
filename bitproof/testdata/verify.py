"""Verifies a proof of zkwarp binary prove, from docs/bitproof.md, binary.md, fribinius.md and merkle.md alone:

    python3 verify.py statement.txt x.proof

It shares no code with the Go verifier and is slow. It is there to tell whether those pages are complete.
"""
import hashlib
import re
import struct
import sys

# ---- BLAKE3 (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2020) ----

IV = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED = 1, 2, 4, 8, 16
M32 = 0xFFFFFFFF


def compress(cv, block, counter, length, flags):
    v = cv + IV[:4] + [counter & M32, counter >> 32, length, flags]
    m = list(block)

    def g(a, b, c, d, x, y):
        v[a] = (v[a] + v[b] + x) & M32
        t = v[d] ^ v[a]
        v[d] = (t >> 16 | t << 16) & M32
        v[c] = (v[c] + v[d]) & M32
        t = v[b] ^ v[c]
        v[b] = (t >> 12 | t << 20) & M32
        v[a] = (v[a] + v[b] + y) & M32
        t = v[d] ^ v[a]
        v[d] = (t >> 8 | t << 24) & M32
        v[c] = (v[c] + v[d]) & M32
        t = v[b] ^ v[c]
        v[b] = (t >> 7 | t << 25) & M32

    for r in range(7):
        g(0, 4, 8, 12, m[0], m[1])
        g(1, 5, 9, 13, m[2], m[3])
        g(2, 6, 10, 14, m[4], m[5])
        g(3, 7, 11, 15, m[6], m[7])
        g(0, 5, 10, 15, m[8], m[9])
        g(1, 6, 11, 12, m[10], m[11])
        g(2, 7, 8, 13, m[12], m[13])
        g(3, 4, 9, 14, m[14], m[15])
        m = [m[p] for p in PERMUTATION]
    return [v[i] ^ v[i + 8] for i in range(8)] + [v[i + 8] ^ cv[i] for i in range(8)]


def blake3(data, key=None, size=32):
    """size is at most 64."""
    start = list(struct.unpack("<8I", key)) if key else IV
    mode = KEYED if key else 0

    def chunk(index, part):
        cv = start
        blocks = [part[i : i + 64] for i in range(0, len(part), 64)] or [b""]
        for i, b in enumerate(blocks):
            flags = mode | (CHUNK_START if i == 0 else 0) | (CHUNK_END if i == len(blocks) - 1 else 0)
            args = cv, struct.unpack("<16I", b.ljust(64, b"\0")), index, len(b), flags
            if i < len(blocks) - 1:
                cv = compress(*args)[:8]
        return args

    def tree(first, chunks):
        if len(chunks) == 1:
            return chunk(first, chunks[0])
        left = 1 << ((len(chunks) - 1).bit_length() - 1)
        l, r = tree(first, chunks[:left]), tree(first + left, chunks[left:])
        return start, compress(*l)[:8] + compress(*r)[:8], 0, 64, mode | PARENT

    cv, block, counter, length, flags = tree(0, [data[i : i + 1024] for i in range(0, len(data), 1024)] or [b""])
    return struct.pack("<16I", *compress(cv, block, counter, length, flags | ROOT))[:size]


# ---- GF(2^128): binary.md, "The field" ----


def mul_tower(a, b, k):
    """In T_k, of 2^k bits."""
    if k == 0:
        return a & b
    h = 1 << (k - 1)
    mask = (1 << h) - 1
    a0, a1, b0, b1 = a & mask, a >> h, b & mask, b >> h
    low, high = mul_tower(a0, b0, k - 1), mul_tower(a1, b1, k - 1)
    cross = mul_tower(a0 ^ a1, b0 ^ b1, k - 1) ^ low ^ high
    x = 1 << (h >> 1) if k > 1 else 1  # X_(k-2) of T_(k-1), as the number 2^(2^(k-2)); X_(-1) = 1
    return low ^ high | (cross ^ mul_tower(x, high, k - 1)) << h


BYTES = [[0] * 256 for _ in range(256)]
for a in range(256):
    for b in range(1, 256):  # products are linear in b
        low = b & -b
        BYTES[a][b] = BYTES[a][b ^ low] ^ (mul_tower(a, b, 3) if b == low else BYTES[a][low])


def mul(a, b, k=7):
    if not a or not b:
        return 0
    if k == 3:
        return BYTES[a][b]
    h = 1 << (k - 1)
    mask = (1 << h) - 1
    a0, a1, b0, b1 = a & mask, a >> h, b & mask, b >> h
    low = mul(a0, b0, k - 1)
    if not a1 and not b1:
        return low
    high = mul(a1, b1, k - 1)
    cross = mul(a0 ^ a1, b0 ^ b1, k - 1) ^ low ^ high
    return low ^ high | (cross ^ mul(1 << (h >> 1), high, k - 1)) << h


def product(values):
    p = 1
    for v in values:
        p = mul(p, v)
    return p


def total(values):
    s = 0
    for v in values:
        s ^= v
    return s


def eq(z, x):
    return product(1 ^ a ^ b for a, b in zip(z, x))


def eq_table(z):
    """eq(z, x) for all x of the cube; z's first coordinate belongs to the top bit."""
    t = [1]
    for a in z:
        t = [w for v in t for w in (mul(v, 1 ^ a), mul(v, a))]
    return t


def inner(a, b):
    return total(mul(x, y) for x, y in zip(a, b))


# ---- Transcript: binary.md ----


class Transcript:
    def __init__(self, label):
        self.key, self.hand = blake3(b"zkwarp tower transcript: " + label), []

    def step(self, data):
        out = blake3(data, self.key, 64)
        self.key = out[:32]
        self.hand = [int.from_bytes(out[i : i + 16], "little") for i in (32, 48)]

    def words(self, words):
        self.step(struct.pack("<%dI" % len(words), *words) or b"\0")

    def elements(self, elements):
        self.step(b"".join(e.to_bytes(16, "little") for e in elements) or b"\0")

    def bytes(self, data):
        self.step(len(data).to_bytes(8, "little") + data + b"\0" * (-len(data) % 4))

    def challenge(self):
        if not self.hand:
            self.step(b"")
        return self.hand.pop(0)

    def challenges(self, n):
        return [self.challenge() for _ in range(n)]

    def indices(self, n, bits):
        out = []
        while len(out) < n:
            c = self.challenge()
            out += [c >> 32 * i & (1 << bits) - 1 for i in range(4)]
        return out[:n]


class Rejected(Exception):
    pass


def check(ok, name):
    if not ok:
        raise Rejected(name)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        check(self.at + n <= len(self.data), "format: too short")
        self.at += n
        return self.data[self.at - n : self.at]

    def words(self, n):
        return list(struct.unpack("<%dI" % n, self.take(4 * n)))

    def elements(self, n):
        return [int.from_bytes(self.take(16), "little") for _ in range(n)]


# ---- Statements: bitproof.md ----


class Statement:
    def __init__(self, text):
        self.ands, self.xors, self.names = [], [], []
        for line in text.split("\n"):
            line = line.split("#")[0].strip()
            if line.startswith("rows "):
                self.vars = int(line.split("^")[1])
            elif line.startswith("columns "):
                self.names += line.split()[1:]
            elif line:
                self.gate(line)

    def gate(self, line):
        """A value is a combination, bit j for column j and bit 64 for the constant, and a product of two or None."""
        one = 1 << 64
        tokens = re.findall(r"[A-Za-z0-9_]+|[=^&~()]", line)

        def add(a, b):
            check(not (a[1] and b[1]), "statement: two products")
            return a[0] ^ b[0], a[1] or b[1]

        def times(a, b):
            for x, y in ((a, b), (b, a)):
                if not x[1] and x[0] in (0, one):
                    return y if x[0] else (0, None)
            check(not a[1] and not b[1], "statement: product of products")
            return 0, (a[0], b[0])

        def factor():
            t = tokens.pop(0)
            if t == "~":
                return add((one, None), factor())
            if t == "(":
                v = expression()
                check(tokens.pop(0) == ")", "statement: )")
                return v
            return {"0": 0, "1": one}.get(t) if t in "01" else 1 << self.names.index(t), None

        def term():
            v = factor()
            while tokens and tokens[0] == "&":
                tokens.pop(0)
                v = times(v, factor())
            return v

        def expression():
            v = term()
            while tokens and tokens[0] == "^":
                tokens.pop(0)
                v = add(v, term())
            return v

        left = expression()
        check(tokens.pop(0) == "=", "statement: =")
        combination, and_ = add(left, expression())
        check(not tokens, "statement: end of line")
        if and_:
            self.ands.append((*and_, combination))
        else:
            self.xors.append(combination)

    def digest(self):
        h = b"zkwarp bitproof statement 1\n"
        h += struct.pack("<4I", self.vars, len(self.names), len(self.ands), len(self.xors))
        for name in self.names:
            h += struct.pack("<I", len(name)) + name.encode()
        for combination in [c for gate in self.ands for c in gate] + self.xors:
            h += combination.to_bytes(9, "little")
        return hashlib.sha256(h).digest()


def combine(combination, values):
    return total([combination >> 64] + [v for j, v in enumerate(values) if combination >> j & 1])


def log2ceil(n):
    return (n - 1).bit_length() if n > 1 else 0


# ---- Sum-check: binary.md ----

ALL_EXT, EQ_BITS = 1, 2
MATRICES = {
    2: [[1, 0, 0], [2, 3, 1], [3, 2, 1]],
    3: [[1, 0, 0, 0], [0, 1, 3, 2], [0, 1, 2, 3], [1, 1, 1, 1]],
}


def sumcheck(tr, kind, n, d, z, value, rounds, evals):
    tr.words([0x4353425A, 1, kind, n, d])
    if kind == EQ_BITS:
        tr.elements(z)
    tr.elements([value])
    claim, point = value, []
    for message in rounds:
        tr.elements(message)
        r = tr.challenge()
        at = [message[0], claim ^ message[0]] + message[1:]
        claim = 0
        for row in reversed(MATRICES[d]):
            claim = mul(claim, r) ^ inner(row, at)
        point.append(r)
    tr.elements(evals)
    want = product(evals)
    if kind == EQ_BITS:
        want = mul(want, eq(z, point))
    check(want == claim, "sum-check: final evaluations")
    return point


# ---- Commitment: fribinius.md ----


def cantor(n):
    columns = [mul(1 << i, 1 << i) ^ (1 << i) for i in range(128)]  # phi of each basis element
    pivots = {}
    for i in range(1, 128):  # bit 0 stays zero: phi(1) = 0
        v, x = columns[i], 1 << i
        while v:
            top = v.bit_length() - 1
            if top not in pivots:
                pivots[top] = v, x
                break
            v, x = v ^ pivots[top][0], x ^ pivots[top][1]
    basis = [1]
    while len(basis) < n:
        v, x = basis[-1], 0
        while v:
            p = pivots[v.bit_length() - 1]
            v, x = v ^ p[0], x ^ p[1]
        basis.append(x)
    return basis


GAMMA = cantor(40)


def point_of(k):
    return total(g for i, g in enumerate(GAMMA) if k >> i & 1)


class Opening:
    def __init__(self, n, rate, level):
        self.n, self.rate, self.ell = n, rate, n - 7
        self.thetas, left = [], self.ell
        while not self.thetas or left > 6:
            self.thetas.append(min(4, left))
            left -= self.thetas[-1]
        self.final = left
        errors, e = [7 / 2**128, 2 * self.ell / 2**128], self.ell
        for t in self.thetas:
            e -= t
            errors.append(t * 2 ** (e + rate) / 2**128)
        self.queries = 1
        while sum(errors) + ((1 + 2**-rate) / 2) ** self.queries > 2**-level:
            self.queries += 1
        self.error = sum(errors) + ((1 + 2**-rate) / 2) ** self.queries
        self.header = [0x42466B7A, 1, n, rate, self.queries, self.final, len(self.thetas)] + self.thetas

    def read(self, r):
        check(r.words(len(self.header)) == self.header, "opening: header")
        self.partial = r.elements(128)
        self.rounds = [r.elements(2) for _ in range(self.ell)]
        self.roots = [r.words(8) for _ in self.thetas[1:]]
        self.message = r.elements(1 << self.final)
        self.openings = []
        for t in self.thetas:
            rows, siblings = r.words(2)
            self.openings.append(([r.elements(1 << t) for _ in range(rows)], [r.take(32) for _ in range(siblings)]))

    def verify(self, tr, root, z, s):
        tr.words(self.header + root)
        tr.elements(z + [s])
        high, low = z[: self.ell], z[self.ell :]
        check(inner(eq_table(low), self.partial) == s, "ring switching")
        tr.elements(self.partial)
        weights = eq_table(tr.challenges(7))
        rows = [total((self.partial[v] >> u & 1) << v for v in range(128)) for u in range(128)]
        claim = inner(weights, rows)

        challenges, left = [], self.ell
        starts = [sum(self.thetas[:i]) for i in range(len(self.thetas) + 1)]
        for i in range(self.ell + 1):
            if i in starts[1:-1]:
                tr.words(self.roots[starts.index(i) - 1])
            if i == starts[-1]:
                tr.elements(self.message)
            if i == self.ell:
                break
            zero, two = self.rounds[i]
            tr.elements([zero, two])
            r = tr.challenge()
            one = claim ^ zero
            claim = zero ^ mul(r, zero ^ one ^ two) ^ mul(two, mul(r, r))
            challenges.append(r)

        # A(r') in L (x) L: rows, the factor of beta_u on the left.
        point = challenges[::-1]
        algebra = [1] + [0] * 127
        for a, b in zip(high, point):
            out = [mul(1 ^ b, v) for v in algebra]  # 1 (x) (1 + b)
            columns = [total((algebra[u] >> v & 1) << u for u in range(128)) for v in range(128)]
            columns = [mul(a, c) for c in columns]  # a (x) 1
            algebra = [o ^ total((columns[v] >> u & 1) << v for v in range(128)) for u, o in enumerate(out)]
        check(mul(inner(weights, algebra), inner(eq_table(point[: self.final]), self.message)) == claim, "final claim")

        bits = self.ell + self.rate - self.thetas[0]
        where = tr.indices(self.queries, bits)
        symbols = None
        for i, t in enumerate(self.thetas):
            leaves = self.leaves(root if i == 0 else self.roots[i - 1], bits, where, *self.openings[i], 1 << t)
            folded = []
            for q, k in enumerate(where):
                values = leaves[k]
                if symbols:
                    check(values[symbols[q][0]] == symbols[q][1], "fold")
                at = k << t
                for r in challenges[starts[i] : starts[i + 1]]:
                    out = []
                    for j in range(0, len(values), 2):
                        f1 = values[j] ^ values[j + 1]
                        f0 = values[j] ^ mul(point_of(at + j), f1)
                        out.append(f0 ^ mul(r, f0 ^ f1))
                    values, at = out, at >> 1
                folded.append(values[0])
            if i + 1 < len(self.thetas):
                nxt = self.thetas[i + 1]
                symbols = [(k & (1 << nxt) - 1, v) for k, v in zip(where, folded)]
                where, bits = [k >> nxt for k in where], bits - nxt
        for k, v in zip(where, folded):
            word = list(self.message)
            for i in range(self.final):  # a_(2j) + X a_(2j+1), then X o phi
                x = point_of(k >> i)
                word = [word[j] ^ mul(x, word[j + 1]) for j in range(0, len(word), 2)]
            check(word[0] == v, "final codeword")

    def leaves(self, root, bits, where, rows, siblings, symbols):
        distinct = sorted(set(where))
        check(len(rows) == len(distinct), "opening: rows")

        def key(domain):
            return b"zkwarp hash tree, blake3" + struct.pack("<2I", domain, 0)

        leaf, node = key(2**16 + 4 * symbols), key(2**17 + 2)
        level = {k: blake3(b"".join(e.to_bytes(16, "little") for e in row), leaf) for k, row in zip(distinct, rows)}
        siblings = list(siblings)
        for _ in range(bits):
            for k in sorted(level):
                if k ^ 1 not in level:
                    check(siblings, "opening: siblings")
                    level[k ^ 1] = siblings.pop(0)
            level = {k >> 1: blake3(level[k] + level[k + 1], node) for k in level if k % 2 == 0}
        check(not siblings and level[0] == struct.pack("<8I", *root), "opening: root")
        return dict(zip(distinct, rows))


# ---- The proof: bitproof.md ----


def verify(text, data):
    s = Statement(text)
    m, n, ands = len(s.names), s.vars, len(s.ands)
    L, G = max(log2ceil(m), 7 - n), log2ceil(ands)
    level = 100
    opening = Opening(L + n, 2, level)
    errors = (G + n if ands else n) / 2**128 + L / 2**128
    if ands:
        errors += (3 * (G + n) + 1 + 2 * n) / 2**128
    if opening.error + errors > 2**-100:
        opening = Opening(L + n, 2, 101)

    r = Reader(data)
    check(r.take(8) == b"ZKWBITS\n" and r.words(1) == [1], "format: magic, version")
    check(r.take(32) == s.digest(), "statement digest")
    root, e = r.words(8), r.elements(m)
    if ands:
        zero_check, ab = [r.elements(3) for _ in range(G + n)], r.elements(2)
        f = r.elements(m)
        points, wt = [r.elements(2) for _ in range(n)], r.elements(2)
    opening.read(r)
    check(r.at == len(data), "format: too long")

    tr = Transcript(b"bitproof")
    tr.bytes(s.digest())
    tr.words(root)
    z = tr.challenges(G + n)
    tr.elements(e)
    for x in s.xors:
        check(combine(x, e) == 0, "XOR gates")
    if not ands:
        rho = tr.challenges(L)
        opening.verify(tr, root, rho + z, inner(eq_table(rho), e))
        return root
    v = inner(eq_table(z[:G]), [combine(gate[2], e) for gate in s.ands])
    x = sumcheck(tr, EQ_BITS, G + n, 3, z, v, zero_check, ab)
    tr.elements(f)
    for side in (0, 1):
        check(inner(eq_table(x[:G]), [combine(gate[side], f) for gate in s.ands]) == ab[side], "factors of AND gates")
    rho, gamma = tr.challenges(L), tr.challenge()
    claim = inner(eq_table(rho), [a ^ mul(gamma, b) for a, b in zip(e, f)])
    p = sumcheck(tr, ALL_EXT, n, 2, None, claim, points, wt)
    check(eq(z[G:], p) ^ mul(gamma, eq(x[G:], p)) == wt[0], "weight of both points")
    opening.verify(tr, root, rho + p, wt[1])
    return root


if __name__ == "__main__":
    if blake3(b"").hex()[:16] != "af1349b9f5f9a1a6":
        sys.exit("BLAKE3 is broken")
    try:
        root = verify(open(sys.argv[1]).read(), open(sys.argv[2], "rb").read())
    except Rejected as err:
        sys.exit("rejected: %s" % err)
    print("accepted, root", struct.pack("<8I", *root).hex())
