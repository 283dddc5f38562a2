#!/usr/bin/env python3
"""Verifies proofs about integer programs. It shares no code with the Go
implementation: it is written from the chapters of docs/protocol.md, and takes
transcript and openings from the scripts of those chapters.

    verify.py CASES.json

CASES is a list of objects with key, proof, context and, for keys with public
weights, weights (hex), x and y (integers), and what to expect: check, the name
of the failed check or empty if the proof is right, and sum, the union sum of the
key's security report, which is computed here as well."""
import hashlib
import json
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from argument import (ONE, ZERO, Argument, Block, Claim, Rejected, Stack, challenge, check, eq, eqs,  # noqa: E402
                      flat, lift, row, weigh)
from program import LINEAR, MATMUL, P, RESHAPE, Key  # noqa: E402
import security  # noqa: E402
from weights import key_proof  # noqa: E402


def inference_blocks(g, tables, ranges):
    def make(alpha, beta):
        blocks = []
        for op in g.lookups:
            shift = op.shift
            rem = [("t", op.rem)] if shift else []

            def pair(v, at, shift=shift, tag=op.table + 1):
                q = v[0]
                if shift:
                    q = (v[0] + lift(2**(shift - 1)) - v[1]) * lift(pow(2**shift, P - 2, P))
                return ONE, alpha - lift(tag) - beta * q - beta * beta * v[-1]
            vars = g.tensors[op.x].vars
            blocks.append(Block(vars, [("t", g.home(op.x))] + rem + [("t", op.out)], pair))
            if shift:
                tag = len(tables) + ranges.index(shift) + 1
                blocks.append(Block(vars, rem, lambda v, at, tag=tag: (ONE, alpha - lift(tag) - beta * v[0])))
        for k, tab in enumerate(tables):
            def entry(v, at, tab=tab, tag=k + 1):
                y = weigh(eqs(at), enumerate(tab.values))
                return ZERO - v[0], alpha - lift(tag) - beta * row(-2**(tab.bits - 1), tab.bits, at) - beta * beta * y
            blocks.append(Block(tab.bits, [("m", k)], entry))
        for k, s in enumerate(ranges):
            def entry(v, at, s=s, tag=len(tables) + k + 1):
                return ZERO - v[0], alpha - lift(tag) - beta * row(0, s, at)
            blocks.append(Block(s, [("m", len(tables) + k)], entry))
        return blocks
    return make


def split(point, axes):
    """A point's coordinates, axis by axis."""
    out, at = [], 0
    for a in axes:
        out.append(tuple(point[at:at + a]))
        at += a
    return out


def join(parts):
    return tuple(c for p in parts for c in p)


def layer(a, g, first, given):
    """One step of T7; first is the binding of a padded output, if any, and given
    the evaluation that comes from y, if any. Returns whether there was anything
    to do."""
    jobs, sent, relations = list(first), [], 0
    while a.queue:
        key = a.queue.pop(0)
        (kind, i), point = key
        op = g.maker.get(i) if kind == "t" else None
        if op is None or op.type not in (MATMUL, LINEAR, RESHAPE):
            continue
        value, tensor = a.known[key], g.tensors[i]
        parts = split(point, tensor.axes)
        if op.type == LINEAR:
            total = lift(op.const)
            for coef, term in op.terms:
                own = g.tensors[term].axes
                mine = parts[len(parts) - len(own):]
                where = join(p if n else () for p, n in zip(mine, own))
                poly = ("t", g.home(term))
                sent += a.fetch([(poly, where)])
                total = total + lift(coef) * a.value(poly, where)
            check(total == value, "output binding" if key == given else "linear relation")
            relations += 1
        elif op.type == MATMUL:
            def product(at, es, op=op, left=join(parts[:-1]), right=parts[-1]):
                a.put(("t", g.home(op.x)), left + tuple(at), es[0], "sum-check")
                a.put(("t", op.w), right + tuple(at) if op.trans else tuple(at) + right, es[1], "sum-check")
            jobs.append((Claim(g.tensors[op.x].axes[-1], [(ONE, (0, 1))], value), product))
        else:
            def moved(at, es, op=op, point=point):
                source = g.tensors[op.x]
                here, there, w = eqs(at), eqs(point), ZERO
                for s, d in zip(source.positions(), g.tensors[op.out].positions()):
                    w = w + here[s] * there[d]
                check(w == es[0], "public factor")
                a.put(("t", g.home(op.x)), at, es[1], "sum-check")
            jobs.append((Claim(g.tensors[op.x].vars, [(ONE, (0, 1))], value), moved))
    if sent:
        a.t.absorb(flat(sent))
    if jobs:
        a.batch(jobs)
    return bool(jobs) or relations > 0


def public(key, data):
    """The evaluation of the stack of public weights."""
    check(data is not None and hashlib.sha256(data).digest() == key.weights, "weights digest")
    values = key.program.weights(data)

    def evaluate(stack, at):
        total = ZERO
        for (_, i), (_, vars) in stack.place.items():
            p = stack.prefix(("t", i))
            own = weigh(eqs(at[len(p):]), zip(key.program.tensors[i].positions(), values[i]))
            total = total + eq(p, at[:len(p)]) * own
        return total
    return evaluate


def inference(key, x, y, data, context=b"", weights=None):
    """Checks a proof. weights is the encoding of weights that are public."""
    g = key.program
    weights = public(key, weights) if key.public else None
    statement = ((x, g.tensors[g.inputs[0]], "input"), (y, g.tensors[g.outputs[0]], "output"))
    for v, tensor, name in statement:
        check(len(v) == len(tensor.positions()) and all(tensor.lo <= e <= tensor.hi for e in v), name)
    a = Argument(data)
    rd, t = a.rd, a.t
    rd.magic(b"ZKWPROF\n", 2)
    check(rd.take(32) == key.digest, "key digest")
    for v, _, name in statement:
        check(rd.take(32) == hashlib.sha256(struct.pack("<%di" % len(v), *v)).digest(), name + " binding")

    bits, (pp, wp, mp) = key.settings[0]
    ts = g.tensors
    ranges = sorted({o.shift for o in g.lookups if o.shift})
    stacks = []
    params = Stack("parameters", [(("t", i), ts[i].vars) for i in g.params], pp, key.root)
    if params.place:
        stacks.append(params)
    t.bytes(b"zkwarp zkml inference 2")
    t.bytes(key.digest)
    if key.committed:
        a.commit(params)
    t.absorb([v % P for v in x])
    t.absorb([v % P for v in y])
    t.bytes(context)
    if g.lookups:
        columns = sorted(c for o in g.lookups for c in ([o.out, o.rem] if o.shift else [o.out]))
        rows = [tab.bits for tab in g.tables] + ranges
        for s in (Stack("witness", [(("t", i), ts[i].vars) for i in columns], wp),
                  Stack("multiplicities", [(("m", k), b) for k, b in enumerate(rows)], mp)):
            a.commit(s)
            stacks.append(s)
        a.lookups(bits, 2, inference_blocks(g, g.tables, ranges))

    out = ts[g.outputs[0]]
    binding = [challenge(t) for _ in range(out.vars)]
    a.log("output binding", out.vars)
    bound = weigh(eqs(binding), zip(out.positions(), y))
    first, given = [], None
    if out.padded:
        def bind(at, es):
            here, there, w = eqs(at), eqs(binding), ZERO
            for j in out.positions():
                w = w + here[j] * there[j]
            check(w == es[0], "public factor")
            a.put(("t", g.home(g.outputs[0])), at, es[1], "sum-check")
        first.append((Claim(out.vars, [(ONE, (0, 1))], bound), bind))
    else:
        given = (("t", g.home(g.outputs[0])), tuple(binding))
        a.put(*given, bound, "output binding")
    while layer(a, g, first, given):
        first = []
    for poly, point in a.order:
        if poly == ("t", g.inputs[0]):
            want = weigh(eqs(point), zip(ts[g.inputs[0]].positions(), x))
            check(a.value(poly, point) == want, "input binding")
    a.finish(stacks, weights)
    return a


def opened(data):
    """Decodes a key, and checks its parameters and its own proof."""
    key = Key(data)
    for _, commitments in key.settings:
        for params in commitments:
            if params is not None:
                security.accept(params.numbers)
    try:
        return key, key_proof(key)
    except ValueError:
        raise Rejected("weights of the key")


def judge(case, keys):
    """Returns the name of the failed check, or nothing, and the union sum."""
    if case["key"] not in keys:
        try:
            keys[case["key"]] = opened(bytes.fromhex(case["key"]))
        except Rejected as e:
            return str(e), None
        except ValueError:
            return "key", None
    key, own = keys[case["key"]]
    try:
        a = inference(key, case["x"], case["y"], bytes.fromhex(case["proof"]), bytes.fromhex(case["context"]),
                      bytes.fromhex(case["weights"]))
    except Rejected as e:
        return str(e), None
    except ValueError:
        return "proof format", None
    (_, mine), (_, theirs) = key.settings
    lines = security.report(a.lines, mine)
    if own is not None:
        lines += security.report(own.lines, mine[:1] + theirs[1:])
    total = security.total(lines)
    return "" if total >= 96 else "security budget", total


def main():
    with open(sys.argv[1]) as f:
        cases = json.load(f)
    keys = {}
    for i, case in enumerate(cases):
        failed, total = judge(case, keys)
        if failed != case["check"]:
            sys.exit("case %d: failed check is %r, want %r" % (i, failed, case["check"]))
        if total is not None and abs(total - case["sum"]) > 1e-6:
            sys.exit("case %d: %.9f bits, want %.9f" % (i, total, case["sum"]))
    print("%d cases as they should be" % len(cases))


if __name__ == "__main__":
    main()
