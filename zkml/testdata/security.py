"""The security report's sum, from the tables in docs/zkml.md, docs/logup.md,
docs/sumcheck.md and docs/whir.md."""
from math import log2, sqrt

P = 2**31 - 1
E = 4 * log2(P)


def work(bits):
    """What b bits of work are worth."""
    return -log2(((P - 1) // 2**bits + 1) / P) if bits else 0.0


def regime(mult, rate, bound):
    """The agreement, the list size, and exceptional challenges for a code of a
    length and a dimension."""
    rho = 2.0**-rate
    if mult == 0:
        return (1 + rho) / 2, 1.0, lambda n, dim: n
    t = mult + 0.5
    a = sqrt(rho) * (1 + 1 / (2 * mult))
    if bound == 0:
        return a, t / sqrt(rho), lambda n, dim: (
            (2 * t**5 + 3 * t * (1 - a) * rho) * n / (3 * rho**1.5) + t / sqrt(rho))
    return a, t / sqrt(rho), lambda n, dim: 8 * n * t**3 / (3 * (dim - 1) / n)


def whir(numbers):
    """The bits of each line of a commitment's report."""
    _, _, bound, m, rate, batch, batch_work, _, claims, count = numbers[:10]
    lines = []
    before = None
    for i in range(count):
        k, d, mult, samples, queries, fold_work, query_work = numbers[10 + 7 * i:17 + 7 * i]
        a, size, exceptional = regime(mult, rate, bound)
        if i == 0:
            if batch > 1:
                lines.append(("batch", E - log2((batch - 1) * exceptional(2.0**(m + rate), 2.0**m)) + work(batch_work)))
            lines.append(("round 0: claims", E - log2(size) - log2(claims + samples - 1)))
        if samples:
            lines.append(("round %d: out of domain" % i, samples * (E - m) + 1 - 2 * log2(size)))
        if i:
            t, share, w = before
            bits = (-t * log2(share) + work(w), E - log2(size) - log2(t + samples))
            lines.append(("round %d: shift" % i, -log2(sum(2**-b for b in bits))))
        for s in range(1, k + 1):
            n, dim = 2.0**(m - s + rate), 2.0**(m - s)
            lines.append(("round %d: fold %d" % (i, s), E - log2(3 * size + exceptional(n, dim)) + work(fold_work)))
        before = (queries, a, query_work)
        m, rate = m - k, rate + k - d
    t, share, w = before
    lines.append(("final: queries", -t * log2(share) + work(w)))
    lines += [("final: sum-check", E - 1)] * m
    return lines


def accept(numbers):
    """Raises ValueError unless a commitment's parameters are within the limits
    of docs/whir.md, section 2, and their lines reach their level."""
    _, level, bound, m, rate, batch, batch_work, arity, claims, count = numbers[:10]
    ok = (1 <= level <= 128 and bound in (0, 1) and m <= 32 and rate >= 1 and arity in (2, 4, 8)
          and 1 <= batch <= 2**12 and batch_work <= 30 and 1 <= claims <= 2**16 and 1 <= count <= 32)
    for i in range(count):
        k, d, mult, samples, queries, fold_work, query_work = numbers[10 + 7 * i:17 + 7 * i]
        ok = ok and 1 <= k <= min(m, 10) and (d == 0 if i == count - 1 else 1 <= d <= k)
        ok = ok and (mult == 0 or i > 0 and samples >= 1 and 3 <= mult <= 100) and samples <= 8
        ok = ok and 1 <= queries <= 2**16 and max(fold_work, query_work) <= 30
        ok = ok and 1 <= m + rate - k <= 30 and (2 * batch if i == 0 else 4) << k <= 65535
        if not ok:
            raise ValueError("parameters")
        m, rate = m - k, rate + k - d
    if m > 10 or min(bits for _, bits in whir(numbers)) < level:
        raise ValueError("parameters")


def report(steps, commitments):
    """All lines of one proof, as step and bits. steps are names, errors times
    |QM31|, and bits of work; commitments are parameters in order of homes."""
    out = [(step, E - log2(n) + work(bits)) for step, n, bits in steps if n > 0]
    for params in commitments:
        if params is not None:
            out += whir(params.numbers)
    return out


def total(lines):
    return -log2(sum(2**-bits for _, bits in lines))
