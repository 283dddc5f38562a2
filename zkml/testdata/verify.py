#!/usr/bin/env python3
"""Verifies proofs about integer programs. It shares no code with the Go
implementation: it is written from the chapters of docs/protocol.md, and takes
transcript and openings from the scripts of those chapters.

    verify.py CASES.json

CASES is a list of objects with key, proof, context and, for keys with public
weights, weights (hex), x and y (integers of what is public), commitments (hex), and what to expect: check, the name
of the failed check or empty if the proof is right, and sum, the union sum of the
key's security report, which is computed here as well."""
import hashlib
import json
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from argument import ZERO, Argument, Claim, Rejected, Stack, challenge, check, eq, eqs, flat, lift, weigh  # noqa: E402
from operations import Reduction, bits as table_bits, blocks, given, limbs, parted, ranges, statement, width  # noqa: E402
from program import COLUMN, Bytes, Key, need, product  # noqa: E402
import security  # noqa: E402
from weights import key_proof  # noqa: E402


def layer(a, g, reduce, begun, given):
    """One step of T7, which begins with jobs, messages and relations; given are the
    evaluations that come from y. Returns whether there was anything to do."""
    jobs, sent, relations = begun
    while a.queue:
        key = a.queue.pop(0)
        poly, _ = key
        op = g.maker.get(poly[1]) if poly[0] == "t" else None
        made = reduce.expand(op, key) if op else None
        if poly[0] == "h":
            made = reduce.one_hot(key)
        if made is None:
            continue
        if isinstance(made[0], Claim):
            jobs.append(made)
            continue
        terms, const = made
        total = number(const)
        for coef, term, where in terms:
            poly = term if isinstance(term, tuple) else ("t", g.home(term))
            sent += a.fetch([(poly, where)])
            total = total + number(coef) * a.value(poly, where)
        check(total == a.known[key], "output binding" if key in given else "linear relation")
        relations += 1
    if sent:
        a.t.absorb(flat(sent))
    if jobs:
        a.batch(jobs)
    return bool(jobs) or relations > 0


def number(v):
    """An integer, or an element as it is."""
    return lift(v) if isinstance(v, int) else v


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


def committed(key, commitments):
    """The stacks of a statement's commitments."""
    g, out = key.program, []
    tensors = [("a committed input", ("t", i), i) for i in g.secret_inputs]
    tensors += [("a committed output", ("c", i), i) for i in g.secret_outputs]
    check(len(commitments) == len(tensors), "input" if g.secret_inputs or not tensors else "output")
    for (name, poly, i), params, data in zip(tensors, key.settings[0][1][3:], commitments):
        t, b, side = g.tensors[i], Bytes(data), name.split()[-1]
        b.magic(b"ZKWCOMM\n", 6)
        form = [params.n, params.numbers[4], params.numbers[10], params.numbers[7], len(t.shape)] + t.shape
        form = hashlib.sha256(b"zkwarp zkml committed tensor 1\n" + struct.pack("<%dI" % len(form), *form)).digest()
        check(b.take(32) == form, side)
        out.append(Stack(name, [(poly, t.vars)], params, b.words(8), max(t.vars + 1, 9)))
        b.end()
    return out


def hashed(name, values):
    """The digest of the public values of one side of a statement."""
    def digest(data):
        return hashlib.sha256(data).digest()
    blocks = [values[i:i + (1 << 16)] for i in range(0, len(values), 1 << 16)]
    parts = [digest(b"zkwarp zkml values\n" + struct.pack("<%di" % len(b), *b)) for b in blocks]
    return digest(b"zkwarp zkml %s\n" % name.encode() + struct.pack("<Q", len(values)) + b"".join(parts))


def inference(key, x, y, commitments, data, context=b"", weights=None):
    """Checks a proof. weights is the encoding of weights that are public."""
    g = key.program
    weights = public(key, weights) if key.public else None
    known = [[i for i in of if i not in secret]
             for of, secret in ((g.inputs, g.secret_inputs), (g.outputs, g.secret_outputs))]
    sides = [(x, parted(g, known[0], x), "input"), (y, parted(g, known[1], y), "output")]
    for _, parts, name in sides:
        check(parts is not None, name)
        for i, v in parts.items():
            t = g.tensors[i]
            check(len(v) == product(t.shape) and all(t.lo <= e <= t.hi for e in v), name)
    (_, inputs, _), (_, outputs, _) = sides
    secret = committed(key, commitments)
    digests = [hashed(name, v) for v, _, name in sides]
    a = Argument(data)
    rd, t = a.rd, a.t
    rd.magic(b"ZKWPROF\n", 6)
    check(rd.take(32) == key.digest, "key digest")
    for own, (_, _, name) in zip(digests, sides):
        check(rd.take(32) == own, name + " binding")
    need(rd.u32() == len(secret), "roots")
    for stack in secret:
        check(rd.words(8) == stack.root, stack.name.split()[-1] + " binding")

    bits, (pp, wp, mp) = key.settings[0][0], key.settings[0][1][:3]
    ts = g.tensors
    params = Stack("parameters", [(("t", i), ts[i].vars) for i in g.params], pp, key.root)
    stacks = ([params] if params.place else []) + secret
    t.bytes(b"zkwarp zkml inference 6")
    t.bytes(key.digest)
    if key.committed:
        a.commit(params)
    for own in digests:
        t.bytes(own)
    t.bytes(context)
    for stack in secret:
        a.commit(stack)
    rows = [table_bits(tab) for tab in g.tables] + ranges(g)
    rho = []
    if rows:
        columns = [(("t", i), tensor.vars) for i, tensor in enumerate(ts) if tensor.kind == COLUMN] + limbs(g)
        sent = [Stack("witness", columns, wp)] if columns else []
        sent.append(Stack("multiplicities", [(("m", k), b) for k, b in enumerate(rows)], mp))
        for s in sent:
            a.commit(s)
        stacks += sent
        rho = a.lookups(bits, width(g), blocks(g))

    padded = [i for i in g.secret_inputs + g.secret_outputs if ts[i].padded]
    binding = [challenge(t) for _ in range(max(ts[i].vars for i in g.outputs + padded))]
    a.log("output binding", len(binding))
    stated = given(a, g, outputs, binding)
    begun = statement(a, g, outputs, binding, rho)
    reduce = Reduction(a, g, inputs)
    while layer(a, g, reduce, begun, stated):
        begun = [], [], 0
    for poly, point in a.order:
        if poly[0] == "t" and poly[1] in inputs:
            want = weigh(eqs(point), zip(ts[poly[1]].positions(), inputs[poly[1]]))
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
        commitments = [bytes.fromhex(c) for c in case["commitments"] or []]
        a = inference(key, case["x"] or [], case["y"] or [], commitments, bytes.fromhex(case["proof"]),
                      bytes.fromhex(case["context"]), bytes.fromhex(case["weights"]))
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
