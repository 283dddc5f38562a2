#!/usr/bin/env python3
"""Verifies the proofs in golden.json. It shares no code with the Go
implementation: it is written from docs/whir.md, docs/merkle.md and
docs/transcript.md, and takes sponge and permutation from the script that
wrote the transcript's golden file. Exits with 1 if a proof is rejected."""
import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "transcript", "testdata"))
from golden import P, Transcript, permute  # noqa: E402

NAME = "M31; CM31 = M31[i]/(i^2+1); QM31 = CM31[u]/(u^2-2-i); Poseidon2 t=16,24"


class Q(tuple):
    """An element of QM31 as its four words."""

    def __add__(a, b):
        return Q([(a[0] + b[0]) % P, (a[1] + b[1]) % P, (a[2] + b[2]) % P, (a[3] + b[3]) % P])

    def __sub__(a, b):
        return Q([(a[0] - b[0]) % P, (a[1] - b[1]) % P, (a[2] - b[2]) % P, (a[3] - b[3]) % P])

    def __mul__(a, b):
        a0, a1, a2, a3 = a
        b0, b1, b2, b3 = b
        r, i = a2 * b2 - a3 * b3, a2 * b3 + a3 * b2  # times u^2 = 2 + i
        return Q([(a0 * b0 - a1 * b1 + 2 * r - i) % P, (a0 * b1 + a1 * b0 + r + 2 * i) % P,
                  (a0 * b2 - a1 * b3 + a2 * b0 - a3 * b1) % P, (a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0) % P])

    def power(a, e):
        r = ONE
        while e:
            r, a, e = (r * a if e & 1 else r), a * a, e >> 1
        return r


ZERO, ONE, I = Q((0, 0, 0, 0)), Q((1, 0, 0, 0)), Q((0, 1, 0, 0))


def unfrobenius(x):
    return x.power(P**3)


def root(n):
    return Q((2, 1, 0, 0)).power(2**30 - 1).power(2**(32 - n))


def need(ok, what):
    if not ok:
        raise ValueError(what)


class Reader:
    def __init__(self, data):
        self.words, self.at = list(struct.unpack("<%dI" % (len(data) // 4), data)), 0

    def take(self, n):
        self.at += n
        need(self.at <= len(self.words), "proof ends early")
        return self.words[self.at - n:self.at]

    def canonical(self, n):
        w = self.take(n)
        need(all(x < P for x in w), "word not canonical")
        return w

    def elements(self, n):
        w = self.canonical(4 * n)
        return [Q(w[4 * i:4 * i + 4]) for i in range(n)]


def work(t, nonce, bits):
    if bits:
        t.absorb(nonce)
        need(t.squeeze() % 2**bits == 0, "work")


def challenge(t):
    return Q(t.squeeze() for _ in range(4))


def leaf(row):
    s = [0] * 8 + [2**16 + len(row)] + [0] * 7
    for i in range(0, len(row), 8):
        block = row[i:i + 8]
        s = permute(block + s[len(block):])
    return s[:8]


def node(children):
    if len(children) == 2:
        return permute(children[0] + children[1])[:8]
    s = [0] * 16 + [2**17 + len(children)] + [0] * 7
    for i in range(0, len(children), 2):
        s = permute(children[i] + children[i + 1] + s[16:])
    return s[:8]


def tree(top, depth, arity, indices, rows, siblings):
    known = {i: leaf(r) for i, r in zip(sorted(set(indices)), rows)}
    need(len(rows) == len(known), "number of rows")
    siblings = list(siblings)
    while depth:
        children = min(arity, 2**depth)
        depth -= children.bit_length() - 1
        up = {}
        for parent in sorted({i // children for i in known}):
            group = []
            for child in range(children * parent, children * (parent + 1)):
                if child not in known:
                    need(siblings, "siblings missing")
                group.append(known[child] if child in known else siblings.pop(0))
            up[parent] = node(group)
        known = up
    need(known == {0: top} and not siblings, "tree")
    return dict(zip(sorted(set(indices)), rows))


def eq(a, r):
    v = ONE
    for x, y in zip(a, r):
        v = v * (x * y + (ONE - x) * (ONE - y))
    return v


def sel(a, r):
    v = ONE
    for x, y in zip(a, r):
        v = v * (ONE - y + y * x)
    return v


def extension(table, r):
    for x in r:
        h = len(table) // 2
        table = [table[i] + x * (table[h + i] - table[i]) for i in range(h)]
    return table[0]


def powers(x, m):
    return [x.power(2**(m - 1 - j)) for j in range(m)]


def text(s):
    b = s.encode()
    return [len(b)] + [int.from_bytes(b[i:i + 3], "little") for i in range(0, len(b), 3)]


def receive(t, n, numbers, top):
    """Absorbs the commitment to a table of 2^n words."""
    t.absorb([n] + text("zkwarp whir 1") + text(NAME) + numbers + top)


def opening(t, n, numbers, top, statements, data):
    """Checks the proof that the committed table has these values at these
    points, after whatever else the transcript has been through."""
    _, _, _, m, rate, batch, _, arity, most, count = numbers[:10]
    need(batch == 1 and arity in (2, 4, 8), "not for this script")
    need(len(numbers) == 10 + 7 * count and 2 * len(statements) <= most and m == max(n - 1, 1), "parameters")
    rounds = [numbers[10 + 7 * i:17 + 7 * i] for i in range(count)]
    proof = Reader(data)

    statement, claims = [len(statements)], []
    for point, value in statements:
        y0, y1 = proof.elements(2)
        need(value == (ONE - point[-1]) * y0 + point[-1] * y1, "halves")
        statement += [w for x in point + [value, y0, y1] for w in x]
        inner = point[:-1] or [ZERO]
        claims.append((inner, y0 + I * y1))
        claims.append(([unfrobenius(x) for x in inner], unfrobenius(y0 - I * y1)))
    t.absorb(statement)

    point, terms, sigma = [], [], ZERO
    trees = [top]
    ms, rates = [m], [rate]
    for k, d, *_ in rounds:
        ms.append(ms[-1] - k)
        rates.append(rates[-1] + k - d)

    def samples(i):
        out = []
        for _ in range(rounds[i][3]):
            z = challenge(t)
            (y,) = proof.elements(1)
            t.absorb(list(y))
            out.append((powers(z, ms[i]), y))
        return out

    def query(i):
        """Reads the opening of tree i; the nonce comes first."""
        nonce = proof.canonical(2) if rounds[i][6] else None
        width = (2 if i == 0 else 4) << rounds[i][0]
        rows = [proof.canonical(width) for _ in range(proof.take(1)[0])]
        siblings = [proof.canonical(8) for _ in range(proof.take(1)[0])]
        depth = ms[i] + rates[i] - rounds[i][0]
        work(t, nonce, rounds[i][6])
        indices = [t.index(depth) for _ in range(rounds[i][4])]
        rows = tree(trees[i], depth, arity, indices, rows, siblings)
        last = point[len(point) - rounds[i][0]:]
        out = []
        for j in indices:
            row = rows[j]
            if i == 0:
                row = [w for c in range(0, width, 2) for w in row[c:c + 2] + [0, 0]]
            row = [Q(row[c:c + 4]) for c in range(0, len(row), 4)]
            out.append((root(depth).power(j), extension(row, last)))
        return out

    def fold(times, bits):
        nonlocal sigma
        for _ in range(times):
            c0, c2 = proof.elements(2)
            nonce = proof.canonical(2) if bits else None
            t.absorb(list(c0) + list(c2))
            work(t, nonce, bits)
            r = challenge(t)
            sigma = c0 * (ONE - r) + (sigma - c0) * r + c2 * r * (r - ONE)
            point.append(r)

    def add(kind, claims, ratio, coeff):
        nonlocal sigma
        for a, v in claims:
            sigma = sigma + coeff * v
            terms.append((len(point), coeff, kind, a))
            coeff = coeff * ratio
        return coeff

    claims += samples(0)
    alpha = challenge(t)
    add(eq, claims, alpha, ONE)
    fold(rounds[0][0], rounds[0][5])
    for i in range(1, count):
        new = proof.canonical(8)
        t.absorb(new)
        fresh = samples(i)
        queried = query(i - 1)
        gamma = challenge(t)
        coeff = add(eq, fresh, gamma, gamma)
        add(sel, [(powers(x, ms[i]), u) for x, u in queried], gamma, coeff)
        trees.append(new)
        fold(rounds[i][0], rounds[i][5])
    final = proof.elements(2**ms[count])
    t.absorb([w for x in final for w in x])
    for x, u in query(count - 1):
        v = ZERO
        for c in reversed(final):
            v = v * x + c
        need(v == u, "final query")
    fold(ms[count], 0)
    need(proof.at == len(proof.words), "bytes left over")
    weight = ZERO
    for at, coeff, kind, a in terms:
        weight = weight + coeff * kind(a, point[at:])
    need(weight * extension(final, point[len(point) - ms[count]:]) == sigma, "final claim")


def verify(case):
    t = Transcript(case["tag"])
    receive(t, case["vars"], case["params"], case["root"])
    claims = [([Q(x) for x in c["point"]], Q(c["value"])) for c in case["claims"]]
    opening(t, case["vars"], case["params"], case["root"], claims, bytes.fromhex(case["proof"]))


def main():
    with open(os.path.join(HERE, "golden.json")) as f:
        cases = json.load(f)
    for case in cases:
        verify(case)
        bad = dict(case, claims=[dict(c) for c in case["claims"]])
        w = bytearray(bytes.fromhex(case["proof"]))
        w[len(w) // 2] ^= 1
        bad["proof"] = w.hex()
        try:
            verify(bad)
        except ValueError:
            continue
        sys.exit("a changed proof was accepted")
    print("%d proofs verified" % len(cases))


if __name__ == "__main__":
    main()
