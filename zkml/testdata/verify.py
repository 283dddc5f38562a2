#!/usr/bin/env python3
"""Verifies proofs about integer programs. It shares no code with the Go
implementation: it is written from the chapters of docs/protocol.md, and takes
transcript and openings from the scripts of those chapters.

    verify.py CASES.json

CASES is a list of objects with key, proof and context (hex), x and y
(integers), weights (hex, for keys with public weights) and, in reject, whether
the proof is to be refused. What it leaves out is to recompute a program's bounds
and the report of security."""
import hashlib
import importlib.util
import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("whir", os.path.join(HERE, "..", "..", "whir", "testdata", "verify.py"))
whir = importlib.util.module_from_spec(spec)
spec.loader.exec_module(whir)
P, Q, ZERO, ONE = whir.P, whir.Q, whir.ZERO, whir.ONE
need, challenge, eq, extension = whir.need, whir.challenge, whir.eq, whir.extension
PARAMETERS, WITNESS, MULTIPLICITIES, PUBLIC, VIRTUAL = range(5)


def q(v):
    return Q((v % P, 0, 0, 0))


def logsize(n):
    return (n - 1).bit_length()


class Bytes:
    """Reads little-endian encodings."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        need(self.at <= len(self.data), "ends early")
        return self.data[self.at - n:self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def bytes(self):
        return self.take(self.number("I"))

    def string(self):
        return self.take(self.number("H")).decode()

    def words(self, n):
        w = list(struct.unpack("<%dI" % n, self.take(4 * n)))
        need(all(x < P for x in w), "word not canonical")
        return w

    def elements(self, n):
        w = self.words(4 * n)
        return [Q(w[4 * i:4 * i + 4]) for i in range(n)]

    def end(self):
        need(self.at == len(self.data), "bytes left over")


# Programs: docs/integer-program.md.

class Tensor:
    def __init__(self, kind, shape, lo, hi):
        self.kind, self.shape, self.lo, self.hi = kind, shape, lo, hi
        self.logs = [logsize(d) for d in shape]
        self.vars = sum(self.logs)
        self.size = 1
        for d in shape:
            self.size *= d
        self.padded = self.size != 2**self.vars

    def real(self):
        """The places of the real elements in the padded layout."""
        out = [0]
        for d, k in zip(self.shape, self.logs):
            out = [(o << k) + i for o in out for i in range(d)]
        return out

    def pad(self, values):
        out = [0] * 2**self.vars
        for i, v in zip(self.real(), values):
            out[i] = v
        return out


def smallest(lo, hi):
    """The form of the smallest integers that hold a range."""
    return next(f for f, b in (("b", 7), ("h", 15), ("i", 31)) if -2**b <= lo and hi < 2**b)


class Program:
    def __init__(self, data):
        self.digest = hashlib.sha256(data).digest()
        r = Bytes(data)
        need(r.take(8) == b"ZKWPROG\n" and r.number("I") == 1, "program")
        r.string()
        self.tensors, self.tables, self.ops = [], [], []
        for _ in range(r.number("I")):
            r.string()
            kind, rank = r.number("B"), r.number("B")
            shape = [r.number("I") for _ in range(rank)]
            self.tensors.append(Tensor(kind, shape, r.number("q"), r.number("q")))
            r.take(8)
        for _ in range(r.number("I")):
            r.string()
            bits, lo, hi, form = r.number("B"), r.number("q"), r.number("q"), r.number("B")
            codes = range(-2**(bits - 1), 2**(bits - 1))
            if form == 0:
                values = [min(max(c, lo), hi) for c in codes]
            else:
                values = [r.number(smallest(lo, hi)) for _ in codes]
            self.tables.append((list(codes), values))
        for _ in range(r.number("I")):
            op = r.number("B")
            if op == 1:
                self.ops.append(("matmul", r.number("I"), r.number("I"), r.number("I"), r.number("B")))
            elif op == 2:
                out, const = r.number("I"), r.number("q")
                self.ops.append(("linear", out, const, [(r.number("q"), r.number("I")) for _ in range(r.number("I"))]))
            elif op == 3:
                self.ops.append(("lookup", r.number("I"), r.number("I"), r.number("I"), r.number("B"), r.number("I")))
            else:
                need(op == 4, "operation")
                self.ops.append(("reshape", r.number("I"), r.number("I")))
        self.input, self.output = r.number("I"), r.number("I")
        r.number("B"), r.number("i"), r.take(3)
        for _ in range(r.number("I")):
            r.string()
        r.end()
        # Which operation makes a tensor, and which tensor a free reshape names.
        self.maker, self.same = {}, {}
        for op in self.ops:
            if op[0] == "reshape":
                a, b = self.tensors[op[1]], self.tensors[op[2]]
                if free(a.shape) == free(b.shape):
                    self.same[op[2]] = self.name(op[1])
                self.maker[op[2]] = op
            elif op[0] == "matmul":
                self.maker[op[3]] = op
            elif op[0] == "linear":
                self.maker[op[1]] = op

    def name(self, i):
        return self.same.get(i, i)


def free(shape):
    out = []
    for d in shape:
        if d == 1:
            continue
        if out and d & (d - 1) == 0:
            out[-1] *= d
        else:
            out.append(d)
    return out


# The argument: docs/zkml.md.

class Stack:
    """Polynomials of one home, with the place of each."""

    def __init__(self, sizes):
        self.place, at = {}, 0
        for name, size in sorted(sizes, key=lambda s: -s[1]):
            self.place[name] = (at, size)
            at += 2**size
        self.vars = max(2, logsize(at)) if sizes else None

    def point(self, name, point):
        at, size = self.place[name]
        return prefix(at >> size, self.vars - size) + point


def prefix(index, bits):
    return [q(index >> (bits - 1 - j) & 1) for j in range(bits)]


class Argument:
    """One run of the verifier over a list of polynomials; home(name) says where
    each lives."""

    def __init__(self, t, proof, home, stacks, settings, roots):
        self.t, self.proof, self.home, self.stacks = t, proof, home, stacks
        self.work, self.params = settings
        self.roots = roots
        self.values, self.order = {}, []

    def arise(self, name, point, value):
        key = (name, tuple(point))
        if key in self.values:
            need(self.values[key] == value, "two values of one evaluation")
            return
        self.values[key] = value
        self.order.append(key)

    def known(self, name, point):
        return (name, tuple(point)) in self.values

    def get(self, name, point):
        return self.values[name, tuple(point)]

    def send(self, wanted):
        new = [w for i, w in enumerate(wanted) if not self.known(*w) and w not in wanted[:i]]
        got = self.proof.elements(len(new))
        if got:
            self.t.absorb([w for v in got for w in v])
        for (name, point), v in zip(new, got):
            self.arise(name, point, v)

    def sumchecks(self, shapes):
        """shapes: (variables, factors, eq point or None, claimed value). Returns
        the point and the final evaluations of each."""
        self.t.absorb([w for s in shapes for w in s[3]])
        gamma = challenge(self.t)
        n = max(s[0] for s in shapes)
        d = max(s[1] + (s[2] is not None) for s in shapes)
        total = ZERO
        for j, s in enumerate(shapes):
            total = total + gamma.power(j) * q(2**(n - s[0])) * s[3]
        point = []
        for _ in range(n):
            g = self.proof.elements(d)
            self.t.absorb([w for v in g for w in v])
            r = challenge(self.t)
            nodes = [q(0), q(1)] + [q(i) for i in range(2, d + 1)]
            total = interpolate(nodes, [g[0], total - g[0]] + g[1:], r)
            point.append(r)
        evals = [self.proof.elements(s[1]) for s in shapes]
        self.t.absorb([w for e in evals for v in e for w in v])
        out, want = [], ZERO
        for j, (s, e) in enumerate(zip(shapes, evals)):
            p, v = point[n - s[0]:], ONE
            for x in e:
                v = v * x
            want = want + gamma.power(j) * (eq(s[2], p) if s[2] is not None else ONE) * v
            out.append((p, e))
        need(want == total, "sum-check")
        return out

    def commit(self, home):
        if self.params[home] is not None:
            self.roots[home] = self.proof.words(8)
            whir.receive(self.t, *self.params[home], self.roots[home])

    def lookups(self, blocks):
        """T2 to T6. Blocks: (kind, size, data) in the order before sorting:
        ("pair", X, Y, R or None, s, tag), ("column", name, tag, constant),
        ("table", name, columns, tag)."""
        t, proof = self.t, self.proof
        self.commit(WITNESS)
        self.commit(MULTIPLICITIES)
        if not blocks:
            return
        if self.work:
            whir.work(t, proof.words(2), self.work)
        alpha, beta = challenge(t), challenge(t)
        blocks = sorted(blocks, key=lambda b: -b[1])
        used = sum(2**b[1] for b in blocks)
        depth = logsize(used)
        # The tree: docs/logup.md.
        num, den = proof.elements(2)
        need(num == ZERO and den != ZERO, "root")
        t.absorb(list(num) + list(den))
        rho = []
        for k in range(depth):
            lam = challenge(t)
            e, rho = self.layer(k, num + lam * den, lam, rho)
            tau = challenge(t)
            num, den = e[0] + tau * (e[1] - e[0]), e[2] + tau * (e[3] - e[2])
            rho = rho + [tau]
        wanted = []
        for kind, size, *data in blocks:
            p = rho[depth - size:]
            if kind == "pair":
                wanted += [(n, p) for n in (data[0], data[2], data[1]) if n is not None]
            else:
                wanted.append((data[0], p))
        self.send(wanted)
        at, n, d, rest = 0, ZERO, ZERO, ONE
        for kind, size, *data in blocks:
            p = rho[depth - size:]
            weight = eq(prefix(at >> size, depth - size), rho[:depth - size])
            at += 2**size
            rest = rest - weight
            if kind == "pair":
                x, y, rem, s, tag = data
                r = self.get(rem, p) if rem is not None else ZERO
                half = q(2**(s - 1)) if s else ZERO
                c0 = (self.get(x, p) + half - r) * q(pow(2**s, -1, P))
                n = n + weight
                d = d + weight * (alpha - q(tag) - beta * c0 - beta * beta * self.get(y, p))
            elif kind == "column":
                n = n + weight
                d = d + weight * (alpha - q(data[1]) - beta * self.get(data[0], p))
            else:
                columns = [extension([q(v) for v in c], p) for c in data[1]] + [ZERO]
                n = n - weight * self.get(data[0], p)
                d = d + weight * (alpha - q(data[2]) - beta * columns[0] - beta * beta * columns[1])
        need(n == num and d + rest == den, "leaves")

    def layer(self, k, claim, lam, z):
        """The sum-check of one layer of the tree, whose summand is the terms
        f0 f3 + f1 f2 + lam f2 f3 under eq(z, .)."""
        t = self.t
        t.absorb(list(claim))
        challenge(t)
        point = []
        for _ in range(k):
            g = self.proof.elements(3)
            t.absorb([w for v in g for w in v])
            r = challenge(t)
            claim = interpolate([q(i) for i in range(4)], [g[0], claim - g[0]] + g[1:], r)
            point.append(r)
        e = self.proof.elements(4)
        t.absorb([w for v in e for w in v])
        need(claim == eq(z, point) * (e[0] * e[3] + e[1] * e[2] + lam * e[2] * e[3]), "layer %d of the tree" % k)
        return e, point

    def finish(self, public):
        """T8 and T9. public: stack of parameters in the clear, or None."""
        gamma = challenge(self.t)
        claims = {}
        for name, point in self.order:
            h = self.home(name)
            if h <= MULTIPLICITIES:
                claims.setdefault(h, []).append((self.stacks[h].point(name, list(point)), self.values[name, point]))
        shapes = []
        homes = sorted(claims)
        for h in homes:
            v = ZERO
            for i, c in enumerate(claims[h]):
                v = v + gamma.power(i) * c[1]
            shapes.append((self.stacks[h].vars, 2, None, v))
        opened = []
        for h, (p, e) in zip(homes, self.sumchecks(shapes) if shapes else []):
            w = ZERO
            for i, c in enumerate(claims[h]):
                w = w + gamma.power(i) * eq(c[0], p)
            need(w == e[1], "claim merging")
            opened.append((h, p, e[0]))
        for h, p, v in opened:
            if h == PARAMETERS and public is not None:
                need(extension([q(w) for w in public], p) == v, "weights")
                continue
            n, numbers = self.params[h]
            whir.opening(self.t, n, numbers, self.roots[h], [(p, v)], self.proof.bytes())


def interpolate(nodes, values, x):
    out = ZERO
    for i, v in enumerate(values):
        num, den = ONE, ONE
        for j, n in enumerate(nodes):
            if j != i:
                num, den = num * (x - n), den * (nodes[i] - n)
        out = out + v * num * q(pow(den[0], -1, P))
    return out


def inference(key, t, proof, x, y, context):
    """T1 to T9."""
    g = key.program
    tensors = g.tensors
    for values in (x, y):
        t.absorb([v % P for v in values])
    t.bytes(context)

    columns, blocks, tables, sizes = [], [], [], []
    lookups = [op for op in g.ops if op[0] == "lookup"]
    shifts = sorted({op[4] for op in lookups if op[4]})
    used = [k for k in range(len(g.tables)) if any(op[5] == k for op in lookups)]
    for k in used:
        tables.append((("table", k), g.tables[k]))
    for s in shifts:
        tables.append((("range", s), (list(range(2**s)),)))
    tag = {name: i + 1 for i, (name, _) in enumerate(tables)}
    for _, a, out, rem, s, k in lookups:
        v = tensors[out].vars
        rem = rem if s else None
        blocks.append(("pair", v, g.name(a), out, rem, s, tag["table", k]))
        columns.append(out)
        if s:
            blocks.append(("column", v, rem, tag["range", s]))
            columns.append(rem)
    for name, c in tables:
        size = logsize(len(c[0]))
        blocks.append(("table", size, name, c, tag[name]))
        sizes.append((name, size))
    params = [i for i, u in enumerate(tensors) if u.kind == 1]
    stacks = [Stack([(i, tensors[i].vars) for i in params]), Stack([(i, tensors[i].vars) for i in sorted(columns)]), Stack(sizes)]

    def home(name):
        if isinstance(name, tuple):
            return MULTIPLICITIES
        return {0: PUBLIC, 1: PARAMETERS, 2: WITNESS, 3: VIRTUAL}[tensors[name].kind]

    a = Argument(t, proof, home, stacks, key.settings[0], [key.root, None, None])
    a.lookups(blocks)
    out = tensors[g.output]
    bind = [challenge(t) for _ in range(out.vars)]
    padded = extension([q(v) for v in out.pad(y)], bind)
    if not out.padded:
        a.arise(g.name(g.output), bind, padded)

    start, first = 0, True
    while True:
        queue, wanted, relations, checks = a.order[start:], [], [], []
        if first and out.padded:
            checks.append((out.vars, 2, None, padded, "bind"))
        first, at = False, 0
        while at < len(queue):
            name, point = queue[at]
            at += 1
            if home(name) != VIRTUAL:
                continue
            op, u = g.maker[name], tensors[name]
            if op[0] == "linear":
                terms = []
                for c, i in op[3]:
                    want = (g.name(i), tuple(coordinates(u, tensors[i], point)))
                    terms.append((c, want))
                    if not a.known(*want) and want not in queue:
                        wanted.append(want)
                        queue.append(want)
                relations.append(((name, point), op[2], terms))
            elif op[0] == "matmul":
                _, i, w, _, trans = op
                k = tensors[i].logs[-1]
                checks.append((k, 2, None, (name, point), "matmul", i, w, trans, point))
            else:
                checks.append((tensors[op[1]].vars, 2, None, (name, point), "reshape", op[1], name, point))
        if not relations and not checks:
            break
        a.send(wanted)
        start = len(a.order)
        for (name, point), const, terms in relations:
            v = q(const)
            for c, want in terms:
                v = v + q(c) * a.get(*want)
            need(v == a.get(name, point), "linear relation")
        shapes = [(c[0], 2, None, c[3] if c[4] == "bind" else a.get(*c[3])) for c in checks]
        for c, (p, e) in zip(checks, a.sumchecks(shapes) if shapes else []):
            if c[4] == "matmul":
                _, _, _, _, _, i, w, trans, point = c
                columns = tensors[c[3][0]].logs[-1]
                rows, cols = list(point[:len(point) - columns]), list(point[len(point) - columns:])
                a.arise(g.name(i), rows + p, e[0])
                a.arise(w, cols + p if trans else p + cols, e[1])
            elif c[4] == "reshape":
                source, target = tensors[c[5]], tensors[c[6]]
                need(e[0] == pairs(target, list(c[7]), source, p), "public factor")
                a.arise(g.name(c[5]), p, e[1])
            else:
                need(e[0] == pairs(out, bind, out, p), "public factor")
                a.arise(g.name(g.output), p, e[1])
    whole = [q(v) for v in tensors[g.input].pad(x)]
    for name, point in a.order:
        if home(name) == PUBLIC:
            need(extension(whole, list(point)) == a.get(name, point), "input binding")
    a.finish(key.public)


def coordinates(out, term, point):
    """The coordinates of the axes that a term of a linear operation has."""
    at, axes = 0, []
    for d, k in zip(out.shape, out.logs):
        axes.append((d, point[at:at + k]))
        at += k
    axes = axes[len(axes) - len(term.shape):]
    return [c for (d, p), e in zip(axes, term.shape) if d == e for c in p]


def pairs(a, r, b, z):
    """The sum over elements of eq(r, place in a) eq(z, place in b)."""
    left, right = table(r), table(z)
    total = ZERO
    for i, j in zip(a.real(), b.real()):
        total = total + left[i] * right[j]
    return total


def table(r):
    out = [ONE]
    for x in r:
        out = [v * f for v in out for f in (ONE - x, x)]
    return out


def weights(key, t, proof):
    """The key's own proof."""
    g = key.program
    tensors = g.tensors
    params = [i for i, u in enumerate(tensors) if u.kind == 1]
    tables, sizes, columns, blocks = [], [], [], []
    limbs = {}

    def tag(name):
        if name not in [n for n, _ in tables]:
            tables.append((name, list(range(name[1], name[2]))))
        return [n for n, _ in tables].index(name) + 1

    for i in params:
        u = tensors[i]
        k = (u.hi + 1).bit_length()
        if k <= 12 or k <= 16 and u.vars >= k:
            blocks.append(("column", u.vars, i, tag(("range", u.lo, u.hi + 1))))
            continue
        count = -(-k // 12)
        width = -(-k // count)
        limbs[i] = []
        for j in range(count):
            w = min(width, k - j * width)
            name = ("limb", i, j)
            limbs[i].append((name, j * width))
            columns.append((name, u.vars))
            blocks.append(("column", u.vars, name, tag(("range", 0, 2**w))))
    for k, (name, c) in enumerate(tables):
        size = logsize(len(c))
        blocks.append(("table", size, name, [c], k + 1))
        sizes.append((name, size))
    stacks = [Stack([(i, tensors[i].vars) for i in params]), Stack(columns), Stack(sizes)]

    def home(name):
        if isinstance(name, tuple):
            return WITNESS if name[0] == "limb" else MULTIPLICITIES
        return PARAMETERS

    a = Argument(t, proof, home, stacks, (key.settings[1][0], [key.settings[0][1][0]] + key.settings[1][1][1:]), [key.root, None, None])
    a.lookups(blocks)
    rho = {name: point for name, point in a.order}
    padded = [i for i in params if tensors[i].padded]
    bind = [challenge(t) for _ in range(max([tensors[i].vars for i in padded], default=0))]
    a.send([(i, rho[limbs[i][0][0]]) for i in params if i in limbs])
    for i in limbs:
        point = rho[limbs[i][0][0]]
        v = q(tensors[i].lo)
        for name, shift in limbs[i]:
            v = v + q(2**shift) * a.get(name, point)
        need(v == a.get(i, point), "limbs")
    shapes = [(tensors[i].vars, 2, bind[len(bind) - tensors[i].vars:], ZERO) for i in padded]
    for i, (p, e) in zip(padded, a.sumchecks(shapes) if shapes else []):
        real = table(p)
        inside = ZERO
        for at in tensors[i].real():
            inside = inside + real[at]
        need(e[0] == ONE - inside, "public factor")
        a.arise(i, p, e[1])
    a.finish(None)


class Key:
    def __init__(self, data, given):
        r = Bytes(data)
        need(r.take(8) == b"ZKWVKEY\n" and r.number("I") == 1, "key")
        self.digest, core, self.proof = r.take(32), r.bytes(), r.bytes()
        r.end()
        need(hashlib.sha256(b"zkwarp verifying key\n" + core).digest() == self.digest, "digest of the key")
        c = Bytes(core)
        self.mode = c.number("B")
        need(self.mode in (0, 1), "mode")
        self.program = Program(c.bytes())
        wanted = c.take(32)
        some = any(u.kind == 1 for u in self.program.tensors)
        self.root = c.words(8) if self.mode == 0 and some else None
        self.settings = [(c.number("B"), [parameters(c.bytes()) for _ in range(3)]) for _ in range(2)]
        c.end()
        self.public = None
        if self.mode == 1:
            need(given is not None and hashlib.sha256(given).digest() == wanted, "weights digest")
            self.public = self.stack(Bytes(given))

    def stack(self, r):
        """The parameters that an encoding of weights holds, stacked."""
        need(r.take(8) == b"ZKWWGHT\n" and r.number("I") == 1 and r.take(32) == self.program.digest, "weights")
        params = [(i, u) for i, u in enumerate(self.program.tensors) if u.kind == 1]
        home = Stack([(i, u.vars) for i, u in params])
        out = [0] * 2**home.vars if params else []
        for i, u in params:
            values = [r.number(smallest(u.lo, u.hi)) for _ in range(u.size)]
            need(all(u.lo <= v <= u.hi for v in values), "weights out of bounds")
            at = home.place[i][0]
            out[at:at + 2**u.vars] = u.pad(values)
        r.end()
        return out

    def start(self, label):
        t = whir.Transcript(2)
        t.bytes(label)
        t.bytes(self.digest)
        if self.root is not None:
            whir.receive(t, *self.settings[0][1][0], self.root)
        return t


def parameters(data):
    if not data:
        return None
    r = Bytes(data)
    n = r.number("B")
    return n, r.words((len(data) - 1) // 4)


checked = set()  # keys whose own proof was accepted


def verify(case):
    key = Key(bytes.fromhex(case["key"]), bytes.fromhex(case["weights"]) if case["weights"] else None)
    x, y = case["x"], case["y"]
    for values, u in ((x, key.program.tensors[key.program.input]), (y, key.program.tensors[key.program.output])):
        need(len(values) == u.size and all(u.lo <= v <= u.hi for v in values), "input or output")
    if key.root is not None and case["key"] not in checked:
        r = Bytes(key.proof)
        weights(key, key.start(b"zkwarp zkml weights 1"), r)
        r.end()
        checked.add(case["key"])
    r = Bytes(bytes.fromhex(case["proof"]))
    need(r.take(8) == b"ZKWPROF\n" and r.number("I") == 1 and r.take(32) == key.digest, "proof")
    for values in (x, y):
        need(r.take(32) == hashlib.sha256(struct.pack("<%di" % len(values), *values)).digest(), "digest of a list")
    inference(key, key.start(b"zkwarp zkml inference 1"), r, x, y, bytes.fromhex(case["context"]))
    r.end()


def main():
    with open(sys.argv[1]) as f:
        cases = json.load(f)
    for i, case in enumerate(cases):
        try:
            verify(case)
        except ValueError as e:
            if not case["reject"]:
                sys.exit("case %d: %s" % (i, e))
            continue
        if case["reject"]:
            sys.exit("case %d: accepted" % i)
    print("%d cases as they should be" % len(cases))


if __name__ == "__main__":
    main()
