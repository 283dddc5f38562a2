#!/usr/bin/env python3
"""Writes golden.json and its likes, which fix the transcript over each field. It shares no code with the Go
implementation: permutation, sponge, sampling and grinding are written out here
from their description in docs/transcript.md and docs/poseidon2.md."""
import json
import os
import random

FULL = 8


class Field:
    """A prime field, its permutation of width 16 (and of width 24, if wide has its
    number of partial rounds and its diagonal) and the degree of its challenges."""

    def __init__(self, p, sbox, partial, diagonal, degree, wide=None):
        def number(times, shift):
            return times * pow(2, shift, p) % p

        self.p, self.sbox, self.degree = p, sbox, degree
        self.widths = {16: (partial, diagonal)}
        if wide:
            self.widths[24] = wide
        for width, (partial, diagonal) in self.widths.items():
            self.widths[width] = (partial, [number(*d) for d in diagonal], constants(p, width, partial))

    def permute(self, s):
        partial, diagonal, rc = self.widths[len(s)]
        rc = iter(rc)
        s = self.external(s)
        for r in range(FULL + partial):
            if FULL // 2 <= r < FULL // 2 + partial:
                s = [pow(s[0] + next(rc), self.sbox, self.p)] + s[1:]
                t = sum(s)
                s = [(t + x * d) % self.p for x, d in zip(s, diagonal)]
            else:
                s = self.external([pow(x + next(rc), self.sbox, self.p) for x in s])
        return s

    def external(self, s):
        m = []
        for a, b, c, d in zip(s[0::4], s[1::4], s[2::4], s[3::4]):  # circ(2, 3, 1, 1)
            t = a + b + c + d
            m += [t + a + 2 * b, t + b + 2 * c, t + c + 2 * d, t + d + 2 * a]
        column = [sum(m[j::4]) for j in range(4)]
        return [(m[i] + column[i % 4]) % self.p for i in range(len(s))]


def constants(p, width, partial):
    s = [int(b) for v, n in ((1, 2), (0, 4), (31, 12), (width, 12), (FULL, 10), (partial, 10), (2**30 - 1, 30))
         for b in format(v, "0%db" % n)]

    def clock():
        s.append(s[0] ^ s[13] ^ s[23] ^ s[38] ^ s[51] ^ s[62])
        s.pop(0)
        return s[-1]

    for _ in range(160):
        clock()

    def element():
        while True:
            v, n = 0, 0
            while n < 31:
                keep, b = clock(), clock()
                if keep:
                    v, n = 2 * v + b, n + 1
            if v < p:
                return v

    return [element() for _ in range(FULL * width + partial)]


def bear(p, sbox, partial, tail, degree):
    head = [(-2, 0), (1, 0), (2, 0), (1, -1), (3, 0), (4, 0), (-1, -1), (-3, 0), (-4, 0), (1, -8)]
    return Field(p, sbox, partial, head + tail, degree)


def babybear(degree):
    tail = [(1, -2), (1, -3), (1, -27), (-1, -8), (-1, -4), (-1, -27)]
    return bear(15 * 2**27 + 1, 7, 13, tail, degree)


def koalabear(degree):
    tail = [(1, -3), (1, -24), (-1, -8), (-1, -3), (-1, -4), (-1, -24)]
    return bear(127 * 2**24 + 1, 3, 20, tail, degree)


def m31():
    shifts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14, 15, 16]
    return Field(2**31 - 1, 5, 14, [(-2, 0)] + [(1, k) for k in shifts], 4, (22, [(-2, 0)] + [(1, k) for k in range(23)]))


class Transcript:
    def __init__(self, field, tag):
        self.field, self.p = field, field.p
        self.s, self.at, self.left = [0] * 8 + [tag] + [0] * 7, 0, 0

    def put(self, w):
        self.s[self.at], self.at, self.left = w, self.at + 1, 0
        if self.at == 8:
            self.s, self.at = self.field.permute(self.s), 0

    def absorb(self, words):
        for w in [len(words)] + words:
            self.put(w)

    def bytes(self, b):
        groups = [b[i:i + 3] for i in range(0, len(b), 3)]
        self.absorb([len(b)] + [int.from_bytes(g, "little") for g in groups])

    def digest(self, words):
        self.bytes(b"".join(w.to_bytes(4, "little") for w in words))

    def squeeze(self):
        if self.at or not self.left:
            self.s, self.at, self.left = self.field.permute(self.s), 0, 8
        self.left -= 1
        return self.s[7 - self.left]

    def index(self, bits):
        while True:
            w = self.squeeze()
            if w < 2**bits * (self.p // 2**bits):
                return w % 2**bits

    def clone(self):
        t = Transcript(self.field, 0)
        t.s, t.at, t.left = list(self.s), self.at, self.left
        return t

    def grind(self, bits):
        n = 0
        while bits:
            t = self.clone()
            t.absorb([n % self.p, n // self.p])
            if t.squeeze() % 2**bits == 0:
                self.s, self.at, self.left = t.s, t.at, t.left
                return [n % self.p, n // self.p]
            n += 1
        return [0, 0]


def write(name, field, digests):
    r, p, tag = random.Random(31), field.p, 1
    t = Transcript(field, tag)
    steps = []

    def do(op, **kw):
        if op == "absorb":
            t.absorb(kw["words"])
        elif op == "bytes":
            t.bytes(bytes.fromhex(kw["hex"]))
        elif op == "digest":
            t.digest(kw["words"])
        elif op == "challenge":
            kw["want"] = [t.squeeze() for _ in range(field.degree)]
        elif op == "squeeze":
            kw["want"] = [t.squeeze()]
        elif op == "index":
            kw["want"] = [t.index(kw["bits"])]
        elif op == "grind":
            kw["want"] = t.grind(kw["bits"])
        elif op == "state":
            kw["want"] = t.s + [t.at, t.left]
        steps.append(dict(op=op, **kw))

    do("challenge")
    do("absorb", words=[])
    do("squeeze")
    for n in list(range(1, 20)) + [64, 100]:
        do("absorb", words=[r.choice([0, 1, p - 1, r.randrange(p)]) for _ in range(n)])
        for _ in range(n % 4):
            do("challenge")
        if n % 5 == 0:
            do("state")
    for n in range(9):
        do("bytes", hex=bytes(r.choice([0, 255, r.randrange(256)]) for _ in range(n)).hex())
        do("squeeze")
    do("bytes", hex="00")
    do("bytes", hex="0000")
    for bits in (0, 1, 5, 20, 29, 30, 30, 30):
        do("index", bits=bits)
    for n in range(8):  # every alignment of the nonce
        do("absorb", words=[r.randrange(p) for _ in range(n)])
        do("grind", bits=4)
        do("challenge")
    do("grind", bits=0)
    do("grind", bits=9)
    do("absorb", words=[])
    do("state")
    do("challenge")
    do("state")
    if digests:  # of bytes: words of any value
        for _ in range(3):
            do("digest", words=[r.randrange(2**32) for _ in range(8)])
            do("state")
    for _ in range(8 if field.degree == 5 else 0):  # challenges at every place in the block
        do("challenge")
        do("squeeze")

    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, name), "w") as f:
        f.write('{"tag": %d, "steps": [\n' % tag)
        f.write(",\n".join(json.dumps(s) for s in steps))
        f.write("\n]}\n")


def main():
    write("golden.json", m31(), False)
    for degree in (4, 5):
        write("golden-babybear%d.json" % degree, babybear(degree), True)
        write("golden-koalabear%d.json" % degree, koalabear(degree), True)


if __name__ == "__main__":
    main()
