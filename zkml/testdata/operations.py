"""What each operation of a program contributes to a proof, written from
docs/zkml.md: leaves of the lookups, relations, and sum-checks with their public
factors."""
from argument import ONE, ZERO, Block, Claim, check, eqs, lift, row, weigh
from program import (BINARY, EINSUM, EMBED, LINEAR, LOOKUP, NONE, P, PAIR, PARAM, REARRANGE, RESHAPE, STEPS,
                     THRESHOLD, log, product)

LIMBS = (16, 14)
LOOKS = (LOOKUP, PAIR, THRESHOLD)


def windows(g, i):
    """Windows whose intersection is a tensor's bounds: where they begin, their
    bits, and the bits of limbs unless entries are looked up as they are. Tokens
    have one more, of single bits."""
    t = g.tensors[i]
    k = max(1, log(t.hi - t.lo + 1))
    limbs = None
    if k > 12 and (k > 16 or t.vars < k):
        count = -(-k // 12)
        size = -(-k // count)
        limbs = [min(size, k - j * size) for j in range(count)]
    firsts = [t.lo] if t.hi - t.lo + 1 == 2**k else [t.lo, t.hi + 1 - 2**k]
    out = [(first, k, limbs) for first in firsts]
    n = max([0] + [g.tensors[o.w].axes[0] for o in g.ops if o.type == EMBED and o.tokens == i])
    return out + [(0, n, [1] * n)] if n else out


def limbs(g):
    """Polynomials of the limbs of committed inputs with their variables."""
    return [(("l", i, w, j), g.tensors[i].vars) for i in g.secret_inputs
            for w, (_, _, sizes) in enumerate(windows(g, i)) for j in range(len(sizes or []))]


def ranges(g):
    """Bits of the range tables."""
    out = {o.shift for o in g.ops if o.type == LOOKUP and o.shift}
    if any(o.type == THRESHOLD for o in g.ops):
        out |= set(LIMBS)
    for i in g.secret_inputs:
        for _, k, sizes in windows(g, i):
            out |= set(sizes or [k])
    return sorted(out)


def columns(table):
    """What makes the columns of a table at a point."""
    def index(lo, first, bits):
        return lambda at: row(lo, bits, at[first:first + bits])

    def listed(values):
        return lambda at: weigh(eqs(at), enumerate(values))
    if table.kind == BINARY:
        a, b = table.bits, table.bits2
        return [index(-2**(a - 1), 0, a), index(-2**(b - 1), a, b), listed(table.values)]
    if table.kind == STEPS:
        channel, n = log(table.channels), log(table.hi - table.lo + 1)
        rows = []
        for c in range(2**channel):
            t = table.thresholds[c if c < table.channels else 0]
            steps = [(table.lo + i, t[i], t[i + 1]) for i in range(len(t) - 1)]
            first = next(s for s in steps if s[1] < s[2])
            rows += [s if s[1] < s[2] else first for s in steps] + [first] * (2**n - len(steps))
        return [index(0, 0, channel)] + [listed([r[k] for r in rows]) for k in range(3)]
    return [index(-2**(table.bits - 1), 0, table.bits), listed(table.values)]


def bits(table):
    return log(table.rows)


def width(g):
    """The most columns of any table."""
    return max([1] + [len(columns(t)) for t in g.tables])


def blocks(g):
    """The leaves of all lookups, as a function of alpha and beta."""
    sizes = ranges(g)

    def make(alpha, beta):
        out = []

        def fraction(n, tag, values):
            d, power = alpha - lift(tag), beta
            for v in values:
                d, power = d - power * v, power * beta
            return n, d

        def look(vars, tag, needs, values):
            """needs are tensors; values makes a tuple of their evaluations and
            the point."""
            out.append(Block(vars, [("t", i) for i in needs],
                             lambda v, at: fraction(ONE, tag, values(dict(zip(needs, v)), at))))

        def inside(vars, size, poly, first=0):
            tag = len(g.tables) + sizes.index(size) + 1
            out.append(Block(vars, [poly], lambda v, at: fraction(ONE, tag, [v[0] - lift(first)])))

        def within(vars, size, i):
            inside(vars, size, ("t", i))
        for op in g.ops:
            if op.type not in LOOKS:
                continue
            t = g.tensors[op.out]
            if op.type == LOOKUP:
                x, rem = g.home(op.x), [op.rem] if op.shift else []

                def quotient(v, at, op=op, x=x):
                    if op.shift == 0:
                        return [v[x], v[op.out]]
                    q = v[x] + lift(2**(op.shift - 1)) - v[op.rem]
                    return [q * lift(pow(2**op.shift, P - 2, P)), v[op.out]]
                look(t.vars, op.table + 1, [x] + rem + [op.out], quotient)
                for r in rem:
                    within(t.vars, op.shift, r)
            elif op.type == PAIR:
                needs = [g.home(op.a), g.home(op.b), op.out]
                look(t.vars, op.table + 1, needs, lambda v, at, needs=needs: [v[i] for i in needs])
            else:
                def bucket(v, at, op=op, x=g.home(op.x), axes=t.axes):
                    d = v[op.limbs[0]] + lift(2**16) * v[op.limbs[1]]
                    e = v[op.limbs[2]] + lift(2**16) * v[op.limbs[3]]
                    channel = ZERO
                    if op.axis >= 0:
                        first = sum(axes[:op.axis])
                        channel = row(0, axes[op.axis], at[first:first + axes[op.axis]])
                    return [channel, v[op.out], v[x] - d, v[x] + e + ONE]
                x = g.home(op.x)
                look(t.vars, op.table + 1, [op.out, x] + op.limbs, bucket)
                for i, size in zip(op.limbs, LIMBS + LIMBS):
                    within(t.vars, size, i)
        for i in g.secret_inputs:
            vars = g.tensors[i].vars
            for w, (first, k, parts) in enumerate(windows(g, i)):
                if parts is None:
                    inside(vars, k, ("t", i), first)
                for j, size in enumerate(parts or []):
                    inside(vars, size, ("l", i, w, j))
        for k, (size, made) in enumerate([(bits(t), columns(t)) for t in g.tables] + [(s, None) for s in sizes]):
            def entry(v, at, k=k, size=size, made=made):
                values = [c(at) for c in made] if made else [row(0, size, at)]
                return fraction(ZERO - v[0], k + 1, values)
            out.append(Block(size, [("m", k)], entry))
        return out
    return make


def split(point, axes):
    """A point's coordinates, axis by axis."""
    out, at = [], 0
    for n in axes:
        out.append(tuple(point[at:at + n]))
        at += n
    return out


def join(parts):
    return tuple(c for p in parts for c in p)


def positions(shape):
    """The indices of elements in the padded layout, in order."""
    out = [0]
    for d in shape:
        out = [(i << log(d)) + j for i in out for j in range(d)]
    return out


def below(n, at):
    """The extension of [index < n]."""
    return ONE if n >= 2**len(at) else weigh(eqs(at), ((j, 1) for j in range(n)))


def related(point, at, pairs):
    """The sum over pairs of eq(point, first) eq(at, second)."""
    here, there, total = eqs(point), eqs(at), ZERO
    for i, j in pairs:
        total = total + here[i] * there[j]
    return total


class Reduction:
    """Expands evaluations of virtual tensors. public has the values of inputs."""

    def __init__(self, a, g, public):
        self.a, self.g, self.public = a, g, public

    def job(self, vars, value, factors, public=None, point=None):
        """A sum-check. factors are tensors, or one-hot polynomials, with what
        makes their points of the one that is bound; public makes the public
        factor's value."""
        n = len(factors) + (public is not None)

        def finish(at, es):
            at, es = tuple(at), list(es)
            if public is not None:
                check(public(at) == es.pop(0), "public factor")
            for (i, where), e in zip(factors, es):
                self.a.put(i if isinstance(i, tuple) else ("t", self.g.home(i)), where(at), e, "sum-check")
        return Claim(vars, [(ONE, tuple(range(n)))], value, point), finish

    def expand(self, op, key):
        """Returns what makes a virtual tensor: None, or terms (coefficient,
        tensor, point) and a constant, or a job."""
        (_, i), point = key
        value, out = self.a.known[key], self.g.tensors[i]
        parts = split(point, out.axes)
        if op.type == LINEAR:
            terms = []
            for coef, term in op.terms:
                own = self.g.tensors[term].axes
                mine = parts[len(parts) - len(own):]
                terms.append((coef, term, join(p if n else () for p, n in zip(mine, own))))
            return terms, op.const
        if op.type == EINSUM:
            return self.contract(op.a, op.b, op.al, op.bl, op.ol, parts, value)
        if op.type == REARRANGE:
            return self.rearrange(op, parts, value)
        if op.type == EMBED:
            tokens, w = self.g.tensors[op.tokens], self.g.tensors[op.w]
            r, rest = tuple(point[:tokens.vars]), tuple(point[tokens.vars:])
            if op.tokens in self.g.secret_inputs:
                if w.axes[0] > 0:
                    hot = ("h", op.tokens, 0, w.axes[0], True)
                    return self.job(w.axes[0], value, [(hot, lambda at: r + at), (op.w, lambda at: at + rest)])
                pairs = [(o, 0) for o in tokens.positions()]
            else:
                pairs = list(zip(tokens.positions(), self.public[op.tokens]))
            return self.job(w.axes[0], value, [(op.w, lambda at: at + rest)], lambda at: related(r, at, pairs))
        if op.type == RESHAPE:
            x = self.g.tensors[op.x]
            pairs = list(zip(out.positions(), x.positions()))
            return self.job(x.vars, value, [(op.x, lambda at: at)], lambda at: related(point, at, pairs))
        return None

    def one_hot(self, key):
        """The same for an evaluation of a one-hot polynomial."""
        (_, i, first, bits, real), point = key
        t = self.g.tensors[i]
        r, z = tuple(point[:t.vars]), tuple(point[t.vars:])
        if bits == 1 and not real:
            w = len(windows(self.g, i)) - 1
            return [(z[0] + z[0] - ONE, ("l", i, w, first), r)], ONE - z[0]
        low = bits // 2
        cut = [(first + low, bits - low, z[:bits - low])] + ([(first, low, z[bits - low:])] if low else [])
        factors = [(("h", i, begin, n, False), lambda at, own=own: at + own) for begin, n, own in cut]
        if real:
            return self.job(t.vars, self.a.known[key], factors, lambda at: related(r, at, ((j, j) for j in t.positions())))
        return self.job(t.vars, self.a.known[key], factors, point=r)

    def contract(self, x, y, xl, yl, ol, parts, value):
        a, b = self.g.tensors[x], None if y == NONE else self.g.tensors[y]
        size = dict(zip(xl, a.axes))
        extent = dict(zip(xl, a.shape))
        claim = dict(zip(ol, parts))
        batch = [l for l in xl if l in yl and l in ol]
        summed = [l for l in xl if l not in ol]
        params = PARAM in (a.kind, b and b.kind)
        guards = [l for l in summed if extent[l] & (extent[l] - 1) and not params]
        bound = batch + summed

        def where(labels):
            def at(z):
                own = dict(zip(bound, split(z, [size[l] for l in bound])))
                return join(own.get(l, claim.get(l)) for l in labels)
            return at

        def public(z):
            own = dict(zip(bound, split(z, [size[l] for l in bound])))
            total = ONE
            for l in batch:
                total = total * related(claim[l], own[l], ((j, j) for j in range(2**size[l])))
            for l in guards:
                total = total * below(extent[l], own[l])
            return total
        factors = [(x, where(xl))] + ([] if b is None else [(y, where(yl))])
        vars = sum(size[l] for l in bound)
        if batch and not summed:
            return self.job(vars, value, factors, point=join(claim[l] for l in batch))
        return self.job(vars, value, factors, public if b is None or batch or guards else None)

    def rearrange(self, op, parts, value):
        before = list(parts)
        for i, k in enumerate(op.perm):
            before[k] = parts[i]
        groups = {}
        for axis, shape, index in op.maps:
            groups[axis] = join(before[:len(shape)]), shape, index
            before = before[len(shape):]
        x = self.g.tensors[op.x]
        mapped = [a for a in range(len(x.axes)) if groups[a][2] is not None]
        if not mapped:
            return [(1, op.x, join(groups[a][0] for a in range(len(x.axes))))], 0
        sizes = [x.axes[a] for a in mapped]

        def where(z):
            own = dict(zip(mapped, split(z, sizes)))
            return join(own.get(a, groups[a][0]) for a in range(len(x.axes)))

        def public(z):
            total = ONE
            for a, at in zip(mapped, split(z, sizes)):
                r, shape, index = groups[a]
                total = total * related(r, at, [(o, i) for o, i in zip(positions(shape), index) if i >= 0])
            return total
        return self.job(sum(sizes), value, [(op.x, where)], public)


def bound(reduce, i, at, value):
    """The sum-check of a padded output: its real elements, and what is stated."""
    t = reduce.g.tensors[i]
    return reduce.job(t.vars, value, [(i, lambda z: z)], lambda z: related(at, z, ((j, j) for j in t.positions())))


def last(binding, t):
    return tuple(binding[len(binding) - t.vars:])


def given(a, g, values, binding):
    """The evaluations of outputs without padding that come from values alone."""
    out = []
    for i in g.outputs:
        t = g.tensors[i]
        if not t.padded and i in values:
            out.append((("t", g.home(i)), last(binding, t)))
            a.put(*out[-1], weigh(eqs(out[-1][1]), zip(t.positions(), values[i])), "output binding")
    return out


def statement(a, g, values, binding, rho):
    """Begins the first layer. Returns jobs, what was sent, and the number of
    relations."""
    reduce, jobs, sent, relations = Reduction(a, g, {}), [], [], 0
    for i in g.outputs:
        t, copy = g.tensors[i], ("c", i)
        at = last(binding, t)
        if i in g.secret_outputs:
            sent += a.fetch([(copy, at)])
            if t.padded:
                jobs.append(bound(reduce, i, at, a.value(copy, at)))
                continue
            out = ("t", g.home(i))
            sent += a.fetch([(out, at)])
            check(a.value(copy, at) == a.value(out, at), "output binding")
            relations += 1
        elif t.padded:
            jobs.append(bound(reduce, i, at, weigh(eqs(at), zip(t.positions(), values[i]))))
    sums, zeros = 0, 0
    for poly, i in [(("t", i), i) for i in g.secret_inputs] + [(("c", i), i) for i in g.secret_outputs]:
        t = g.tensors[i]
        for w, (first, _, sizes) in enumerate(windows(g, i) if poly[0] == "t" else []):
            if sizes is None:
                continue
            at = tuple(rho[len(rho) - t.vars:])
            sent += a.fetch([(poly, at)])
            total, shift = lift(first), 0
            for j, size in enumerate(sizes):
                total = total + lift(2**shift) * a.value(("l", i, w, j), at)
                shift += size
            check(total == a.value(poly, at), "linear relation")
            relations += 1
            sums += t.vars
        if t.padded:
            def zero(at, es, poly=poly, t=t):
                check(ONE - weigh(eqs(at), ((j, 1) for j in t.positions())) == es[0], "public factor")
                a.put(poly, at, es[1], "sum-check")
            jobs.append((Claim(t.vars, [(ONE, (0, 1))], ZERO, last(binding, t)), zero))
            zeros += 1
    if sums:
        a.log("limbs", sums)
    if zeros:
        a.log("zero padding", zeros * len(binding))
    return jobs, sent, relations


def parted(g, tensors, v):
    """Values cut into those of tensors."""
    out = {}
    for i in tensors:
        n = product(g.tensors[i].shape)
        out[i], v = v[:n], v[n:]
    return out if not v else None
