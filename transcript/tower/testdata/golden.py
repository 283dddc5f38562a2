#!/usr/bin/env python3
"""Writes golden.json, which fixes the transcript over GF(2^128). It shares no code with
the Go implementation: BLAKE3, steps, sampling and grinding are written out here from
docs/binary.md and the BLAKE3 paper."""
import json
import os
import random
import struct

IV = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
ORDER = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
START, END, PARENT, ROOT, KEYED = 1, 2, 4, 8, 16
LABEL = "zkwarp tower transcript: test"


def compress(cv, block, counter, length, flags):
    m = list(struct.unpack("<16I", block.ljust(64, b"\0")))
    v = cv + IV[:4] + [counter & 0xFFFFFFFF, counter >> 32, length, flags]

    def rotate(w, n):
        return (w >> n | w << (32 - n)) & 0xFFFFFFFF

    def half(a, b, c, d, x, first, second):
        v[a] = (v[a] + v[b] + x) & 0xFFFFFFFF
        v[d] = rotate(v[d] ^ v[a], first)
        v[c] = (v[c] + v[d]) & 0xFFFFFFFF
        v[b] = rotate(v[b] ^ v[c], second)

    for _ in range(7):
        for i in range(8):
            j, turn = i % 4, i // 4  # columns, then diagonals
            lane = [4 * k + (j + k * turn) % 4 for k in range(4)]
            half(*lane, m[2 * i], 16, 12)
            half(*lane, m[2 * i + 1], 8, 7)
        m = [m[k] for k in ORDER]
    return [v[i] ^ v[8 + i] for i in range(8)] + [v[8 + i] ^ cv[i] for i in range(8)]


def output(key, data, flags):
    """The first 64 bytes of output, as words."""

    def node(data, chunk):  # the arguments of the last compression
        if len(data) <= 1024:
            cv, f = key, flags | START
            while len(data) > 64:
                cv, data, f = compress(cv, data[:64], chunk, 64, f)[:8], data[64:], flags
            return cv, data, chunk, len(data), f | END
        left = 1024
        while 2 * left < len(data):
            left *= 2
        cvs = compress(*node(data[:left], chunk))[:8] + compress(*node(data[left:], chunk + left // 1024))[:8]
        return key, struct.pack("<16I", *cvs), 0, 64, flags | PARENT

    cv, block, counter, length, f = node(data, 0)
    return compress(cv, block, counter, length, f | ROOT)


class Transcript:
    def __init__(self, label):
        self.key, self.out = output(IV, label.encode(), 0)[:8], []

    def step(self, data):
        words = output(self.key, data, KEYED)
        self.key, self.out = words[:8], [words[8:12], words[12:]]

    def words(self, list_):
        self.step(struct.pack("<%dI" % len(list_), *list_) or b"\0")

    def bytes(self, b):
        self.step(struct.pack("<Q", len(b)) + b + b"\0" * (-len(b) % 4))

    def challenge(self):
        if not self.out:
            self.step(b"")
        return self.out.pop(0)

    def indices(self, n, bits):
        got = []
        while len(got) < n:
            got += [w & ((1 << bits) - 1) for w in self.challenge()]
        return got[:n]

    def works(self, bits, nonce):
        self.words([nonce & 0xFFFFFFFF, nonce >> 32])
        c = self.challenge()
        return (c[0] | c[1] << 32) & ((1 << bits) - 1) == 0

    def grind(self, bits):
        nonce = 0
        if bits:
            key = self.key
            while not self.works(bits, nonce):
                self.key, nonce = key, nonce + 1
        return nonce


def main():
    rnd = random.Random(2024)
    t, steps = Transcript(LABEL), []

    def add(op, want=None, **inputs):
        steps.append({"op": op, **inputs, **({} if want is None else {"want": want})})

    def state():
        add("state", t.key + [len(t.out)])

    def absorb(n):
        words = [rnd.getrandbits(32) for _ in range(n)]
        t.words(words)
        add("absorb", words=words)

    def challenge(n=1):
        for _ in range(n):
            add("challenge", t.challenge())

    assert struct.pack("<I", output(IV, b"", 0)[0]).hex() == "af1349b9"  # BLAKE3 of the empty string
    state()
    challenge(3)
    for n in (4, 8, 12, 16, 1, 0, 17, 20, 32, 33, 256, 257, 700):
        absorb(n)
        challenge(rnd.randrange(4))
        state()
    for n in (0, 1, 3, 4, 5, 31, 60, 1100):
        b = rnd.randbytes(n)
        t.bytes(b)
        add("bytes", hex=b.hex())
        challenge(1)
    for n, bits in ((0, 5), (1, 32), (4, 0), (5, 7), (9, 20), (3, 31)):
        add("indices", t.indices(n, bits), n=n, bits=bits)
        state()
    for bits in (0, 1, 5, 9, 11):
        absorb(4)
        nonce = t.grind(bits)
        add("grind", [nonce & 0xFFFFFFFF, nonce >> 32], bits=bits)
        challenge(1)
        state()
    text = '{\n "label": %s,\n "steps": [\n  %s\n ]\n}\n' % (json.dumps(LABEL), ",\n  ".join(json.dumps(s) for s in steps))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.json"), "w") as f:
        f.write(text)


if __name__ == "__main__":
    main()
