#!/usr/bin/env python3
"""Writes golden.json, which fixes the transcript. It shares no code with the Go
implementation: permutation, sponge, sampling and grinding are written out here
from their description in docs/transcript.md and docs/poseidon2.md."""
import json
import os
import random

P, FULL = 2**31 - 1, 8
PARTIAL = {16: 14, 24: 22}
SHIFTS = {16: [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14, 15, 16], 24: list(range(23))}


def constants(width):
    s = [int(b) for v, n in ((1, 2), (0, 4), (31, 12), (width, 12), (FULL, 10), (PARTIAL[width], 10), (2**30 - 1, 30))
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
            if v < P:
                return v

    return [element() for _ in range(FULL * width + PARTIAL[width])]


RC = {width: constants(width) for width in PARTIAL}


def external(s):
    m = []
    for a, b, c, d in zip(s[0::4], s[1::4], s[2::4], s[3::4]):  # circ(2, 3, 1, 1)
        t = a + b + c + d
        m += [t + a + 2 * b, t + b + 2 * c, t + c + 2 * d, t + d + 2 * a]
    column = [sum(m[j::4]) for j in range(4)]
    return [(m[i] + column[i % 4]) % P for i in range(len(s))]


def permute(s):
    width = len(s)
    rc, shifts, partial = iter(RC[width]), SHIFTS[width], PARTIAL[width]
    s = external(s)
    for r in range(FULL + partial):
        if FULL // 2 <= r < FULL // 2 + partial:
            s = [pow(s[0] + next(rc), 5, P)] + s[1:]
            t = sum(s)
            s = [(t - 2 * s[0]) % P] + [(t + (x << k)) % P for x, k in zip(s[1:], shifts)]
        else:
            s = external([pow(x + next(rc), 5, P) for x in s])
    return s


class Transcript:
    def __init__(self, tag):
        self.s, self.at, self.left = [0] * 8 + [tag] + [0] * 7, 0, 0

    def put(self, w):
        self.s[self.at], self.at, self.left = w, self.at + 1, 0
        if self.at == 8:
            self.s, self.at = permute(self.s), 0

    def absorb(self, words):
        for w in [len(words)] + words:
            self.put(w)

    def bytes(self, b):
        groups = [b[i:i + 3] for i in range(0, len(b), 3)]
        self.absorb([len(b)] + [int.from_bytes(g, "little") for g in groups])

    def squeeze(self):
        if self.at or not self.left:
            self.s, self.at, self.left = permute(self.s), 0, 8
        self.left -= 1
        return self.s[7 - self.left]

    def index(self, bits):
        while True:
            w = self.squeeze()
            if w < 2**bits * (P // 2**bits):
                return w % 2**bits

    def clone(self):
        t = Transcript(0)
        t.s, t.at, t.left = list(self.s), self.at, self.left
        return t

    def grind(self, bits):
        n = 0
        while bits:
            t = self.clone()
            t.absorb([n % P, n // P])
            if t.squeeze() % 2**bits == 0:
                self.s, self.at, self.left = t.s, t.at, t.left
                return [n % P, n // P]
            n += 1
        return [0, 0]


def main():
    r = random.Random(31)
    tag = 1
    t = Transcript(tag)
    steps = []

    def do(op, **kw):
        if op == "absorb":
            t.absorb(kw["words"])
        elif op == "bytes":
            t.bytes(bytes.fromhex(kw["hex"]))
        elif op == "challenge":
            kw["want"] = [t.squeeze() for _ in range(4)]
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
        do("absorb", words=[r.choice([0, 1, P - 1, r.randrange(P)]) for _ in range(n)])
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
        do("absorb", words=[r.randrange(P) for _ in range(n)])
        do("grind", bits=4)
        do("challenge")
    do("grind", bits=0)
    do("grind", bits=9)
    do("absorb", words=[])
    do("state")
    do("challenge")
    do("state")

    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "golden.json"), "w") as f:
        f.write('{"tag": %d, "steps": [\n' % tag)
        f.write(",\n".join(json.dumps(s) for s in steps))
        f.write("\n]}\n")


if __name__ == "__main__":
    main()
