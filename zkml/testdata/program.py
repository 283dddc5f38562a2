"""Programs and verifying keys as bytes, written from docs/integer-program.md and
docs/zkml.md. Decoding is strict; a program's shapes and bounds are derived
again. It shares no code with the Go implementation."""
import hashlib
import struct

P = 2**31 - 1
INPUT, PARAM, COLUMN, VIRTUAL = range(4)
EINSUM, LINEAR, LOOKUP, RESHAPE, PAIR, THRESHOLD, REARRANGE, EMBED = range(1, 9)
UNARY, BINARY, STEPS = range(3)
NONE = 2**32 - 1
LIMIT = 2**29


def need(ok, what):
    if not ok:
        raise ValueError(what)


class Bytes:
    """Reads little-endian numbers."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        need(self.at <= len(self.data), "encoding ends early")
        return self.data[self.at - n:self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize(form)))[0]

    def u8(self):
        return self.number("B")

    def u16(self):
        return self.number("H")

    def u32(self):
        return self.number("I")

    def i64(self):
        return self.number("q")

    def varint(self):
        v, shift = 0, 0
        while True:
            b = self.u8()
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                need(b or shift == 7, "number too long")
                need(v < 2**32, "number too large")
                return v
            need(shift < 35, "number too long")

    def shape(self):
        rank = self.u8()
        need(rank <= 8, "rank")
        out = [self.u32() for _ in range(rank)]
        need(all(d > 0 for d in out) and sum(map(log, out)) <= 28, "axis length")
        return out

    def small(self):
        """A list of at most 8 bytes."""
        n = self.u8()
        need(n <= 8, "list")
        return list(self.take(n))

    def flag(self):
        v = self.u8()
        need(v < 2, "flag")
        return v == 1

    def text(self):
        return self.take(self.u16()).decode()

    def blob(self):
        return self.take(self.u32())

    def words(self, n):
        w = list(struct.unpack("<%dI" % n, self.take(4 * n)))
        need(all(v < P for v in w), "word not canonical")
        return w

    def magic(self, text, version=1):
        need(self.take(8) == text, "magic")
        need(self.u32() == version, "version")

    def end(self):
        need(self.at == len(self.data), "bytes left over")


def log(n):
    return (n - 1).bit_length()


def width(lo, hi):
    """The bytes of a value in [lo, hi]."""
    return next(b for b in (1, 2, 4) if -2**(8 * b - 1) <= lo and hi < 2**(8 * b - 1))


def product(v):
    r = 1
    for x in v:
        r *= x
    return r


class Tensor:
    def __init__(self, b):
        self.name, self.kind = b.text(), b.u8()
        need(self.kind <= VIRTUAL, "tensor kind")
        self.shape = b.shape()
        self.lo, self.hi, self.scale = b.i64(), b.i64(), b.number("d")
        need(-LIMIT < self.lo <= self.hi < LIMIT, "bounds")
        need(0 < self.scale < float("inf"), "scale")
        self.axes = [log(d) for d in self.shape]
        self.vars = sum(self.axes)
        self.padded = any(d & (d - 1) for d in self.shape)

    def positions(self):
        """The real elements' indices in the padded layout, in order."""
        out = [0]
        for d, a in zip(self.shape, self.axes):
            out = [(i << a) + j for i in out for j in range(d)]
        return out


class Table:
    def __init__(self, b):
        self.name, self.kind, self.bits, self.bits2 = b.text(), b.u8(), b.u8(), b.u8()
        self.lo, self.hi = b.i64(), b.i64()
        need(-LIMIT < self.lo <= self.hi < LIMIT, "table range")
        if self.kind == STEPS:
            self.steps(b)
            return
        need(self.kind in (UNARY, BINARY), "table kind")
        need(1 <= self.bits and self.bits + self.bits2 <= 18 and (self.bits2 > 0) == (self.kind == BINARY), "table bits")
        self.rows = 2**(self.bits + self.bits2)
        values, clamp = b.flag(), None
        if self.kind == UNARY:
            clamp = [min(max(q, self.lo), self.hi) for q in range(-self.rows // 2, self.rows // 2)]
        need(values or clamp, "table form")
        if values:
            form = {1: "b", 2: "h", 4: "i"}[width(self.lo, self.hi)]
            self.values = [b.number(form) for _ in range(self.rows)]
            need(self.values != clamp, "table is a clamp")
        else:
            self.values = clamp
        need((min(self.values), max(self.values)) == (self.lo, self.hi), "table range")

    def steps(self, b):
        need(self.bits == self.bits2 == 0, "table bits")
        self.channels, self.limit = b.u32(), b.u32()
        n = self.hi - self.lo + 1
        need(1 <= self.channels <= 2**18 and n <= 2**18 and self.limit < LIMIT, "table of steps")
        self.rows = 2**(log(self.channels) + log(n))
        need(self.rows <= 2**18, "table of steps")
        self.thresholds = [[b.number("i") for _ in range(n + 1)] for _ in range(self.channels)]
        for t in self.thresholds:
            need(t[0] == -self.limit and t[-1] == self.limit + 1 and t == sorted(t), "thresholds")


class Op:
    def __init__(self, b):
        self.type = b.u8()
        if self.type == LINEAR:
            self.out, self.const = b.u32(), b.i64()
            self.terms = [(b.i64(), b.u32()) for _ in range(b.u32())]
        elif self.type == LOOKUP:
            self.x, self.out, self.rem, self.shift, self.table = b.u32(), b.u32(), b.u32(), b.u8(), b.u32()
        elif self.type == EINSUM:
            self.a, self.b, self.out = b.u32(), b.u32(), b.u32()
            self.al, self.bl, self.ol = b.small(), b.small(), b.small()
        elif self.type == PAIR:
            self.a, self.b, self.out, self.table = b.u32(), b.u32(), b.u32(), b.u32()
        elif self.type == THRESHOLD:
            self.x, self.out = b.u32(), b.u32()
            self.limbs = [b.u32() for _ in range(4)]  # of D, then of E, the low one first
            self.axis, self.table = b.number("i"), b.u32()
        elif self.type == REARRANGE:
            self.x, self.out = b.u32(), b.u32()
            n = b.u8()
            need(n <= 8, "maps")
            self.maps = []
            for _ in range(n):
                axis, shape = b.u8(), b.shape()
                index = [b.varint() - 1 for _ in range(product(shape))] if b.flag() else None
                self.maps.append((axis, shape, index))
            self.perm = b.small()
        elif self.type == EMBED:
            self.tokens, self.w, self.out = b.u32(), b.u32(), b.u32()
        else:
            need(self.type == RESHAPE, "operation")
            self.x, self.out = b.u32(), b.u32()


def common(tensors):
    """The least shape that all repeat to."""
    shape = []
    for t in tensors:
        n = max(len(shape), len(t.shape))
        pairs = list(zip([1] * (n - len(shape)) + shape, [1] * (n - len(t.shape)) + t.shape))
        need(all(a == b or 1 in (a, b) for a, b in pairs), "linear shape")
        shape = [max(a, b) for a, b in pairs]
    return shape


def einsum(op, a, b):
    """Shape and bounds of a sum of products, or of entries if b is None."""
    extent = {}
    for labels, t in ((op.al, a), (op.bl, b)):
        need(len(labels) == (len(t.shape) if t else 0) and len(set(labels)) == len(labels), "labels")
        for l, d in zip(labels, t.shape if t else []):
            need(l < 26 and extent.setdefault(l, d) == d, "label")
    need(len(set(op.ol)) == len(op.ol) and all(l in extent for l in op.ol), "labels of the result")
    count = 1
    for l, d in extent.items():
        if l not in op.ol:
            need(b is None or l in op.al and l in op.bl, "label summed in one operand")
            count *= d
    ends = [a.lo, a.hi] if b is None else [u * v for u in (a.lo, a.hi) for v in (b.lo, b.hi)]
    if b is not None and op.a == op.b and op.al == op.bl:
        ends = [a.lo**2, a.hi**2, 0 if a.lo <= 0 <= a.hi else a.lo**2]
    return [extent[l] for l in op.ol], count * min(ends), count * max(ends)


def rearrange(op, x):
    """Shape and bounds of a rearranged tensor."""
    need(sorted(m[0] for m in op.maps) == list(range(len(x.shape))), "maps")
    axes, lo, hi = [], x.lo, x.hi
    for axis, shape, index in op.maps:
        if index is None:
            need(shape == [x.shape[axis]], "map")
        else:
            need(all(-1 <= i < x.shape[axis] for i in index), "map")
            lo, hi = min(lo, 0), max(hi, 0)
        axes += shape
    if op.perm:
        plain = list(range(len(axes)))
        need(sorted(op.perm) == plain and op.perm != plain, "permutation")
        axes = [axes[k] for k in op.perm]
    return axes, lo, hi


class Program:
    def __init__(self, data):
        self.digest = hashlib.sha256(data).digest()
        b = Bytes(data)
        b.magic(b"ZKWPROG\n", 2)
        self.name = b.text()
        self.tensors = [Tensor(b) for _ in range(b.u32())]
        self.tables = [Table(b) for _ in range(b.u32())]
        self.ops = [Op(b) for _ in range(b.u32())]
        self.inputs = [b.u32() for _ in range(b.u32())]
        self.outputs = [b.u32() for _ in range(b.u32())]
        last = b.u8(), b.number("i"), b.u8(), b.flag(), b.flag()
        need(last[0] <= 2 and (len(self.outputs) == 1 or last == (0, -1, 0, False, False)), "last step")
        for _ in range(b.u32()):
            b.text()
        b.end()
        self.params = [i for i, t in enumerate(self.tensors) if t.kind == PARAM]
        self.secret_inputs, self.secret_outputs = [], []  # those that a key has committed
        self.lookups = [o for o in self.ops if o.type == LOOKUP]
        self.maker = {}
        self.validate()

    def validate(self):
        """Derives every shape, kind and pair of bounds anew."""
        ts = self.tensors
        have = {i for i, t in enumerate(ts) if t.kind in (INPUT, PARAM)}
        need([i for i, t in enumerate(ts) if t.kind == INPUT] == sorted(self.inputs) and self.inputs, "inputs")
        for i in have:
            t = ts[i]
            need(t.lo <= 0 <= t.hi, "zero in bounds")
            need(t.kind == INPUT or t.lo == -t.hi - 1 and t.hi + 1 == 2**log(t.hi + 1), "parameter bounds")
        used = set()

        def read(i):
            need(i in have, "use before definition")
            used.add(i)
            return ts[i]

        def define(i, op, kind, shape, lo, hi):
            need(i < len(ts) and i not in have, "defined once")
            t = ts[i]
            need((t.kind, t.shape, t.lo, t.hi) == (kind, shape, lo, hi), "derived tensor " + t.name)
            have.add(i)
            self.maker[i] = op

        for op in self.ops:
            if op.type == LINEAR:
                lo, hi, own = op.const, op.const, [read(i) for _, i in op.terms]
                shape = common(own)
                need(1 <= len(op.terms) <= 1024 and abs(op.const) < LIMIT, "linear")
                need(any(t.kind != PARAM for t in own), "linear")
                for (c, _), t in zip(op.terms, own):
                    need(c != 0 and abs(c) < LIMIT, "coefficient")
                    lo, hi = lo + min(c * t.lo, c * t.hi), hi + max(c * t.lo, c * t.hi)
                define(op.out, op, VIRTUAL, shape, lo, hi)
            elif op.type == LOOKUP:
                x = read(op.x)
                need(op.table < len(self.tables) and op.shift <= 16, "lookup")
                tab = self.tables[op.table]
                need(tab.kind == UNARY and x.kind != PARAM, "lookup")
                half = 2**op.shift // 2
                need(op.shift + tab.bits <= 30, "lookup window")
                need(max(-x.lo, x.hi) + half < 2**(op.shift + tab.bits - 1), "lookup window")
                define(op.out, op, COLUMN, x.shape, tab.lo, tab.hi)
                need((op.shift == 0) == (op.rem == NONE), "remainder")
                if op.shift:
                    define(op.rem, op, COLUMN, x.shape, 0, 2**op.shift - 1)
                    used.add(op.rem)
            elif op.type == EINSUM:
                a, b = read(op.a), None if op.b == NONE else read(op.b)
                need(a.kind != PARAM or b and b.kind != PARAM, "einsum of parameters")
                define(op.out, op, VIRTUAL, *einsum(op, a, b))
            elif op.type == PAIR:
                a, b = read(op.a), read(op.b)
                need(op.table < len(self.tables) and a.shape == b.shape, "pair")
                need(not a.kind == b.kind == PARAM, "pair of parameters")
                tab = self.tables[op.table]
                need(tab.kind == BINARY, "pair")
                for t, bits in ((a, tab.bits), (b, tab.bits2)):
                    need(-2**(bits - 1) <= t.lo and t.hi < 2**(bits - 1), "pair domain")
                define(op.out, op, COLUMN, a.shape, tab.lo, tab.hi)
            elif op.type == THRESHOLD:
                x = read(op.x)
                need(op.table < len(self.tables) and x.kind != PARAM, "threshold")
                tab = self.tables[op.table]
                need(tab.kind == STEPS and max(-x.lo, x.hi) <= tab.limit, "threshold")
                need(-1 <= op.axis < len(x.shape), "threshold axis")
                need(tab.channels == (1 if op.axis < 0 else x.shape[op.axis]), "channels")
                define(op.out, op, COLUMN, x.shape, tab.lo, tab.hi)
                for i, bits in zip(op.limbs, (16, 14, 16, 14)):
                    define(i, op, COLUMN, x.shape, 0, 2**bits - 1)
                    used.add(i)
            elif op.type == REARRANGE:
                x = read(op.x)
                need(x.kind != PARAM, "rearrange")
                define(op.out, op, VIRTUAL, *rearrange(op, x))
            elif op.type == EMBED:
                x, w = read(op.tokens), read(op.w)
                need(x.kind == INPUT and w.kind == PARAM and len(w.shape) == 2, "embed")
                need(0 <= x.lo and x.hi < w.shape[0], "tokens")
                define(op.out, op, VIRTUAL, x.shape + [w.shape[1]], w.lo, w.hi)
            else:
                x = read(op.x)
                need(x.kind != PARAM and product(x.shape) == product(ts[op.out].shape), "reshape")
                define(op.out, op, VIRTUAL, ts[op.out].shape, min(x.lo, 0), max(x.hi, 0))
        need(self.outputs and len(set(self.outputs)) == len(self.outputs), "outputs")
        need(all(i in self.maker for i in self.outputs), "outputs")
        need(used | set(self.outputs) == have == set(range(len(ts))), "unused tensor")
        looked = {o.table for o in self.ops if o.type in (LOOKUP, PAIR, THRESHOLD)}
        need(looked == set(range(len(self.tables))), "unused table")

    def weights(self, data):
        """Decodes weights: a list of values for each parameter."""
        b = Bytes(data)
        b.magic(b"ZKWWGHT\n", 2)
        need(b.take(32) == self.digest, "weights of another program")
        out = {}
        for i in self.params:
            t = self.tensors[i]
            form = {1: "b", 2: "h", 4: "i"}[width(t.lo, t.hi)]
            out[i] = [b.number(form) for _ in range(product(t.shape))]
            need(all(t.lo <= v <= t.hi for v in out[i]), "weights")
        b.end()
        return out

    def free(self, op):
        """Whether a reshape leaves every element where it is."""
        def normal(shape):
            out = []
            for d in shape:
                if d == 1:
                    continue
                if out and d & (d - 1) == 0:
                    out[-1] *= d
                else:
                    out.append(d)
            return out
        return normal(self.tensors[op.x].shape) == normal(self.tensors[op.out].shape)

    def home(self, i):
        """The tensor that i is an equal layout of."""
        op = self.maker.get(i)
        while op and op.type == RESHAPE and self.free(op):
            i = op.x
            op = self.maker.get(i)
        return i


class Params:
    """A commitment's parameters."""

    def __init__(self, data):
        need(len(data) % 4 == 1, "parameters")
        self.n, self.numbers = data[0], list(struct.unpack("<%dI" % (len(data) // 4), data[1:]))
        need(self.numbers[0] == 1 and len(self.numbers) == 10 + 7 * self.numbers[9], "parameters")
        need(self.numbers[3] == max(self.n - 1, 1), "parameters")


class Key:
    def __init__(self, data):
        b = Bytes(data)
        b.magic(b"ZKWVKEY\n", 6)
        self.digest, core, self.proof = b.take(32), b.blob(), b.blob()
        b.end()
        need(hashlib.sha256(b"zkwarp verifying key\n" + core).digest() == self.digest, "key digest")
        b = Bytes(core)
        self.public = b.flag()
        g = self.program = Program(b.blob())
        numbers = [[b.u32() for _ in range(b.u8())] for _ in range(2)]
        need(sum(map(len, numbers)) <= 64, "committed tensors")
        for own, of in zip(numbers, (g.inputs, g.outputs)):
            need(own == sorted(set(own)) and all(i < len(of) for i in own), "committed tensors")
        g.secret_inputs, g.secret_outputs = ([of[i] for i in own] for own, of in zip(numbers, (g.inputs, g.outputs)))
        self.weights = b.take(32)
        self.committed = bool(self.program.params) and not self.public
        self.root = b.words(8) if self.committed else None
        self.settings = []
        for n in (3 + len(numbers[0]) + len(numbers[1]), 3):
            bits = b.u8()
            parts = [b.blob() for _ in range(n)]
            self.settings.append((bits, [Params(p) if p else None for p in parts]))
        need(all(p is not None and p.numbers[10] >= 3 for p in self.settings[0][1][3:]), "salted rows")
        b.end()
