"""What proofs of inference and of weights have in common: evaluations, lookups,
batches of sum-checks, merging and openings. Written from docs/zkml.md,
docs/sumcheck.md, docs/logup.md and docs/whir.md."""
import importlib.util
import os
import struct
import sys

from program import P, Bytes, log, need

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "transcript", "testdata"))
import golden  # noqa: E402

# Proofs that differ late share most of their hashing.
plain, memo = golden.Field.permute, {}


def permute(field, s):
    key = tuple(s)
    if key not in memo:
        memo[key] = plain(field, s)
    return list(memo[key])


golden.Field.permute = permute
spec = importlib.util.spec_from_file_location("whir", os.path.join(HERE, "..", "..", "whir", "testdata", "verify.py"))
whir = importlib.util.module_from_spec(spec)
spec.loader.exec_module(whir)
Q, ZERO, ONE, eq, challenge = whir.Q, whir.ZERO, whir.ONE, whir.eq, whir.challenge
TAG = 2


class Rejected(ValueError):
    """The name of the failed check."""


def check(ok, name):
    if not ok:
        raise Rejected(name)


def lift(v):
    return Q((v % P, 0, 0, 0))


def eqs(point):
    """eq(point, .) over the hypercube."""
    out = [ONE]
    for x in point:
        high = [e * x for e in out]
        out = [v for e, h in zip(out, high) for v in (e - h, h)]
    return out


def weigh(table, pairs):
    """The sum of table[i] times an integer over pairs of i and the integer."""
    acc = [0, 0, 0, 0]
    for i, v in pairs:
        for c, e in enumerate(table[i]):
            acc[c] += v * e
    return Q(v % P for v in acc)


def row(lo, bits, at):
    """The extension of lo + index."""
    return lift(lo) + sum((x * lift(2**(bits - 1 - i)) for i, x in enumerate(at)), ZERO)


def prefix(offset, vars, total):
    """The first coordinates of a block, as a point."""
    return [lift(offset >> b & 1) for b in range(total - 1, vars - 1, -1)]


def layout(sizes):
    """Offsets of blocks in order of falling size, and the least depth."""
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    offsets, at = [0] * len(sizes), 0
    for i in order:
        offsets[i], at = at, at + 2**sizes[i]
    return order, offsets, at


class Proof(Bytes):
    def elements(self, n):
        w = self.words(4 * n)
        return [Q(w[4 * i:4 * i + 4]) for i in range(n)]


def flat(elements):
    return [w for x in elements for w in x]


class Claim:
    """A sum-check's shape and value. A term is a coefficient and factors."""

    def __init__(self, vars, terms, value, point=None):
        self.vars, self.terms, self.value, self.point = vars, terms, value, point
        self.factors = 1 + max(k for _, t in terms for k in t)
        self.degree = max(len(t) for _, t in terms) + (point is not None)


def batch(t, rd, claims, name):
    """Returns each claim's point and evaluations."""
    t.absorb(flat(c.value for c in claims))
    gamma = challenge(t)
    n, d = max(c.vars for c in claims), max(c.degree for c in claims)
    running, coeff = ZERO, ONE
    for c in claims:
        running, coeff = running + coeff * lift(2**(n - c.vars)) * c.value, coeff * gamma
    r = []
    for _ in range(n):
        sent = rd.elements(d)
        t.absorb(flat(sent))
        x = challenge(t)
        r.append(x)
        values, running = [sent[0], running - sent[0]] + sent[1:], ZERO
        for i, v in enumerate(values):
            for j in range(d + 1):
                if j != i:
                    v = v * (x - lift(j)) * lift(pow(i - j, P - 2, P))
            running = running + v
    out = [(r[n - c.vars:], rd.elements(c.factors)) for c in claims]
    t.absorb(flat(e for _, es in out for e in es))
    total, coeff = ZERO, ONE
    for c, (at, es) in zip(claims, out):
        s = ZERO
        for k, fs in c.terms:
            for f in fs:
                k = k * es[f]
            s = s + k
        if c.point is not None:
            s = s * eq(c.point, at)
        total, coeff = total + coeff * s, coeff * gamma
    check(total == running, name)
    return out


def tree(t, rd, depth):
    """Returns the point and the claims on numerators and denominators."""
    p, q = rd.elements(2)
    check(p == ZERO, "lookups: root numerator")
    check(q != ZERO, "lookups: root denominator")
    t.absorb(flat([p, q]))
    r = []
    for k in range(depth):
        lam = challenge(t)
        terms = [(ONE, (0, 3)), (ONE, (1, 2)), (lam, (2, 3))]
        [(at, e)] = batch(t, rd, [Claim(k, terms, p + lam * q, r)], "lookups: tree")
        tau = challenge(t)
        p, q = e[0] + tau * (e[1] - e[0]), e[2] + tau * (e[3] - e[2])
        r = at + [tau]
    return r, p, q


class Block:
    """Leaves of a tree: the polynomials they are made of, and what makes
    numerator and denominator of their evaluations and the point."""

    def __init__(self, vars, needs, fraction):
        self.vars, self.needs, self.fraction = vars, needs, fraction


class Stack:
    """A committed home: its polynomials with their variables, in order."""

    def __init__(self, name, polys, params, root=None, n=None):
        order, offsets, size = layout([v for _, v in polys])
        self.name, self.n = name, n or max(2, log(size))
        self.place = {polys[i][0]: (offsets[i], polys[i][1]) for i in order}
        self.params, self.root = params, root
        need(self.n <= 29 and (params is None or params.n == self.n), "stack size")

    def prefix(self, poly):
        return prefix(*self.place[poly], self.n)


class Argument:
    def __init__(self, data):
        self.rd, self.t = Proof(data), golden.Transcript(whir.M31.field, TAG)
        self.known, self.order, self.queue = {}, [], []
        self.lines = []

    def log(self, step, numerator, bits=0):
        """Adds a line of the security report: an error times |QM31|."""
        self.lines.append((step, numerator, bits))

    # Evaluations

    def put(self, poly, point, value, name="linear relation"):
        key = (poly, tuple(point))
        if key in self.known:
            check(self.known[key] == value, name)
        else:
            self.known[key] = value
            self.order.append(key)
            self.queue.append(key)

    def fetch(self, keys):
        """Reads those evaluations that are not known and returns what was sent."""
        sent = []
        for poly, point in keys:
            if (poly, tuple(point)) not in self.known:
                sent += self.rd.elements(1)
                self.put(poly, point, sent[-1])
        return sent

    def value(self, poly, point):
        return self.known[poly, tuple(point)]

    # Steps

    def commit(self, stack):
        if stack.root is None:
            stack.root = self.rd.words(8)
        whir.receive(self.t, stack.params.n, stack.params.numbers, stack.root)

    def lookups(self, bits, width, blocks):
        """T4 to T6. blocks is a function of alpha and beta."""
        nonce = self.rd.words(2) if bits else None
        try:
            whir.work(self.t, nonce, bits)
        except ValueError:
            raise Rejected("proof of work")
        alpha, beta = challenge(self.t), challenge(self.t)
        blocks = blocks(alpha, beta)
        order, offsets, size = layout([b.vars for b in blocks])
        depth = log(size)
        need(depth <= 29, "tree size")
        self.log("lookups: identity", (width + 1) * size, bits)
        self.log("lookups: tree", sum(3 * k + 2 for k in range(depth)))
        rho, num, den = tree(self.t, self.rd, depth)
        sent = []
        for i in order:
            b = blocks[i]
            sent += self.fetch((p, rho[depth - b.vars:]) for p in b.needs)
        self.t.absorb(flat(sent))
        unused = ONE
        for i in order:
            b = blocks[i]
            at = rho[depth - b.vars:]
            w = eq(prefix(offsets[i], b.vars, depth), rho[:depth - b.vars])
            n, d = b.fraction([self.value(p, at) for p in b.needs], at)
            num, den, unused = num - w * n, den - w * d, unused - w
        check(num == ZERO, "lookups: leaf numerators")
        check(den == unused, "lookups: leaf denominators")
        return rho

    def batch(self, jobs, name="sum-check"):
        """A batch of (claim, job to do with its point and evaluations)."""
        rounds, degree = max(c.vars for c, _ in jobs), max(c.degree for c, _ in jobs)
        self.log(name, len(jobs) - 1 + degree * rounds)
        for (_, job), (at, es) in zip(jobs, batch(self.t, self.rd, [c for c, _ in jobs], name)):
            job(at, es)

    def finish(self, stacks, weights=None):
        """T8 and T9."""
        if not stacks:
            return self.rd.end()
        gamma = challenge(self.t)
        claims, found = [], []
        for s in stacks:
            mine = [k for k in self.order if k[0] in s.place]
            value, coeff = ZERO, ONE
            for k in mine:
                value, coeff = value + coeff * self.known[k], coeff * gamma
            claims.append(Claim(s.n, [(ONE, (0, 1))], value))
            self.log("claim merging: " + s.name, len(mine) - 1)

            def merged(at, es, s=s, mine=mine):
                at = at[::-1]  # the batch binds the lowest bit of an index first
                w, coeff = ZERO, ONE
                for poly, point in mine:
                    w, coeff = w + coeff * eq(s.prefix(poly) + list(point), at), coeff * gamma
                check(w == es[1], "claim merging")
                found.append((s, at, es[0]))
            claims[-1] = (claims[-1], merged)
        self.batch(claims, "claim merging")
        for s, at, value in found:
            if s.params is None:
                check(weights(s, at) == value, "opening of " + s.name)
                continue
            data = self.rd.blob()
            try:
                whir.opening(self.t, s.params.n, s.params.numbers, s.root, [(at, value)], data)
            except (ValueError, struct.error):
                raise Rejected("opening of " + s.name)
        self.rd.end()
