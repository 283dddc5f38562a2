"""Makes the models in this folder and what ONNX's own reference evaluator says of them.

    python -m pip install onnx==1.23.2 numpy && python make.py

Each model comes with NAME.json: shape and values of an input and of the output.
"""
import json

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(7)


def const(name, shape, scale=0.5, dtype=np.float32):
    return nh.from_array((rng.standard_normal(shape) * scale).astype(dtype), name)


def save(name, opset, shape, nodes, inits, out_type=T.FLOAT, out_shape=None, in_shape=None, elem=T.FLOAT):
    x = h.make_tensor_value_info("x", elem, in_shape or shape)
    y = h.make_tensor_value_info("y", out_type, out_shape)
    graph = h.make_graph(nodes, name, [x], [y], inits)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], producer_name="make.py")
    model.ir_version = 4 if opset < 11 else 10 if opset == 21 else 8
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, name + ".onnx")
    value = rng.standard_normal(shape).astype(h.tensor_dtype_to_np_dtype(elem))
    (out,) = ReferenceEvaluator(model).run(None, {"x": value})
    with open(name + ".json", "w") as f:
        json.dump({"input": value.astype(np.float64).ravel().tolist(), "shape": list(out.shape),
                   "output": out.astype(np.float64).ravel().tolist()}, f)
        f.write("\n")


n = h.make_node

# Both Gemm layouts, alpha and beta, a bias that repeats, Softmax along one axis.
save("gemm13", 13, [3, 7], [
    n("Gemm", ["x", "w1", "b1"], ["h"], alpha=0.5, beta=2.0),
    n("Sigmoid", ["h"], ["s"]),
    n("Gemm", ["s", "w2", "b2"], ["z"], transB=1),
    n("Softmax", ["z"], ["y"], axis=-1),
], [const("w1", (7, 5)), const("b1", (1, 5)), const("w2", (4, 5)), const("b2", (4,))], out_shape=["batch", 4], in_shape=["batch", 7])

# The oldest operator set: Clip with attributes, Dropout with a ratio, Flatten. (The reference evaluator knows only the newer Softmax, so
# the axis is the last one, where old and new agree.)
save("old9", 9, [2, 3, 4], [
    n("Flatten", ["x"], ["f"], axis=2),
    n("MatMul", ["f", "w"], ["m"]),
    n("Add", ["m", "b"], ["a"]),
    n("Clip", ["a"], ["c"], min=-0.4, max=0.7),
    n("Dropout", ["c"], ["d"], ratio=0.3),
    n("Reshape", ["d", "shape"], ["r"]),
    n("Softmax", ["r"], ["y"], axis=2),
], [const("w", (4, 6)), const("b", (6,)), nh.from_array(np.array([2, -1, 3], np.int64), "shape")], out_shape=[2, 6, 3])

# Constants as nodes in every form, arithmetic among constants, Identity, Cast, Mul, Div, Sub, residual Add, Clip with inputs.
save("forms14", 14, [1, 6], [
    n("Constant", [], ["two"], value_float=2.0),
    n("Constant", [], ["three"], value=nh.from_array(np.array([3.0], np.float32))),
    n("Constant", [], ["shape"], value_ints=[0, 2, -1]),
    n("Constant", [], ["seven"], value_int=7),
    n("Cast", ["seven"], ["seven_f"], to=T.FLOAT),
    n("Constant", [], ["row"], value_floats=[1.0, -2.0, 0.5, 0.25, 3.0, -1.0]),
    n("Mul", ["two", "three"], ["six"]),
    n("MatMul", ["x", "w"], ["m"]),
    n("Mul", ["m", "six"], ["m6"]),
    n("Div", ["m6", "seven_f"], ["m67"]),
    n("Sub", ["row", "m67"], ["s"]),
    n("Identity", ["s"], ["i"]),
    n("Relu", ["i"], ["r"]),
    n("Add", ["r", "x"], ["res"]),
    n("Cast", ["res"], ["rd"], to=T.FLOAT),
    n("Clip", ["rd", "lo", ""], ["c"]),
    n("Tanh", ["c"], ["t"]),
    n("Reshape", ["t", "shape"], ["y"]),
], [const("w", (6, 6)), nh.from_array(np.array(-0.8, np.float32), "lo")], out_shape=[1, 2, 3])

# ArgMax after Softmax, double precision, Reshape with allowzero, Dropout with inputs, Flatten with a negative axis.
save("argmax21", 21, [2, 5], [
    n("Dropout", ["x", "ratio"], ["d", "mask"]),
    n("Reshape", ["d", "shape"], ["r"], allowzero=1),
    n("Flatten", ["r"], ["f"], axis=-1),
    n("MatMul", ["f", "w"], ["m"]),
    n("Softmax", ["m"], ["p"], axis=1),
    n("ArgMax", ["p"], ["y"], axis=1, keepdims=0, select_last_index=1),
], [const("w", (5, 9), dtype=np.float64), nh.from_array(np.array(0.25, np.float64), "ratio"),
    nh.from_array(np.array([2, 1, 5], np.int64), "shape")], out_type=T.INT64, out_shape=[2], elem=T.DOUBLE)
