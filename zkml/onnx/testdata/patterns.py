# Run by core.py: subgraphs as exporters write them, and small transformers made of them.


def layer_norm(x, out, p, d, eps=1e-5, opset=17, square="Pow"):
    """Nodes and constants of torch's decomposed LayerNorm."""
    mean = lambda i, o: n("ReduceMean", [i, p + "ax"], [o]) if opset >= 18 else n("ReduceMean", [i], [o], axes=[-1])
    nodes = [mean(x, p + "m"), n("Sub", [x, p + "m"], [p + "d"]),
             n("Pow", [p + "d", p + "two"], [p + "q"]) if square == "Pow" else n("Mul", [p + "d", p + "d"], [p + "q"]),
             mean(p + "q", p + "v"), n("Add", [p + "v", p + "e"], [p + "w"]), n("Sqrt", [p + "w"], [p + "s"]), n("Div", [p + "d", p + "s"], [p + "n"]),
             n("Mul", [p + "n", p + "g"], [p + "h"]), n("Add", [p + "h", p + "b"], [out])]
    inits = [c(p + "e", eps, np.float32), w(p + "g", d), w(p + "b", d)]
    if square == "Pow":
        inits.append(c(p + "two", 2.0, np.float32))
    if opset >= 18:
        inits.append(c(p + "ax", [-1], np.int64))
    return nodes, inits


def rms_norm(x, out, p, d, eps=1e-6, form="rsqrt"):
    """Llama's norm: x * rsqrt(mean(x^2) + eps) * g."""
    nodes = [n("Pow", [x, p + "two"], [p + "q"]), n("ReduceMean", [p + "q"], [p + "v"], axes=[-1]), n("Add", [p + "v", p + "e"], [p + "w"]), n("Sqrt", [p + "w"], [p + "s"])]
    if form == "rsqrt":
        nodes += [n("Reciprocal", [p + "s"], [p + "r"]), n("Mul", [x, p + "r"], [p + "n"])]
    elif form == "one over":
        nodes += [n("Div", [p + "one", p + "s"], [p + "r"]), n("Mul", [x, p + "r"], [p + "n"])]
    else:
        nodes += [n("Div", [x, p + "s"], [p + "n"])]
    nodes += [n("Mul", [p + "g", p + "n"], [out])]
    inits = [c(p + "two", 2.0, np.float32), c(p + "e", eps, np.float32), w(p + "g", d)]
    if form == "one over":
        inits.append(c(p + "one", 1.0, np.float32))
    return nodes, inits


def gelu_erf(x, out, p, half_first=False):
    nodes = [n("Div", [x, p + "r2"], [p + "d"]), n("Erf", [p + "d"], [p + "f"]), n("Add", [p + "f", p + "one"], [p + "a"])]
    if half_first:
        nodes += [n("Mul", [p + "a", p + "half"], [p + "h"]), n("Mul", [x, p + "h"], [out])]
    else:
        nodes += [n("Mul", [x, p + "a"], [p + "m"]), n("Mul", [p + "m", p + "half"], [out])]
    return nodes, [c(p + "r2", np.sqrt(2), np.float32), c(p + "one", 1.0, np.float32), c(p + "half", 0.5, np.float32)]


def gelu_tanh(x, out, p, cube="Pow"):
    nodes = [n("Mul", [p + "half", x], [p + "hx"])]
    if cube == "Pow":
        nodes += [n("Pow", [x, p + "three"], [p + "c"])]
    else:
        nodes += [n("Mul", [x, x], [p + "sq"]), n("Mul", [p + "sq", x], [p + "c"])]
    nodes += [n("Mul", [p + "c", p + "k"], [p + "kc"]), n("Add", [x, p + "kc"], [p + "s"]), n("Mul", [p + "s", p + "r"], [p + "u"]), n("Tanh", [p + "u"], [p + "t"]),
              n("Add", [p + "one", p + "t"], [p + "a"]), n("Mul", [p + "hx", p + "a"], [out])]
    inits = [c(p + "half", 0.5, np.float32), c(p + "k", 0.044715, np.float32), c(p + "r", np.sqrt(2 / np.pi), np.float32), c(p + "one", 1.0, np.float32)]
    if cube == "Pow":
        inits.append(c(p + "three", 3.0, np.float32))
    return nodes, inits


def silu(x, out, p):
    return [n("Sigmoid", [x], [p + "s"]), n("Mul", [x, p + "s"], [out])], []


def pattern(name, build, shape, ops, opset=17, **how):
    if build is layer_norm:
        how["opset"] = opset
    nodes, inits = build("x", "y", "p_", *([shape[-1]] if "norm" in build.__name__ else []), **how)
    case(name, {"x": x(*shape, scale=2.0)}, nodes, inits, opset=opset, ops=ops)


pattern("pattern layer norm", layer_norm, (2, 3, 8), ["Norm", "Mul", "Add"])
pattern("pattern layer norm, square by Mul", layer_norm, (2, 3, 8), ["Norm", "Mul", "Add"], square="Mul")
pattern("pattern layer norm, set 18", layer_norm, (2, 3, 8), ["Norm", "Mul", "Add"], opset=18)
for form in ("rsqrt", "one over", "quotient"):
    pattern("pattern rms norm, " + form, rms_norm, (2, 3, 8), ["Norm", "Mul"], form=form)
pattern("pattern gelu", gelu_erf, (2, 9), ["gelu"])
pattern("pattern gelu, half first", gelu_erf, (2, 9), ["gelu"], half_first=True)
pattern("pattern gelu tanh", gelu_tanh, (2, 9), ["gelutanh"])
pattern("pattern gelu tanh, products", gelu_tanh, (2, 9), ["gelutanh"], cube="Mul")
pattern("pattern silu", silu, (2, 9), ["silu"])
# Near misses must stay what they are.
nodes, inits = gelu_erf("x", "y", "p_")
case("pattern no gelu", {"x": x(2, 9)}, nodes, inits[:2] + [c("p_half", 0.6, np.float32)], ops=["Div", "erf", "Add", "Mul", "Mul"])


def linear(x, out, p, k, m):
    return [n("MatMul", [x, p + "w"], [p + "mm"]), n("Add", [p + "mm", p + "wb"], [out])], [w(p + "w", k, m, scale=1 / np.sqrt(k)), w(p + "wb", m, scale=0.1)]


def heads(x, out, p, b, s, count, size):
    """[b, s, count * size] -> [b, count, s, size]"""
    return [n("Reshape", [x, p + "rs"], [p + "r"]), n("Transpose", [p + "r"], [out], perm=[0, 2, 1, 3])], [c(p + "rs", [b, s, count, size], np.int64)]


def collect(*parts):
    nodes, inits = [], []
    for a, b in parts:
        nodes += a
        inits += b
    return nodes, inits


def attention(x, out, p, b, s, d, count, mask, kv=None, rope=False):
    """Exported self-attention. mask: nodes that turn p+'scores' into p+'masked'."""
    size, kv = d // count, kv or count
    parts = []
    for name, m in (("q", count), ("k", kv), ("v", kv)):
        parts += [linear(x, p + name, p + name + "_", d, m * size), heads(p + name, p + name + "h", p + name + "h_", b, s, m, size)]
    q, k, v = p + "qh", p + "kh", p + "vh"
    if rope:
        for name in ("q", "k"):
            parts.append(rotary(p + name + "h", p + name + "e", p + name + "e_", size))
        q, k = p + "qe", p + "ke"
    if kv != count:
        for name in ("k", "v"):
            src = k if name == "k" else v
            g = p + name + "g"
            parts.append(([n("Unsqueeze", [src, g + "a"], [g + "u"]), n("Expand", [g + "u", g + "s"], [g + "e"]), n("Reshape", [g + "e", g + "r"], [g])],
                          [c(g + "a", [2], np.int64), c(g + "s", [b, kv, count // kv, s, size], np.int64), c(g + "r", [b, count, s, size], np.int64)]))
        k, v = p + "kg", p + "vg"
    parts += [([n("Transpose", [k], [p + "kt"], perm=[0, 1, 3, 2]), n("MatMul", [q, p + "kt"], [p + "raw"]), n("Div", [p + "raw", p + "root"], [p + "scores"])], [c(p + "root", np.sqrt(size), np.float32)]),
              mask(p),
              ([n("Softmax", [p + "masked"], [p + "prob"], axis=-1), n("MatMul", [p + "prob", v], [p + "ctx"]), n("Transpose", [p + "ctx"], [p + "ct"], perm=[0, 2, 1, 3]),
                n("Reshape", [p + "ct", p + "cs"], [p + "cr"])], [c(p + "cs", [b, s, d], np.int64)]),
              linear(p + "cr", out, p + "o_", d, d)]
    return collect(*parts)


def rotary(x, out, p, size):
    """x * cos + rotate_half(x) * sin with tables cos and sin of shape [1, 1, s, size]."""
    return ([n("Slice", [x, p + "s0", p + "e0", p + "ax"], [p + "lo"]), n("Slice", [x, p + "e0", p + "e1", p + "ax"], [p + "hi"]), n("Neg", [p + "hi"], [p + "nh"]),
             n("Concat", [p + "nh", p + "lo"], [p + "rot"], axis=-1), n("Mul", [x, "cos"], [p + "xc"]), n("Mul", [p + "rot", "sin"], [p + "xs"]), n("Add", [p + "xc", p + "xs"], [out])],
            [c(p + "s0", [0], np.int64), c(p + "e0", [size // 2], np.int64), c(p + "e1", [9223372036854775807], np.int64), c(p + "ax", [-1], np.int64)])


def causal(s):
    return np.tril(np.ones((s, s), bool))


# Masks as exporters write them.
def mask_where(p):  # GPT-2: a table of booleans
    return [n("Where", ["tri", p + "scores", "low"], [p + "masked"])], []


def mask_add_constant(p):
    return [n("Add", [p + "scores", "bias"], [p + "masked"])], []


def mask_add_input(p):  # BERT: (1 - mask) * lowest
    return [n("Add", [p + "scores", "ext"], [p + "masked"])], []


b, s, d, v = 2, 5, 8, 11
base = [c("tri", causal(s)[None, None], np.bool_), c("low", np.finfo(np.float32).min, np.float32)]
nodes, inits = collect(attention("x", "y", "p_", b, s, d, 2, mask_where))
case("attention, causal by Where", {"x": x(b, s, d)}, nodes, inits + base, ops=["Select", "Softmax", "Einsum"])
for value in (-np.inf, -1e9, -1e4):
    nodes, inits = collect(attention("x", "y", "p_", b, s, d, 2, mask_add_constant))
    case(f"attention, causal by adding {value}", {"x": x(b, s, d)}, nodes, inits + [c("bias", np.where(causal(s), 0, value)[None, None], np.float32)], ops=["Select", "Softmax"])
ext = [n("Unsqueeze", ["am", "ma"], ["am4"]), n("Cast", ["am4"], ["amf"], to=F), n("Sub", ["m1", "amf"], ["inv"]), n("Mul", ["inv", "low"], ["ext"])]
ext_c = [c("ma", [1, 2], np.int64), c("m1", 1.0, np.float32), c("low", np.finfo(np.float32).min, np.float32)]
am = np.ones((b, s), np.int64)
am[1, 3:] = 0
nodes, inits = collect(attention("x", "y", "p_", b, s, d, 2, mask_add_input))
case("attention, padding by an input", {"x": x(b, s, d), "am": (I, [b, s], am)}, ext + nodes, inits + ext_c, ops=["Select", "Softmax"])
both = [n("Unsqueeze", ["am", "ma"], ["am4"]), n("Cast", ["am4"], ["amb"], to=T.BOOL), n("And", ["amb", "tri"], ["keep"]), n("Where", ["keep", "zero", "low"], ["ext"])]
case("attention, causal and padding", {"x": x(b, s, d), "am": (I, [b, s], am)}, both + nodes, inits + [c("ma", [1, 2], np.int64), c("zero", 0.0, np.float32)] + base, ops=["Select", "Softmax"])

# torch's newer exporter scales both factors, and transposes the keys in a batch of matrices.
size = d // 2
nodes, inits = collect(
    ([n("MatMul", ["x", "qw"], ["q0"]), n("MatMul", ["x", "kw"], ["k0"]), n("MatMul", ["x", "vw"], ["v0"])], [w("qw", d, d), w("kw", d, d), w("vw", d, d)]),
    heads("q0", "q1", "q_", b, s, 2, size), heads("k0", "k1", "k_", b, s, 2, size), heads("v0", "v1", "v_", b, s, 2, size),
    ([n("Reshape", ["k1", "ks"], ["k2"]), n("Transpose", ["k2"], ["k3"], perm=[0, 2, 1]), n("Reshape", ["k3", "kt"], ["k4"]), n("Mul", ["q1", "root"], ["q5"]), n("Mul", ["k4", "root"], ["k5"]),
      n("MatMul", ["q5", "k5"], ["sc"]), n("Where", ["tri", "zero", "low"], ["bias"]), n("Add", ["sc", "bias"], ["ms"]), n("Softmax", ["ms"], ["pr"], axis=-1), n("IsNaN", ["pr"], ["nan"]),
      n("Where", ["nan", "zero", "pr"], ["p2"]), n("MatMul", ["p2", "v1"], ["ctx"]), n("Transpose", ["ctx"], ["ct"], perm=[0, 2, 1, 3]), n("Reshape", ["ct", "cs"], ["y"])],
     [c("ks", [-1, s, size], np.int64), c("kt", [b, 2, size, s], np.int64), c("root", size ** -0.25, np.float32), c("zero", 0.0, np.float32), c("cs", [b, s, d], np.int64)]))
case("pattern attention", {"x": x(b, s, d)}, nodes, inits + base, ops=["Einsum"] * 5 + ["Reshape"] * 4 + ["Select", "Softmax"])

# One table for the first and the last layer.
case("pattern tied weights", {"ids": (I, [1, 3], rng.integers(0, v, (1, 3)))}, [n("Gather", ["w", "ids"], ["e"]), n("Transpose", ["w"], ["t"]), n("Tanh", ["e"], ["h"]), n("MatMul", ["h", "t"], ["y"])],
     [w("w", v, d)], ops=["Embed", "tanh", "Einsum"])

# Whole small models.
nodes, inits = collect(
    ([n("Gather", ["wte", "ids"], ["te"]), n("Shape", ["ids"], ["ish"]), n("Gather", ["ish", "one_i"], ["len"]), n("Range", ["zero_i", "len", "step_i"], ["pos"]), n("Gather", ["wpe", "pos"], ["pe"]),
      n("Add", ["te", "pe"], ["h0"])], [w("wte", v, d), w("wpe", 16, d), c("one_i", 1, np.int64), c("zero_i", 0, np.int64), c("step_i", 1, np.int64)]),
    layer_norm("h0", "n0", "l1_", d), attention("n0", "a0", "at_", b, s, d, 2, mask_where), ([n("Add", ["h0", "a0"], ["h1"])], []),
    layer_norm("h1", "n1", "l2_", d), linear("n1", "f0", "f1_", d, 16), gelu_tanh("f0", "f2", "g_"), linear("f2", "f3", "f2_", 16, d), ([n("Add", ["h1", "f3"], ["h2"])], []),
    layer_norm("h2", "n2", "l3_", d), ([n("MatMul", ["n2", "head"], ["y"])], [w("head", d, v)]))
case("gpt", {"ids": (I, ["batch", "seq"], rng.integers(0, v, (b, s)))}, nodes, inits + base, dims={"batch": b, "seq": s},
     ops=["Embed", "Norm", "gelutanh", "Softmax", "Select", "Einsum"])

nodes, inits = collect(
    ([n("Gather", ["wte", "ids"], ["te"]), n("Gather", ["wty", "types"], ["ty"]), n("Add", ["te", "ty"], ["s0"]), n("Add", ["s0", "wpe"], ["h0"])], [w("wte", v, d), w("wty", 2, d), w("wpe", 1, s, d)]),
    layer_norm("h0", "n0", "l1_", d, eps=1e-12), (ext, ext_c), attention("n0", "a0", "at_", b, s, d, 2, mask_add_input), ([n("Add", ["n0", "a0"], ["h1"])], []),
    layer_norm("h1", "n1", "l2_", d, eps=1e-12), linear("n1", "f0", "f1_", d, 16), gelu_erf("f0", "f2", "g_"), linear("f2", "f3", "f2_", 16, d), ([n("Add", ["n1", "f3"], ["h2"])], []),
    layer_norm("h2", "hidden", "l3_", d, eps=1e-12), ([n("Gather", ["hidden", "first"], ["cls"], axis=1), n("Gemm", ["cls", "pw", "pb"], ["pre"]), n("Tanh", ["pre"], ["pooled"])],
                                            [c("first", 0, np.int64), w("pw", d, d), w("pb", d)]))
case("bert", {"ids": (I, ["batch", "seq"], rng.integers(0, v, (b, s))), "am": (I, ["batch", "seq"], am), "types": (I, ["batch", "seq"], rng.integers(0, 2, (b, s)))}, nodes, inits,
     dims={"batch": b, "seq": s}, outputs=["hidden", "pooled"], ops=["Embed", "Norm", "gelu", "Softmax", "Select", "tanh"])

angle = np.arange(s)[:, None] / 10000 ** (np.arange(2)[None] * 2 / 4)
angle = np.concatenate([angle, angle], -1)[None, None].astype(np.float32)
nodes, inits = collect(
    ([n("Gather", ["wte", "ids"], ["h0"])], [w("wte", v, 16)]), rms_norm("h0", "n0", "l1_", 16), attention("n0", "a0", "at_", 1, s, 16, 4, mask_where, kv=2, rope=True), ([n("Add", ["h0", "a0"], ["h1"])], []),
    rms_norm("h1", "n1", "l2_", 16), linear("n1", "gate", "f1_", 16, 24), silu("gate", "act", "s_"), linear("n1", "up", "f2_", 16, 24), ([n("Mul", ["act", "up"], ["gu"])], []), linear("gu", "dn", "f3_", 24, 16),
    ([n("Add", ["h1", "dn"], ["h2"])], []), rms_norm("h2", "n2", "l3_", 16), ([n("MatMul", ["n2", "head"], ["logits"]), n("ArgMax", ["logits"], ["y"], axis=-1, keepdims=0)], [w("head", 16, v)]))
case("llama", {"ids": (I, [1, "seq"], rng.integers(0, v, (1, s)))}, nodes, inits + base + [c("cos", np.cos(angle)), c("sin", np.sin(angle))], dims={"seq": s},
     ops=["Embed", "Norm", "silu", "Softmax", "Select", "Concat", "neg"], types={"logits": F, "y": I}, outputs=["logits", "y"])
