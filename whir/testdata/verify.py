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
import golden  # noqa: E402


def ring(p, degree, multiply):
    """The type of elements of an extension, as tuples of their words."""

    class Element(tuple):
        def __add__(a, b):
            return Element([(x + y) % p for x, y in zip(a, b)])

        def __sub__(a, b):
            return Element([(x - y) % p for x, y in zip(a, b)])

        def __mul__(a, b):
            return Element([x % p for x in multiply(a, b)])

        def power(a, e):
            r = Element.one
            while e:
                r, a, e = (r * a if e & 1 else r), a * a, e >> 1
            return r

    Element.zero = Element([0] * degree)
    Element.one = Element([1] + [0] * (degree - 1))
    return Element


def qm31(a, b):
    a0, a1, a2, a3 = a
    b0, b1, b2, b3 = b
    r, i = a2 * b2 - a3 * b3, a2 * b3 + a3 * b2  # times u^2 = 2 + i
    return (a0 * b0 - a1 * b1 + 2 * r - i, a0 * b1 + a1 * b0 + r + 2 * i,
            a0 * b2 - a1 * b3 + a2 * b0 - a3 * b1, a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0)


def modulo(tail):
    """Multiplication modulo X^d - sum of tail[k] X^k."""

    def multiply(a, b):
        d = len(a)
        out = [0] * (2 * d - 1)
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                out[i + j] += x * y
        for i in range(2 * d - 2, d - 1, -1):
            for k, t in tail.items():
                out[i - d + k] += t * out[i]
        return out[:d]

    return multiply


class Kind:
    """A pair of fields with its hash: words of a symbol, and the generator of
    the 2^most-th roots of unity as an element."""

    def __init__(self, name, field, symbol, multiply, most, generator):
        self.name, self.field, self.symbol, self.most = name, field, symbol, most
        self.Element = ring(field.p, field.degree, multiply)
        self.generator = self.Element(generator + [0] * (field.degree - len(generator)))

    def root(self, n):
        return self.generator.power(2**(self.most - n))


M31 = Kind("M31; CM31 = M31[i]/(i^2+1); QM31 = CM31[u]/(u^2-2-i); Poseidon2 t=16,24", golden.m31(), 2, qm31, 32, [21189756, 42379512])
Q = M31.Element
ZERO, ONE, I = Q.zero, Q.one, Q((0, 1, 0, 0))


def bear(name, field, polynomial, tail, most, generator):
    return Kind("%s; %s[X]/(%s); Poseidon2 t=16,24" % (name, name, polynomial), field, 1, modulo(tail), most, [generator])


def kinds():
    baby, koala = pow(31, 15, 15 * 2**27 + 1), pow(3, 127, 127 * 2**24 + 1)
    return {
        "m31": M31,
        "babybear4": bear("BabyBear", golden.babybear(4), "X^4-11", {0: 11}, 27, baby),
        "babybear5": bear("BabyBear", golden.babybear(5), "X^5-2", {0: 2}, 27, baby),
        "koalabear4": bear("KoalaBear", golden.koalabear(4), "X^4-3", {0: 3}, 24, koala),
        "koalabear5": bear("KoalaBear", golden.koalabear(5), "X^5+X^2-1", {0: 1, 2: -1}, 24, koala),
    }


def unfrobenius(x):
    return x.power(M31.field.p**3)


def need(ok, what):
    if not ok:
        raise ValueError(what)


class Reader:
    def __init__(self, kind, data):
        self.kind = kind
        self.words, self.at = list(struct.unpack("<%dI" % (len(data) // 4), data)), 0

    def take(self, n):
        self.at += n
        need(self.at <= len(self.words), "proof ends early")
        return self.words[self.at - n:self.at]

    def canonical(self, n):
        w = self.take(n)
        need(all(x < self.kind.field.p for x in w), "word not canonical")
        return w

    def elements(self, n):
        d = self.kind.field.degree
        w = self.canonical(d * n)
        return [self.kind.Element(w[d * i:d * i + d]) for i in range(n)]


def work(t, nonce, bits):
    if bits:
        t.absorb(nonce)
        need(t.squeeze() % 2**bits == 0, "work")


def challenge(t, kind=M31):
    return kind.Element(t.squeeze() for _ in range(kind.field.degree))


def leaf(field, row):
    s = [0] * 8 + [2**16 + len(row)] + [0] * 7
    for i in range(0, len(row), 8):
        block = row[i:i + 8]
        s = field.permute(block + s[len(block):])
    return s[:8]


def node(field, children):
    if len(children) == 2:
        return field.permute(children[0] + children[1])[:8]
    s = [0] * 16 + [2**17 + len(children)] + [0] * 7
    for i in range(0, len(children), 2):
        s = field.permute(children[i] + children[i + 1] + s[16:])
    return s[:8]


def tree(field, top, depth, arity, indices, rows, siblings):
    known = {i: leaf(field, r) for i, r in zip(sorted(set(indices)), rows)}
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
            up[parent] = node(field, group)
        known = up
    need(known == {0: top} and not siblings, "tree")
    return dict(zip(sorted(set(indices)), rows))


def eq(a, r, one=ONE):
    v = one
    for x, y in zip(a, r):
        v = v * (x * y + (one - x) * (one - y))
    return v


def sel(a, r, one=ONE):
    v = one
    for x, y in zip(a, r):
        v = v * (one - y + y * x)
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
    t.absorb([n] + commitment(M31, numbers, top))


def commitment(kind, numbers, top):
    """The list that stands for a commitment."""
    return text("zkwarp whir 1") + text(kind.name) + numbers + top


def opening(t, n, numbers, top, statements, data):
    """Checks the proof that the committed table has these values at these
    points, after whatever else the transcript has been through."""
    need(2 * len(statements) <= numbers[8] and numbers[3] == max(n - 1, 1), "parameters")
    proof = Reader(M31, data)

    statement, claims = [len(statements)], []
    for point, value in statements:
        y0, y1 = proof.elements(2)
        need(value == (ONE - point[-1]) * y0 + point[-1] * y1, "halves")
        statement += [w for x in point + [value, y0, y1] for w in x]
        inner = point[:-1] or [ZERO]
        claims.append((eq, inner, [y0 + I * y1]))
        claims.append((eq, [unfrobenius(x) for x in inner], [unfrobenius(y0 - I * y1)]))
    t.absorb(statement)
    need(numbers[5] == 1, "a batch")
    finish(M31, t, numbers, top, claims, proof)


def symbols(kind, t, numbers, top, statements, data):
    """Checks the proof of claims (1 for eq or 2 for sel, point, values) about
    tables of symbols."""
    need(len(statements) <= numbers[8], "parameters")
    statement = [len(statements)]
    for which, point, values in statements:
        need(len(point) == numbers[3] and len(values) == numbers[5], "statement")
        words = [which] + [w for x in point for w in x]
        statement += [len(words)] + words + [w for v in values for w in v]
    t.absorb(statement)
    finish(kind, t, numbers, top, [({1: eq, 2: sel}[which], a, v) for which, a, v in statements], Reader(kind, data))


def finish(kind, t, numbers, top, batch, proof):
    """Checks the rest of a proof: claims are a kind, a point, and the values of
    all tables."""
    _, _, _, m, rate, tables, batchwork, arity, _, count = numbers[:10]
    need(arity in (2, 4, 8) and len(numbers) == 10 + 7 * count, "parameters")
    rounds = [numbers[10 + 7 * i:17 + 7 * i] for i in range(count)]
    zero, one, degree = kind.Element.zero, kind.Element.one, kind.field.degree
    mu = [one]
    if tables > 1:
        nonce = proof.canonical(2) if batchwork else None
        work(t, nonce, batchwork)
        x = challenge(t, kind)
        while len(mu) < tables:
            mu.append(mu[-1] * x)
    claims = []
    for which, a, values in batch:
        v = zero
        for c, x in zip(mu, values):
            v = v + c * x
        claims.append((which, a, v))

    point, terms, sigma = [], [], zero
    trees = [top]
    ms, rates = [m], [rate]
    for k, d, *_ in rounds:
        ms.append(ms[-1] - k)
        rates.append(rates[-1] + k - d)

    def samples(i):
        out = []
        for _ in range(rounds[i][3]):
            z = challenge(t, kind)
            (y,) = proof.elements(1)
            t.absorb(list(y))
            out.append((eq, powers(z, ms[i]), y))
        return out

    def query(i):
        """Reads the opening of tree i; the nonce comes first."""
        nonce = proof.canonical(2) if rounds[i][6] else None
        symbol = kind.symbol if i == 0 else degree
        width = (symbol * tables if i == 0 else symbol) << rounds[i][0]
        rows = [proof.canonical(width) for _ in range(proof.take(1)[0])]
        siblings = [proof.canonical(8) for _ in range(proof.take(1)[0])]
        depth = ms[i] + rates[i] - rounds[i][0]
        work(t, nonce, rounds[i][6])
        indices = [t.index(depth) for _ in range(rounds[i][4])]
        rows = tree(kind.field, trees[i], depth, arity, indices, rows, siblings)
        last = point[len(point) - rounds[i][0]:]
        out = []
        for j in indices:
            row = [kind.Element(rows[j][c:c + symbol] + [0] * (degree - symbol)) for c in range(0, width, symbol)]
            part = 1 << rounds[i][0]
            v = zero
            for a in range(len(row) // part):
                v = v + mu[a] * extension(row[a * part:(a + 1) * part], last)
            out.append((kind.root(depth).power(j), v))
        return out

    def fold(times, bits):
        nonlocal sigma
        for _ in range(times):
            c0, c2 = proof.elements(2)
            nonce = proof.canonical(2) if bits else None
            t.absorb(list(c0) + list(c2))
            work(t, nonce, bits)
            r = challenge(t, kind)
            sigma = c0 * (one - r) + (sigma - c0) * r + c2 * r * (r - one)
            point.append(r)

    def add(claims, ratio, coeff):
        nonlocal sigma
        for which, a, v in claims:
            sigma = sigma + coeff * v
            terms.append((len(point), coeff, which, a))
            coeff = coeff * ratio
        return coeff

    claims += samples(0)
    alpha = challenge(t, kind)
    add(claims, alpha, one)
    fold(rounds[0][0], rounds[0][5])
    for i in range(1, count):
        new = proof.canonical(8)
        t.absorb(new)
        fresh = samples(i)
        queried = query(i - 1)
        gamma = challenge(t, kind)
        coeff = add(fresh, gamma, gamma)
        add([(sel, powers(x, ms[i]), u) for x, u in queried], gamma, coeff)
        trees.append(new)
        fold(rounds[i][0], rounds[i][5])
    final = proof.elements(2**ms[count])
    t.absorb([w for x in final for w in x])
    for x, u in query(count - 1):
        v = zero
        for c in reversed(final):
            v = v * x + c
        need(v == u, "final query")
    fold(ms[count], 0)
    need(proof.at == len(proof.words), "bytes left over")
    weight = zero
    for at, coeff, which, a in terms:
        weight = weight + coeff * which(a, point[at:], one)
    need(weight * extension(final, point[len(point) - ms[count]:]) == sigma, "final claim")


def verify(case):
    kind = KINDS[case.get("kind", "m31")]
    t = golden.Transcript(kind.field, case["tag"])
    numbers, top, proof, E = case["params"], case["root"], bytes.fromhex(case["proof"]), kind.Element
    if "vars" in case:
        receive(t, case["vars"], numbers, top)
        claims = [([E(x) for x in c["point"]], E(c["value"])) for c in case["claims"]]
        opening(t, case["vars"], numbers, top, claims, proof)
        return
    t.absorb(commitment(kind, numbers, top))
    claims = [(c["weight"], [E(x) for x in c["point"]], [E(v) for v in c["values"]]) for c in case["claims"]]
    symbols(kind, t, numbers, top, claims, proof)


KINDS = kinds()


def main():
    cases = []
    for name in ("golden.json", "golden-symbols.json"):
        with open(os.path.join(HERE, name)) as f:
            cases += json.load(f)
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
