"""Programs and verifying keys as bytes, written from docs/integer-program.md and
docs/zkml.md. Decoding is strict; a program's shapes and bounds are derived
again. It shares no code with the Go implementation."""
import hashlib
import struct

P = 2**31 - 1
INPUT, PARAM, COLUMN, VIRTUAL = range(4)
MATMUL, LINEAR, LOOKUP, RESHAPE = range(1, 5)
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
        rank = b.u8()
        need(rank <= 8, "rank")
        self.shape = [b.u32() for _ in range(rank)]
        need(all(d > 0 for d in self.shape), "axis length")
        self.lo, self.hi, self.scale = b.i64(), b.i64(), b.number("d")
        need(-LIMIT < self.lo <= self.hi < LIMIT, "bounds")
        need(0 < self.scale < float("inf"), "scale")
        self.axes = [log(d) for d in self.shape]
        self.vars = sum(self.axes)
        need(self.vars <= 28, "tensor size")
        self.padded = any(d & (d - 1) for d in self.shape)

    def positions(self):
        """The real elements' indices in the padded layout, in order."""
        out = [0]
        for d, a in zip(self.shape, self.axes):
            out = [(i << a) + j for i in out for j in range(d)]
        return out


class Table:
    def __init__(self, b):
        self.name, self.kind, self.bits, self.bits2, self.lo, self.hi = b.text(), b.u8(), b.u8(), b.u8(), b.i64(), b.i64()
        need(self.kind == 0 and self.bits2 == 0, "table kind")
        need(1 <= self.bits <= 18 and -LIMIT < self.lo <= self.hi < LIMIT, "table")
        clamp = [min(max(q, self.lo), self.hi) for q in range(-2**(self.bits - 1), 2**(self.bits - 1))]
        if b.flag():
            form = {1: "b", 2: "h", 4: "i"}[width(self.lo, self.hi)]
            self.values = [b.number(form) for _ in clamp]
            need(self.values != clamp, "table is a clamp")
        else:
            self.values = clamp
        need((min(self.values), max(self.values)) == (self.lo, self.hi), "table range")


class Op:
    def __init__(self, b):
        self.type = b.u8()
        if self.type == MATMUL:
            self.x, self.w, self.out, self.trans = b.u32(), b.u32(), b.u32(), b.flag()
        elif self.type == LINEAR:
            self.out, self.const = b.u32(), b.i64()
            self.terms = [(b.i64(), b.u32()) for _ in range(b.u32())]
        elif self.type == LOOKUP:
            self.x, self.out, self.rem, self.shift, self.table = b.u32(), b.u32(), b.u32(), b.u8(), b.u32()
        else:
            need(self.type == RESHAPE, "operation")
            self.x, self.out = b.u32(), b.u32()


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
        need(len(self.inputs) == len(self.outputs) == 1, "one input and one output")
        self.input, self.output = self.inputs[0], self.outputs[0]
        need(b.u8() <= 2, "last step")
        b.number("i"), b.u8(), b.flag(), b.flag()
        for _ in range(b.u32()):
            b.text()
        b.end()
        self.params = [i for i, t in enumerate(self.tensors) if t.kind == PARAM]
        self.lookups = [o for o in self.ops if o.type == LOOKUP]
        self.maker = {}
        self.validate()

    def validate(self):
        """Derives every shape, kind and pair of bounds anew."""
        ts = self.tensors
        have = {i for i, t in enumerate(ts) if t.kind in (INPUT, PARAM)}
        need([i for i, t in enumerate(ts) if t.kind == INPUT] == [self.input], "one input")
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
            if op.type == MATMUL:
                x, w = read(op.x), read(op.w)
                need(w.kind == PARAM and len(w.shape) == 2 and x.shape, "product")
                k, j = w.shape[::-1] if op.trans else w.shape
                need(x.shape[-1] == k, "product")
                ends = [k * a * b for a in (x.lo, x.hi) for b in (w.lo, w.hi)]
                define(op.out, op, VIRTUAL, x.shape[:-1] + [j], min(ends), max(ends))
            elif op.type == LINEAR:
                shape, lo, hi = ts[op.out].shape, op.const, op.const
                need(1 <= len(op.terms) <= 1024 and abs(op.const) < LIMIT, "linear")
                for c, i in op.terms:
                    t = read(i)
                    need(c != 0 and abs(c) < LIMIT, "coefficient")
                    own = [1] * (len(shape) - len(t.shape)) + t.shape
                    need(t.shape == shape or t.kind == PARAM and len(own) == len(shape)
                         and all(a in (1, b) for a, b in zip(own, shape)), "linear shape")
                    lo, hi = lo + min(c * t.lo, c * t.hi), hi + max(c * t.lo, c * t.hi)
                define(op.out, op, VIRTUAL, shape, lo, hi)
            elif op.type == LOOKUP:
                x = read(op.x)
                need(op.table < len(self.tables) and op.shift <= 16, "lookup")
                tab = self.tables[op.table]
                half = 2**op.shift // 2
                need(op.shift + tab.bits <= 30, "lookup window")
                need(max(-x.lo, x.hi) + half < 2**(op.shift + tab.bits - 1), "lookup window")
                define(op.out, op, COLUMN, x.shape, tab.lo, tab.hi)
                need((op.shift == 0) == (op.rem == NONE), "remainder")
                if op.shift:
                    define(op.rem, op, COLUMN, x.shape, 0, 2**op.shift - 1)
                    used.add(op.rem)
            else:
                x = read(op.x)
                need(product(x.shape) == product(ts[op.out].shape), "reshape")
                define(op.out, op, VIRTUAL, ts[op.out].shape, x.lo, x.hi)
        need(self.output in self.maker, "output")
        need(used | {self.output} == have == set(range(len(ts))), "unused tensor")
        need({o.table for o in self.lookups} == set(range(len(self.tables))), "unused table")

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
        b.magic(b"ZKWVKEY\n", 2)
        self.digest, core, self.proof = b.take(32), b.blob(), b.blob()
        b.end()
        need(hashlib.sha256(b"zkwarp verifying key\n" + core).digest() == self.digest, "key digest")
        b = Bytes(core)
        self.public = b.flag()
        self.program = Program(b.blob())
        self.weights = b.take(32)
        self.committed = bool(self.program.params) and not self.public
        self.root = b.words(8) if self.committed else None
        self.settings = [(b.u8(), [Params(p) if p else None for p in (b.blob(), b.blob(), b.blob())])
                         for _ in range(2)]
        b.end()
