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
from argument import ZERO, Argument, Claim, Rejected, Stack, challenge, check, eq, eqs, flat, lift, weigh  # noqa: E402
from operations import Reduction, bind, bits as table_bits, blocks, parted, ranges, width  # noqa: E402
from program import COLUMN, Key, product  # noqa: E402
import security  # noqa: E402
from weights import key_proof  # noqa: E402


def layer(a, g, reduce, jobs, given):
    """One step of T7, which begins with jobs; given are the evaluations that come
    from y. Returns whether there was anything to do."""
    jobs, sent, relations = list(jobs), [], 0
    while a.queue:
        key = a.queue.pop(0)
        (kind, i), _ = key
        op = g.maker.get(i) if kind == "t" else None
        made = reduce.expand(op, key) if op else None
        if made is None:
            continue
        if isinstance(made[0], Claim):
            jobs.append(made)
            continue
        terms, const = made
        total = lift(const)
        for coef, term, where in terms:
            poly = ("t", g.home(term))
            sent += a.fetch([(poly, where)])
            total = total + lift(coef) * a.value(poly, where)
        check(total == a.known[key], "output binding" if key in given else "linear relation")
        relations += 1
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
    statement = [(x, parted(g, g.inputs, x), "input"), (y, parted(g, g.outputs, y), "output")]
    for _, parts, name in statement:
        check(parts is not None, name)
        for i, v in parts.items():
            t = g.tensors[i]
            check(len(v) == product(t.shape) and all(t.lo <= e <= t.hi for e in v), name)
    (_, inputs, _), (_, outputs, _) = statement
    digests = [hashlib.sha256(b"zkwarp zkml %s\n" % name.encode() + struct.pack("<Q%di" % len(v), len(v), *v)).digest()
               for v, _, name in statement]
    a = Argument(data)
    rd, t = a.rd, a.t
    rd.magic(b"ZKWPROF\n", 3)
    check(rd.take(32) == key.digest, "key digest")
    for own, (_, _, name) in zip(digests, statement):
        check(rd.take(32) == own, name + " binding")

    bits, (pp, wp, mp) = key.settings[0]
    ts = g.tensors
    stacks = []
    params = Stack("parameters", [(("t", i), ts[i].vars) for i in g.params], pp, key.root)
    if params.place:
        stacks.append(params)
    t.bytes(b"zkwarp zkml inference 3")
    t.bytes(key.digest)
    if key.committed:
        a.commit(params)
    for own in digests:
        t.bytes(own)
    t.bytes(context)
    if g.tables:
        columns = [i for i, tensor in enumerate(ts) if tensor.kind == COLUMN]
        rows = [table_bits(tab) for tab in g.tables] + ranges(g)
        for s in (Stack("witness", [(("t", i), ts[i].vars) for i in columns], wp),
                  Stack("multiplicities", [(("m", k), b) for k, b in enumerate(rows)], mp)):
            a.commit(s)
            stacks.append(s)
        a.lookups(bits, width(g), blocks(g))

    binding = [challenge(t) for _ in range(max(ts[i].vars for i in g.outputs))]
    a.log("output binding", len(binding))
    jobs, given = bind(a, g, g.outputs, outputs, binding)
    reduce = Reduction(a, g, inputs)
    while layer(a, g, reduce, jobs, given):
        jobs = []
    for (kind, i), point in a.order:
        if kind == "t" and i in inputs:
            want = weigh(eqs(point), zip(ts[i].positions(), inputs[i]))
            check(a.value((kind, i), point) == want, "input binding")
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
