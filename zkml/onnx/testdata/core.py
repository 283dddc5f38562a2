"""Makes core.json.gz: small models of the operators in ops_*.go and of the patterns in passes*.go, with inputs and what onnxruntime
computes for them.

    python -m pip install onnx onnxruntime numpy && python core.py
"""
import base64
import gzip
import json

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

ort.set_default_logger_severity(3)
rng = np.random.default_rng(11)
cases = []
F, I = T.FLOAT, T.INT64
n = h.make_node


def c(name, value, dtype=None):
    return nh.from_array(np.asarray(value, dtype=dtype), name)


def w(name, *shape, scale=0.5):
    return nh.from_array((rng.standard_normal(shape) * scale).astype(np.float32), name)


def rows(model, name, inputs, dims):
    return {"name": name, "model": base64.b64encode(model.SerializeToString()).decode(), "dims": dims, "inputs": inputs}


def case(name, inputs, nodes, inits, outputs=("y",), opset=17, dims=None, ops=(), types=None, extra=()):
    """inputs: {name: (type, declared shape, value)}; ops: the primitives (or functions) that must remain, if given."""
    vis = [h.make_tensor_value_info(k, t, s) for k, (t, s, _) in inputs.items()]
    outs = [h.make_empty_tensor_value_info(o) if types is None else h.make_tensor_value_info(o, types.get(o, F), None) for o in outputs]
    outs = [h.make_tensor_value_info(o, (types or {}).get(o, F), None) for o in outputs]
    sets = [h.make_opsetid("", opset)] + [h.make_opsetid(d, 1) for d in extra]
    model = h.make_model(h.make_graph(nodes, name, vis, outs, inits), opset_imports=sets, producer_name="core.py")
    model.ir_version = 8 if opset < 23 else 11
    feeds = {k: v for k, (_, _, v) in inputs.items()}
    got = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(list(outputs), feeds)
    r = rows(model, name, [{"shape": list(v.shape), "values": [float(f"{x:.9g}") for x in v.ravel()]} for v in feeds.values()], dims or {})
    r["outputs"] = [{"shape": list(o.shape), "values": [float(f"{x:.8g}") for x in o.ravel()]} for o in got]
    r["ops"] = list(ops)
    cases.append(r)


def x(*shape, scale=1.0):
    return (F, list(shape), (rng.standard_normal(shape) * scale).astype(np.float32))


# ---- products
case("matmul_batched", {"a": x(2, 3, 4, 5), "b": x(3, 5, 6)}, [n("MatMul", ["a", "b"], ["y"])], [], ops=["Einsum"])
case("matmul_batch_of_one", {"a": x(1, 3, 4, 5), "b": x(2, 1, 5, 6)}, [n("MatMul", ["a", "b"], ["y"])], [])
case("matmul_vectors", {"a": x(5), "b": x(5)}, [n("MatMul", ["a", "b"], ["y"])], [])
case("matmul_vector_left", {"a": x(5), "b": x(2, 5, 3)}, [n("MatMul", ["a", "b"], ["y"])], [])
case("matmul_vector_right", {"a": x(2, 3, 5), "b": x(5)}, [n("MatMul", ["a", "b"], ["y"])], [])
case("matmul_constant_left", {"b": x(2, 5, 3)}, [n("MatMul", ["a", "b"], ["y"])], [w("a", 4, 5)])
case("matmul_wide", {"a": (F, [66, 520], rng.integers(-8, 9, (66, 520)).astype(np.float32) / 8)}, [n("MatMul", ["a", "b"], ["y"])], [c("b", rng.integers(-8, 9, (520, 70)) / 64, np.float32)])
case("gemm_computed", {"a": x(4, 3), "b": x(5, 4), "d": x(3, 1)}, [n("Gemm", ["a", "b", "d"], ["y"], transA=1, transB=1, alpha=0.5, beta=-2.0)], [])
for eq, shapes in [("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("bhid,bhjd->bhij", [(1, 2, 3, 4), (1, 2, 5, 4)]), ("ij->ji", [(3, 4)]), ("ij->i", [(3, 4)]),
                   ("i,j->ij", [(3,), (4,)]), ("...ij,...jk->...ik", [(2, 3, 4), (1, 4, 5)]), ("ij,jk", [(3, 4), (4, 2)]), ("bi,bj,bk->ijk", [(2, 3), (2, 4), (2, 5)]),
                   ("abc,cd->abd", [(2, 3, 4), (4, 5)]), ("ab,b->", [(3, 4), (4,)]), ("ab,cb,c->a", [(3, 4), (5, 4), (5,)])]:
    names = [f"i{k}" for k in range(len(shapes))]
    case("einsum " + eq, {k: x(*s) for k, s in zip(names, shapes)}, [n("Einsum", names, ["y"], equation=eq)], [])

# ---- elementwise
for op in ["Add", "Sub", "Mul", "Div"]:
    case(op.lower() + "_broadcast", {"a": x(2, 1, 4), "b": x(3, 1)}, [n(op, ["a", "b"], ["y"])], [])
    case(op.lower() + "_constant", {"a": x(2, 3, 4)}, [n(op, ["a", "b"], ["y"])], [w("b", 3, 1)])
for op in ["Erf", "Exp", "Abs", "Neg", "Sign", "Floor", "Ceil", "Round", "Sin", "Cos", "Reciprocal", "Tanh", "Sigmoid", "Relu"]:
    case(op.lower(), {"x": x(3, 5)}, [n(op, ["x"], ["y"])], [])
case("sqrt_log", {"x": x(3, 5)}, [n("Abs", ["x"], ["a"]), n("Sqrt", ["a"], ["s"]), n("Log", ["s"], ["y"])], [])
for p in [2.0, 3.0, 0.5, -1.0, -0.5, 1.0, 1.7]:
    case(f"pow {p}", {"x": (F, [4], np.array([0.5, 1.0, 2.0, 3.25], np.float32))}, [n("Pow", ["x", "p"], ["z"]), n("Tanh", ["z"], ["y"])], [c("p", p, np.float32)])
case("gelu20", {"x": x(3, 5)}, [n("Gelu", ["x"], ["g"]), n("Gelu", ["g"], ["y"], approximate="tanh")], [], opset=20, ops=["gelu", "gelutanh"])
case("ms_gelu", {"x": x(3, 5)}, [n("Gelu", ["x"], ["g"], domain="com.microsoft"), n("FastGelu", ["g", "b"], ["f"], domain="com.microsoft"),
                                 n("QuickGelu", ["f"], ["y"], domain="com.microsoft")], [w("b", 5)], extra=["com.microsoft"], ops=["gelu", "gelutanh", "silu", "Add"])

# ---- moves
case("transpose", {"x": x(2, 3, 4)}, [n("Transpose", ["x"], ["t"], perm=[1, 2, 0]), n("Transpose", ["t"], ["y"])], [], ops=["Rearrange"])
case("squeeze13", {"x": x(1, 3, 1, 4)}, [n("Squeeze", ["x", "a"], ["s"]), n("Unsqueeze", ["s", "b"], ["u"]), n("Squeeze", ["u"], ["v"]), n("Tanh", ["v"], ["y"])], [c("a", [0], np.int64), c("b", [-1, 0], np.int64)])
case("squeeze11", {"x": x(1, 3, 1, 4)}, [n("Squeeze", ["x"], ["s"], axes=[0]), n("Unsqueeze", ["s"], ["u"], axes=[0, 4]), n("Tanh", ["u"], ["y"])], [], opset=11)
case("expand", {"x": x(3, 1)}, [n("Expand", ["x", "s"], ["y"])], [c("s", [2, 1, 4], np.int64)])
case("tile", {"x": x(2, 3)}, [n("Tile", ["x", "s"], ["y"])], [c("s", [2, 3], np.int64)])
case("split_given", {"x": x(2, 7)}, [n("Split", ["x", "s"], ["a", "b", "e"], axis=1), n("Tanh", ["e"], ["y"]), n("Sub", ["a", "b"], ["z"])], [c("s", [2, 2, 3], np.int64)], outputs=["y", "z"])
case("split_equal11", {"x": x(4, 3)}, [n("Split", ["x"], ["a", "b"]), n("Mul", ["a", "b"], ["y"])], [], opset=11)
case("split_uneven18", {"x": x(5, 3)}, [n("Split", ["x"], ["a", "b"], num_outputs=2), n("Tanh", ["a"], ["y"]), n("Tanh", ["b"], ["z"])], [], opset=18, outputs=["y", "z"])
case("slice", {"x": x(5, 6, 7)}, [n("Slice", ["x", "st", "en", "ax", "by"], ["y"])], [c("st", [-1, 1, 100], np.int64), c("en", [-100, 5, -100], np.int64), c("ax", [0, 1, -1], np.int64), c("by", [-2, 2, -3], np.int64)])
case("slice9", {"x": x(5, 6)}, [n("Slice", ["x"], ["y"], starts=[1, -3], ends=[9223372036854775807, -1])], [], opset=9)
case("concat", {"a": x(2, 3), "b": x(2, 1)}, [n("Concat", ["a", "k", "b"], ["y"], axis=-1)], [w("k", 2, 2)])
case("gather_constant", {"x": x(4, 5)}, [n("Gather", ["x", "i"], ["y"], axis=1)], [c("i", [[0, -1], [2, 2]], np.int64)])
case("gather_scalar", {"x": x(4, 5)}, [n("Gather", ["x", "i"], ["y"], axis=0)], [c("i", 2, np.int64)])
ids = lambda *s, top: (I, list(s), rng.integers(0, top, s).astype(np.int64))
case("embedding", {"t": ids(2, 3, top=7)}, [n("Gather", ["w", "t"], ["y"])], [w("w", 7, 4)], ops=["Embed"])
case("embedding_moved", {"t": ids(2, 3, top=7)}, [n("Unsqueeze", ["t", "a"], ["u"]), n("Slice", ["u", "st", "en", "ax"], ["s"]), n("Gather", ["w", "s"], ["y"], axis=1)],
     [w("w", 4, 7, 2), c("a", [1], np.int64), c("st", [1], np.int64), c("en", [3], np.int64), c("ax", [2], np.int64)])

case("gather_nd", {"x": x(2, 3, 4)}, [n("GatherND", ["x", "i"], ["y"])], [c("i", [[[0, 1]], [[1, -1]]], np.int64)])
case("gather_nd_batch", {"x": x(2, 3, 4)}, [n("GatherND", ["x", "i"], ["y"], batch_dims=1)], [c("i", [[[2], [0]], [[1], [1]]], np.int64)])
case("gather_elements", {"x": x(3, 4)}, [n("GatherElements", ["x", "i"], ["y"], axis=1)], [c("i", [[0, -1, 2], [3, 3, 1]], np.int64)])
case("running_sums", {"x": x(2, 5)}, [n("CumSum", ["x", "a"], ["p"], exclusive=1), n("CumSum", ["x", "a"], ["q"], reverse=1), n("Sub", ["p", "q"], ["y"])], [c("a", 1, np.int64)])
case("comparisons", {"a": x(3, 4), "b": x(4)}, [n("Less", ["a", "b"], ["l"]), n("GreaterOrEqual", ["a", "half"], ["g"]), n("Xor", ["l", "g"], ["m"]), n("Where", ["m", "a", "b"], ["y"])], [c("half", 0.5, np.float32)])
case("einsum diagonal", {"a": x(3, 3, 2)}, [n("Einsum", ["a"], ["y"], equation="iik->ik")], [])
case("einsum trace", {"a": x(3, 3), "b": x(2)}, [n("Einsum", ["a", "b"], ["y"], equation="ii,k->k")], [])

# ---- shapes and constants
case("shape_arithmetic", {"x": (F, ["batch", "seq", 6], rng.standard_normal((2, 5, 6)).astype(np.float32))}, [
    n("Shape", ["x"], ["s"]), n("Gather", ["s", "i0"], ["b"]), n("Gather", ["s", "i1"], ["q"]), n("Unsqueeze", ["b", "zero"], ["bu"]), n("Unsqueeze", ["q", "zero"], ["qu"]),
    n("Div", ["six", "two"], ["three"]), n("Concat", ["bu", "qu", "two", "three"], ["t"], axis=0), n("Reshape", ["x", "t"], ["r"]), n("Transpose", ["r"], ["y"], perm=[0, 2, 1, 3])],
    [c("i0", 0, np.int64), c("i1", 1, np.int64), c("zero", [0], np.int64), c("six", [6], np.int64), c("two", [2], np.int64)], dims={"batch": 2, "seq": 5}, ops=["Reshape", "Rearrange"])
case("causal_from_range", {"x": x(1, 4, 4)}, [
    n("Shape", ["x"], ["s"], start=1, end=2), n("Squeeze", ["s"], ["q"]), n("Range", ["zero", "q", "one"], ["r"]), n("Unsqueeze", ["r", "a0"], ["row"]), n("Unsqueeze", ["r", "a1"], ["col"]),
    n("LessOrEqual", ["row", "col"], ["m"]), n("Where", ["m", "x", "ninf"], ["z"]), n("Softmax", ["z"], ["y"], axis=-1)],
    [c("zero", 0, np.int64), c("one", 1, np.int64), c("a0", [0], np.int64), c("a1", [1], np.int64), c("ninf", -np.inf, np.float32)], ops=["Select", "Softmax"])
case("constants", {"x": x(2, 3)}, [
    n("ConstantOfShape", ["sh"], ["ones"], value=c("v", [1], np.int64)), n("CumSum", ["ones", "ax"], ["cs"]), n("Cast", ["cs"], ["f"], to=F), n("Mod", ["cs", "two"], ["md"]),
    n("Equal", ["md", "zero"], ["e"]), n("Not", ["e"], ["ne"]), n("Where", ["ne", "f", "half"], ["k"]), n("Add", ["x", "k"], ["y"])],
    [c("sh", [2, 3], np.int64), c("ax", 1, np.int64), c("two", 2, np.int64), c("zero", 0, np.int64), c("half", 0.5, np.float32)], ops=["Add"])
case("nonzero_onehot", {"x": x(3, 4)}, [n("NonZero", ["m"], ["nz"]), n("Squeeze", ["nz", "z0"], ["ids"]), n("OneHot", ["ids", "d", "vals"], ["oh"]), n("MatMul", ["x", "oh4"], ["a"]), n("MatMul", ["oh", "oht"], ["g"]), n("MatMul", ["a", "g4"], ["p"]), n("Add", ["p", "s"], ["y"]), n("ReduceSum", ["g"], ["s"], keepdims=0)],
     [c("m", [1, 0, 1], np.int64), c("z0", [0], np.int64), c("d", 4, np.int64), c("vals", [0, 1], np.float32), w("oh4", 4, 4), w("oht", 4, 3), w("g4", 4, 2)])
g = lambda name, nodes, inits: h.make_graph(nodes, name, [], [h.make_tensor_value_info(name + "_out", F, None)], inits)
case("if_constant", {"x": x(2, 3)}, [
    n("Shape", ["x"], ["s"]), n("Size", ["s"], ["rank"]), n("Equal", ["rank", "two"], ["cond"]), n("Tanh", ["x"], ["u"]),
    n("If", ["cond"], ["b"], then_branch=g("then", [n("Mul", ["u", "k"], ["then_out"])], [c("k", 3.0, np.float32)]), else_branch=g("else", [n("Exp", ["u"], ["else_out"])], [])),
    n("Add", ["b", "x"], ["y"])], [c("two", 2, np.int64)], ops=["tanh", "Mul", "Add"])

# ---- normalisation
for opset in (11, 13):
    for axis in (0, 1, 2):
        case(f"softmax{opset} axis {axis}", {"x": x(2, 3, 4)}, [n("Softmax", ["x"], ["y"], axis=axis)], [], opset=opset)
case("log_softmax", {"x": x(2, 5)}, [n("LogSoftmax", ["x"], ["y"], axis=1)], [])
case("layer_norm17", {"x": x(2, 3, 8)}, [n("LayerNormalization", ["x", "g", "b"], ["y"], axis=-1, epsilon=1e-5)], [w("g", 8), w("b", 8)], ops=["Norm", "Mul", "Add"])
case("layer_norm17_statistics", {"x": x(2, 3, 8)}, [n("LayerNormalization", ["x", "g", "b"], ["y", "m", "d"], axis=1)], [w("g", 3, 8), w("b", 3, 8)], outputs=["y", "m", "d"])
case("layer_norm17_two_axes", {"x": x(2, 3, 4)}, [n("LayerNormalization", ["x", "g"], ["y"], axis=1)], [w("g", 3, 4)], ops=["Norm", "Mul"])
case("rms_norm23", {"x": x(2, 3, 8)}, [n("RMSNormalization", ["x", "g"], ["y"], axis=-1, epsilon=1e-5)], [w("g", 8)], opset=23, ops=["Norm", "Mul"])
case("simplified", {"x": x(2, 8)}, [n("SimplifiedLayerNormalization", ["x", "g"], ["y"], epsilon=1e-6)], [w("g", 8)], ops=["Norm", "Mul"])
case("skip_norm", {"x": x(1, 2, 8), "s": x(1, 2, 8)}, [n("SkipLayerNormalization", ["x", "s", "g", "b", "k"], ["y", "", "", "z"], domain="com.microsoft", epsilon=1e-5),
                                                  n("SkipSimplifiedLayerNormalization", ["z", "s", "g"], ["v"], domain="com.microsoft", epsilon=1e-5)],
     [w("g", 8), w("b", 8), w("k", 8)], extra=["com.microsoft"], outputs=["y", "v"])

exec(open("patterns.py").read())

with gzip.GzipFile("core.json.gz", "wb", compresslevel=9, mtime=0) as f:
    f.write(json.dumps(cases).encode())
print(len(cases), "cases")
