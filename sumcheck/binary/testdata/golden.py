#!/usr/bin/env python3
"""Writes golden.json: claims over the binary tower with their proofs' bytes. It shares no
code with the Go implementation: the field, the interpolation's constants, the protocol and
the encoding are written out here from docs/binary.md, with the transcript's own script.
Each proof is verified before it is written, and rejected for another value."""
import functools
import importlib.util
import json
import os
import random
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = importlib.util.spec_from_file_location("tower", os.path.join(HERE, "../../../transcript/tower/testdata/golden.py"))
tower = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tower)

KINDS = ["ext-bits", "all-ext", "eq-bits"]
LABEL = "zkwarp tower transcript: sumcheck/binary"


@functools.lru_cache(maxsize=1 << 18)
def small(a, b, k):
    """mul for elements of T_3 and below, of which there are few."""
    return step(a, b, k)


def step(a, b, k):
    """Schoolbook multiplication of elements of T_k."""
    if k == 0:
        return a & b
    h = 1 << (k - 1)
    a0, a1, b0, b1 = a & ((1 << h) - 1), a >> h, b & ((1 << h) - 1), b >> h
    high = mul(a1, b1, k - 1)
    x = 1 if k == 1 else 1 << (h >> 1)  # X_(k-2), the generator of the half's last step
    return (mul(a0, b0, k - 1) ^ high) | ((mul(a0, b1, k - 1) ^ mul(a1, b0, k - 1) ^ mul(x, high, k - 1)) << h)


def mul(a, b, k=7):
    if a == 0 or b == 0:
        return 0
    return small(a, b, k) if k <= 3 else step(a, b, k)


@functools.cache
def inverse(a):
    """Of the numbers below 16, which GF(16) is."""
    return next(b for b in range(1, 16) if mul(a, b) == 1)


def product(list_):
    out = 1
    for a in list_:
        out = mul(out, a)
    return out


def lagrange(values, r):
    """The value at r of the polynomial with these values at 0, 1, 2, ..."""
    out = 0
    for j, v in enumerate(values):
        others = [k for k in range(len(values)) if k != j]
        out ^= product([v] + [r ^ k for k in others] + [inverse(product([j ^ k for k in others]))])
    return out


def eq(z, x):
    return product([1 ^ a ^ b for a, b in zip(z, x)])


def words(elements):
    return [e >> (32 * i) & 0xFFFFFFFF for e in elements for i in range(4)]


def number(challenge):
    return sum(w << (32 * i) for i, w in enumerate(challenge))


def header(kind, n, d):
    return [0x4353425A, 1, kind, n, d]


def begin(kind, n, d, z, value):
    t = tower.Transcript(LABEL)
    t.words(header(kind, n, d))
    if KINDS[kind] == "eq-bits":
        t.words(words(z))
    t.words(words([value]))
    return t


def prove(kind, n, d, z, tables, value):
    t, rounds = begin(kind, n, d, z, value), []
    for _ in range(n):
        half = len(tables[0]) // 2
        message = []
        for y in [0] + list(range(2, d + 1)):
            s = 0
            for x in range(half):
                s ^= product([p[x] ^ mul(y, p[x] ^ p[half + x]) for p in tables])
            message.append(s)
        rounds.append(message)
        t.words(words(message))
        r = number(t.challenge())
        tables = [[p[x] ^ mul(r, p[x] ^ p[half + x]) for x in range(half)] for p in tables]
    evals = [p[0] for p in tables][1 if KINDS[kind] == "eq-bits" else 0:]
    t.words(words(evals))
    return rounds, evals, number(t.challenge())


def verify(kind, n, d, z, value, rounds, evals):
    t, c, point = begin(kind, n, d, z, value), value, []
    for message in rounds:
        t.words(words(message))
        r = number(t.challenge())
        c = lagrange([message[0], c ^ message[0]] + message[1:], r)
        point.append(r)
    return c == product(evals + ([eq(z, point)] if KINDS[kind] == "eq-bits" else []))


def hexadecimal(list_):
    return ["%032x" % e for e in list_]


def case(rnd, kind, n, d):
    z, tables = [], []
    if KINDS[kind] == "eq-bits":
        z = [rnd.getrandbits(128) for _ in range(n)]
        tables.append([eq(z, [x >> (n - 1 - i) & 1 for i in range(n)]) for x in range(1 << n)])
    ext = {"ext-bits": 1, "all-ext": d, "eq-bits": 0}[KINDS[kind]]
    tables += [[rnd.getrandbits(128) for _ in range(1 << n)] for _ in range(ext)]
    bits = [[rnd.getrandbits(1) for _ in range(1 << n)] for _ in range(d - len(tables))]
    value = 0
    for x in range(1 << n):
        value ^= product([p[x] for p in tables + bits])
    rounds, evals, after = prove(kind, n, d, z, tables + bits, value)
    assert verify(kind, n, d, z, value, rounds, evals)
    assert not verify(kind, n, d, z, value ^ 1, rounds, evals)
    shape = struct.pack("<5I", *header(kind, n, d))
    digest = struct.pack("<8I", *tower.output(tower.IV, shape, 0)[:8])
    proof = shape[:8] + digest + b"".join(e.to_bytes(16, "little") for e in sum(rounds, []) + evals)
    return {
        "kind": KINDS[kind], "n": n, "d": d, "z": hexadecimal(z), "value": "%032x" % value,
        "ext": [hexadecimal(p) for p in tables[1 if z else 0:]],
        "bits": [[sum(b << i for i, b in enumerate(p[w:w + 32])) for w in range(0, 1 << n, 32)] for p in bits],
        "proof": proof.hex(), "after": "%032x" % after,
    }


def main():
    rnd = random.Random(7)
    cases = [case(rnd, kind, 3, d) for kind in range(3) for d in range(2, 6)]
    cases += [case(rnd, 0, 1, 2), case(rnd, 2, 2, 3), case(rnd, 0, 6, 3), case(rnd, 2, 6, 2)]
    with open(os.path.join(HERE, "golden.json"), "w") as f:
        f.write("[\n %s\n]\n" % ",\n ".join(json.dumps(c) for c in cases))


if __name__ == "__main__":
    main()
