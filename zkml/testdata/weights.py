"""The proof that a key carries of its parameters, written from docs/zkml.md."""
from argument import ONE, ZERO, Argument, Block, Claim, Stack, challenge, check, eqs, flat, lift, row, weigh
from program import log, need


def real(tensor, at):
    """The extension of the indicator of real elements."""
    return weigh(eqs(at), ((j, 1) for j in tensor.positions()))


def key_proof(key):
    """Checks that the key's parameters are within bounds, zero in padding."""
    if not key.committed:
        need(not key.proof, "proof of no weights")
        return None
    g = key.program
    bits, (_, wp, mp) = key.settings[1]
    params = Stack("parameters", [(("t", i), g.tensors[i].vars) for i in g.params],
                   key.settings[0][1][0], key.root)
    tables, looked, limbs, in_limbs = [], [], [], []

    def look(poly, vars, lo, width):
        if (lo, width) not in tables:
            tables.append((lo, width))
        looked.append((poly, vars, tables.index((lo, width)) + 1))

    for i in g.params:
        tensor = g.tensors[i]
        k = log(tensor.hi + 1) + 1
        if k <= 12 or k <= 16 and tensor.vars >= k:
            look(("t", i), tensor.vars, -2**(k - 1), k)
            continue
        count = -(-k // 12)
        size = -(-k // count)
        own = []
        for j in range(count):
            limbs.append((("l", len(limbs)), tensor.vars))
            own.append((j * size, limbs[-1][0]))
            look(limbs[-1][0], tensor.vars, 0, min(size, k - j * size))
        in_limbs.append((i, k, own))
    padded = [i for i in g.params if g.tensors[i].padded]

    a = Argument(key.proof)
    t, stacks = a.t, [params]
    t.bytes(b"zkwarp zkml weights 2")
    t.bytes(key.digest)
    a.commit(params)
    if limbs:
        stacks.append(Stack("witness", limbs, wp))
        a.commit(stacks[-1])
    stacks.append(Stack("multiplicities", [(("m", k), w) for k, (_, w) in enumerate(tables)], mp))
    a.commit(stacks[-1])

    def blocks(alpha, beta):
        out = [Block(vars, [poly], lambda v, at, tag=tag: (ONE, alpha - lift(tag) - beta * v[0]))
               for poly, vars, tag in looked]
        for k, (lo, width) in enumerate(tables):
            def entry(v, at, tag=k + 1, lo=lo, width=width):
                return ZERO - v[0], alpha - lift(tag) - beta * row(lo, width, at)
            out.append(Block(width, [("m", k)], entry))
        return out

    rho = a.lookups(bits, 1, blocks)
    binding = [challenge(t) for _ in range(max((g.tensors[i].vars for i in padded), default=0))]
    sent = []
    for i, k, own in in_limbs:
        at = rho[len(rho) - g.tensors[i].vars:]
        sent += a.fetch([(("t", i), at)])
        total = lift(-2**(k - 1))
        for shift, limb in own:
            total = total + lift(2**shift) * a.value(limb, at)
        check(total == a.value(("t", i), at), "linear relation")
    if sent:
        t.absorb(flat(sent))
    if in_limbs:
        a.log("limbs", sum(g.tensors[i].vars for i, _, _ in in_limbs))
    jobs = []
    for i in padded:
        tensor = g.tensors[i]

        def zero(at, es, i=i, tensor=tensor):
            check(ONE - real(tensor, at) == es[0], "public factor")
            a.put(("t", i), at, es[1])
        jobs.append((Claim(tensor.vars, [(ONE, (0, 1))], ZERO, binding[len(binding) - tensor.vars:]), zero))
    if jobs:
        a.log("zero padding", len(padded) * len(binding))
        a.batch(jobs)
    a.finish(stacks)
    return a
