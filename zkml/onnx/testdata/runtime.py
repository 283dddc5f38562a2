"""Makes runtime.tar.bz2: small float models with forms of operators that ONNX's node tests lack, and what onnxruntime computes; and
networks as onnxruntime's own quantiser writes them.

    python -m pip install onnx==1.23.2 onnxruntime==1.32.0 numpy && python runtime.py

The archive has the form of node.tar.bz2.
"""

import bz2
import io
import itertools
import os
import tarfile
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

rng = np.random.default_rng(21)
F = np.float32
cases = []


def session(model):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def keep(name, model, feeds):
    run = session(model)
    outs = [o.name for o in run.get_outputs()]
    results = run.run(outs, feeds)
    for o, r in zip(model.graph.output, results):
        o.CopyFrom(h.make_tensor_value_info(o.name, o.type.tensor_type.elem_type, r.shape))
    cases.append((name, model, [feeds[i.name] for i in model.graph.input], results))


def single(name, op, x, params=(), outputs=1, opset=17, kind=T.FLOAT, **attrs):
    """One operator on x; params are constants, None for an absent one."""
    names = ["x"] + ["" if p is None else "c%d" % i for i, p in enumerate(params)]
    inits = [nh.from_array(p, "c%d" % i) for i, p in enumerate(params) if p is not None]
    outs = ["y%d" % i for i in range(outputs)]
    graph = h.make_graph([h.make_node(op, names, outs, **attrs)], name, [h.make_tensor_value_info("x", T.FLOAT, x.shape)],
                         [h.make_tensor_value_info(o, kind, None) for o in outs], inits)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], producer_name="runtime.py")
    model.ir_version = 8
    keep(name, model, {"x": x})


def normal(*shape):
    return rng.standard_normal(shape).astype(F)


def recurrent():
    s, b, i, hid = 5, 2, 3, 4
    for op, gates, outs in (("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 2)):
        for direction, d in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            for states in (False, True):
                w, r, bias = normal(d, gates * hid, i), normal(d, gates * hid, hid), normal(d, 2 * gates * hid)
                params = [w, r, bias]
                if states:
                    params += [None, normal(d, b, hid)]
                    if op == "LSTM":
                        params += [normal(d, b, hid), normal(d, 3 * hid)]
                attrs = {}
                if op == "GRU":
                    attrs["linear_before_reset"] = int(states)
                if direction == "reverse":
                    attrs["clip"] = 0.7
                single("%s_%s_%d" % (op, direction, states), op, normal(s, b, i), params, outs, direction=direction, hidden_size=hid, **attrs)
        names = {"LSTM": ["HardSigmoid", "Affine", "Softsign"], "GRU": ["HardSigmoid", "LeakyRelu"], "RNN": ["ScaledTanh"]}[op]
        alpha = {"LSTM": [0.3, 0.5], "GRU": [0.3, 0.2], "RNN": [0.9]}[op]
        beta = {"LSTM": [0.4, 0.1], "GRU": [0.4], "RNN": [1.1]}[op]
        single(op + "_functions", op, normal(s, b, i), [normal(1, gates * hid, i), normal(1, gates * hid, hid)], outs, hidden_size=hid,
               activations=names, activation_alpha=alpha, activation_beta=beta)


def convolutions():
    for n, (size, k, stride, dil, auto) in enumerate(itertools.product((7, 8), (2, 3), (1, 2), (1, 2), ("SAME_UPPER", "SAME_LOWER", "VALID"))):
        if dil == 1 or auto == "VALID":  # onnxruntime has no dilation with SAME
            single("Conv1_%d" % n, "Conv", normal(1, 2, size), [normal(3, 2, k), normal(3)], auto_pad=auto, strides=[stride], dilations=[dil])
    for g in (1, 2, 4):
        single("Conv2_group%d" % g, "Conv", normal(2, 4, 6, 7), [normal(8, 4 // g, 3, 2), normal(8)], group=g, pads=[1, 0, 2, 1], strides=[2, 1])
        single("ConvTranspose2_group%d" % g, "ConvTranspose", normal(1, 4, 4, 5), [normal(4, 3, 3, 2), normal(3 * g)], group=g, strides=[2, 3],
               pads=[1, 0, 0, 1], output_padding=[1, 0], dilations=[2, 1])
    single("ConvTranspose1", "ConvTranspose", normal(1, 3, 6), [normal(3, 2, 4)], strides=[2], pads=[1, 1])
    for n, (k, s, p, ceil) in enumerate(itertools.product((2, 3), (1, 2, 3), (0, 1), (0, 1))):
        x = normal(1, 2, 7, 8)
        single("MaxPool_%d" % n, "MaxPool", x, kernel_shape=[k, k], strides=[s, s], pads=[p] * 4, ceil_mode=ceil)
        single("AveragePool_%d" % n, "AveragePool", x, kernel_shape=[k, k], strides=[s, s], pads=[p] * 4, ceil_mode=ceil, count_include_pad=n % 2)


def resizes():
    modes = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
    for n, (mode, nearest) in enumerate(itertools.product(modes, ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))):
        for k, size in enumerate((3, 5, 13, 20)):
            single("Resize_%d_%d" % (n, k), "Resize", normal(1, 1, 2, 7), [None, None, np.array([1, 1, 2, size])], mode="nearest", nearest_mode=nearest,
                   coordinate_transformation_mode=mode)
        for k, scale in enumerate((0.6, 1.7, 2.0, 3.3) if mode != "align_corners" else (2.0,)):
            single("Resize_scale_%d_%d" % (n, k), "Resize", normal(1, 1, 2, 9), [None, np.array([1, 1, 1, scale], F)], mode="nearest", nearest_mode=nearest,
                   coordinate_transformation_mode=mode)
    for n, mode in enumerate(modes):
        single("Resize_linear_%d" % n, "Resize", normal(1, 2, 4, 5), [None, None, np.array([1, 2, 7, 3])], mode="linear", coordinate_transformation_mode=mode)
    single("Upsample", "Upsample", normal(1, 1, 2, 3), [np.array([1, 1, 2, 3], F)], opset=9, mode="nearest")


def others():
    x = normal(2, 3, 4, 5)
    for mode in ("constant", "reflect", "edge"):
        single("Pad_" + mode, "Pad", x, [np.array([0, 0, 1, 2, 0, 0, 2, 1])], mode=mode)
    single("Pad_negative", "Pad", x, [np.array([0, 0, -1, 2, 0, 0, 2, -1]), np.array(1.5, F)], mode="constant")
    for op in ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"):
        single(op, op, x, axes=[-1, 1], keepdims=0)
    for op in ("ArgMax", "ArgMin"):
        single(op, op, np.round(x), kind=T.INT64, axis=-2, keepdims=0, select_last_index=1)
    single("PRelu", "PRelu", x, [np.abs(normal(3, 1, 1))])
    single("InstanceNormalization", "InstanceNormalization", x, [normal(3), normal(3)])


class Reader(CalibrationDataReader):
    def __init__(self, feeds):
        self.feeds = iter(feeds)

    def get_next(self):
        return next(self.feeds, None)


def network():
    """A small image network with every kind of layer that the quantiser knows."""
    nodes, inits = [], []

    def const(array):
        name = "w%d" % len(inits)
        inits.append(nh.from_array(array, name))
        return name

    def node(op, inputs, **attrs):
        nodes.append(h.make_node(op, inputs, ["t%d" % len(nodes)], name="n%d" % len(nodes), **attrs))
        return nodes[-1].output[0]

    def conv(x, n, c, k, group=1, **attrs):
        y = node("Conv", [x, const(normal(n, c // group, k, k) * F(1 / np.sqrt(c // group * k * k))), const(normal(n) * F(0.1))], group=group,
                 kernel_shape=[k, k], pads=[k // 2] * 4, **attrs)
        return node("BatchNormalization", [y, const(np.abs(normal(n))), const(normal(n) * F(0.1)), const(normal(n) * F(0.1)), const(np.abs(normal(n)) + F(0.5))])

    x = node("Relu", [conv("x", 8, 3, 3)])
    y = node("Clip", [conv(x, 8, 8, 3, group=8), const(np.array(0, F)), const(np.array(6, F))])
    y = conv(y, 8, 8, 1)
    x = node("Add", [x, y])
    a = node("Relu", [conv(x, 8, 8, 3, strides=[2, 2])])
    b = node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = node("Concat", [a, b], axis=1)
    x = node("LeakyRelu", [conv(x, 12, 16, 1)], alpha=0.1)
    x = node("Mul", [x, node("Sigmoid", [x])])
    x = node("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = node("GlobalAveragePool", [x])
    x = node("Flatten", [x])
    x = node("Gemm", [x, const(normal(10, 12) * F(0.4)), const(normal(10))], transB=1)
    graph = h.make_graph(nodes, "network", [h.make_tensor_value_info("x", T.FLOAT, [1, 3, 16, 16])], [h.make_tensor_value_info(x, T.FLOAT, [1, 10])], inits)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 13)])
    model.ir_version = 8
    return model


def perceptron():
    """A network for dynamic quantisation."""
    w = [normal(16, 20) * F(0.3), normal(20) * F(0.1), normal(20, 5) * F(0.3), normal(5)]
    names = ["w0", "w1", "w2", "w3"]
    nodes = [h.make_node("MatMul", ["x", "w0"], ["a"], name="a"), h.make_node("Add", ["a", "w1"], ["b"], name="b"), h.make_node("Relu", ["b"], ["c"], name="c"),
             h.make_node("MatMul", ["c", "w2"], ["d"], name="d"), h.make_node("Add", ["d", "w3"], ["y"], name="e")]
    graph = h.make_graph(nodes, "perceptron", [h.make_tensor_value_info("x", T.FLOAT, [4, 16])], [h.make_tensor_value_info("y", T.FLOAT, [4, 5])],
                         [nh.from_array(a, n) for a, n in zip(w, names)])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 13)])
    model.ir_version = 8
    return model


def show_codes(model):
    """Makes all quantised tensors outputs: so all are compared, and onnxruntime does not merge two roundings into one."""
    kinds = {i.name: i.data_type for i in model.graph.initializer}
    for n in model.graph.node:
        if n.op_type == "QuantizeLinear" and n.input[0] not in kinds:
            model.graph.output.append(h.make_tensor_value_info(n.output[0], kinds[n.input[2]], None))
        if n.op_type in ("QLinearConv", "QLinearAdd", "QLinearMul", "QGemm"):
            model.graph.output.append(h.make_tensor_value_info(n.output[0], kinds[n.input[len(n.input) - 2 if n.op_type == "QLinearConv" and len(n.input) == 9 else -1]], None))


def quantised():
    with tempfile.TemporaryDirectory() as d:
        path = lambda name: os.path.join(d, name)
        onnx.save(network(), path("network.onnx"))
        quant_pre_process(path("network.onnx"), path("prepared.onnx"))
        samples = [{"x": normal(1, 3, 16, 16)} for _ in range(20)]
        for form, kinds in itertools.product((QuantFormat.QDQ, QuantFormat.QOperator), ((QuantType.QUInt8, QuantType.QInt8), (QuantType.QInt8, QuantType.QInt8))):
            for per_channel in (False, True):
                name = "quantised_%s_%s_%d" % (form.name.lower(), kinds[0].name[1:].lower(), per_channel)
                quantize_static(path("prepared.onnx"), path(name), Reader(samples), quant_format=form, per_channel=per_channel, activation_type=kinds[0], weight_type=kinds[1])
                model = onnx.load(path(name))
                show_codes(model)
                keep(name, model, {"x": normal(1, 3, 16, 16)})
        onnx.save(perceptron(), path("perceptron.onnx"))
        quantize_dynamic(path("perceptron.onnx"), path("dynamic.onnx"), weight_type=QuantType.QInt8)
        keep("dynamic", onnx.load(path("dynamic.onnx")), {"x": normal(4, 16)})


def main():
    recurrent()
    convolutions()
    resizes()
    others()
    quantised()
    raw = io.BytesIO()
    tar = tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT)

    def add(name, data):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))

    for name, model, inputs, outputs in sorted(cases, key=lambda c: c[0]):
        add(name + "/model.onnx", model.SerializeToString())
        for kind, arrays in (("input", inputs), ("output", outputs)):
            for i, array in enumerate(arrays):
                add("%s/%s_%d.pb" % (name, kind, i), nh.from_array(array).SerializeToString())
    tar.close()
    packed = bz2.compress(raw.getvalue())
    with open("runtime.tar.bz2", "wb") as f:
        f.write(packed)
    print(len(cases), "models,", len(raw.getvalue()), "bytes,", len(packed), "packed")


main()
