"""Makes quantised.tar.bz2: small models with quantised operators, inputs, and what onnxruntime computes.

    python -m pip install onnx==1.23.2 onnxruntime==1.32.0 numpy && python quantised.py

The archive has the form of node.tar.bz2. Models of QuantizeLinear and DequantizeLinear pairs run with onnxruntime's optimisations,
which replace them by quantised operators where they can; the operators of com.microsoft run as they are. Scales include powers of
two, where ties between two codes are frequent, and zero points include odd ones, which decide ties if they are added before rounding.
"""

import bz2
import io
import tarfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

rng = np.random.default_rng(20)
F = np.float32
MS = "com.microsoft"
cases = []


class Case:
    """A model under construction; nodes and constants are added by its methods."""

    def __init__(self, name, opset=13):
        self.name, self.opset = name, opset
        self.nodes, self.inits, self.inputs, self.data = [], [], [], {}

    def const(self, value, dtype):
        name = "c%d" % len(self.inits)
        self.inits.append(nh.from_array(np.array(value, dtype), name))
        return name

    def input(self, array):
        name = "x%d" % len(self.inputs)
        self.inputs.append(h.make_tensor_value_info(name, h.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        self.data[name] = array
        return name

    def node(self, op, inputs, domain="", **attrs):
        out = "v%d" % len(self.nodes)
        self.nodes.append(h.make_node(op, inputs, [out], name="%s%d" % (op, len(self.nodes)), domain=domain, **attrs))
        return out

    # Quantised values are (name, scale, zero, dtype).
    def codes(self, shape, scale, zero, dtype=np.uint8):
        i = np.iinfo(dtype)
        return self.input(rng.integers(i.min, i.max + 1, shape).astype(dtype)), scale, zero, dtype

    def params(self, q):
        return [self.const(q[1], F), self.const(q[2], q[3])]

    def dq(self, q, **attrs):
        return self.node("DequantizeLinear", [q[0]] + self.params(q), **attrs)

    def q(self, x, scale, zero, dtype=np.uint8):
        return self.node("QuantizeLinear", [x, self.const(scale, F), self.const(zero, dtype)]), scale, zero, dtype

    def weights(self, shape, scale, dtype=np.int8, axis=0):
        """Codes of weights behind a DequantizeLinear; a list of scales runs along the axis."""
        w = self.const(rng.integers(-127, 128, shape), dtype)
        zero = np.zeros(np.shape(scale), dtype)
        attrs = {"axis": axis} if np.ndim(scale) else {}
        return self.node("DequantizeLinear", [w, self.const(scale, F), self.const(zero, dtype)], **attrs)

    def bias(self, n, scale, most=2000):
        b = self.const(rng.integers(-most, most, n), np.int32)
        zero = np.zeros(np.shape(scale), np.int32)
        attrs = {"axis": 0} if np.ndim(scale) else {}
        return self.node("DequantizeLinear", [b, self.const(scale, F), self.const(zero, np.int32)], **attrs)

    def done(self, *outputs, optimise=True):
        """Runs the model and keeps it; outputs are names or quantised values."""
        outs = [o[0] if isinstance(o, tuple) else o for o in outputs]
        graph = h.make_graph(self.nodes, self.name, self.inputs, [h.make_empty_tensor_value_info(o) for o in outs], self.inits)
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", self.opset), h.make_opsetid(MS, 1)], producer_name="quantised.py")
        model.ir_version = 8 if self.opset < 21 else 10
        del model.graph.output[:]
        inferred = onnx.shape_inference.infer_shapes(model)
        known = {v.name: v for v in inferred.graph.value_info}
        for o, value in zip(outs, outputs):
            if o in known and known[o].type.tensor_type.elem_type:
                model.graph.output.append(h.make_tensor_value_info(o, known[o].type.tensor_type.elem_type, None))
            else:
                kind = h.np_dtype_to_tensor_dtype(np.dtype(value[3])) if isinstance(value, tuple) else T.FLOAT
                model.graph.output.append(h.make_tensor_value_info(o, kind, None))
        options = ort.SessionOptions()
        options.log_severity_level = 3
        if not optimise:
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        results = session.run(outs, self.data)
        for i, o in enumerate(outs):
            model.graph.output[i].CopyFrom(h.make_tensor_value_info(o, model.graph.output[i].type.tensor_type.elem_type, results[i].shape))
        cases.append((self.name, model, [self.data[i.name] for i in self.inputs], results))


FORMS = [  # (x scale, x zero, y scale, y zero, dtype)
    (0.5, 128, 0.5, 127, np.uint8),
    (0.5, 3, 1.0, 7, np.uint8),
    (0.03, 3, 0.07, 7, np.uint8),
    (0.0371, 0, 0.0617, 0, np.int8),
    (0.021, -11, 0.033, 5, np.int8),
]


def microsoft():
    for i, (sx, zx, sy, zy, d) in enumerate(FORMS):
        for op in ("QLinearAdd", "QLinearMul"):
            c = Case("%s_%d" % (op, i))
            lo = np.iinfo(d).min
            every = np.arange(65536)
            a = c.input((every // 256 + lo).astype(d)), sx, zx, d
            b = c.input((every % 256 + lo).astype(d)), sx * 0.7 if sx != 0.5 else 0.25, zy, d
            y = None, sy, zy, d
            out = c.node(op, [a[0]] + c.params(a) + [b[0]] + c.params(b) + c.params(y), domain=MS)
            c.done((out, sy, zy, d), optimise=False)
        for op, attrs in (("QLinearSigmoid", {}), ("QLinearLeakyRelu", {"alpha": 0.1})):
            c = Case("%s_%d" % (op, i))
            a = c.input((np.arange(256) + np.iinfo(d).min).astype(d)), sx, zx, d
            y = None, 1 / 256 if op == "QLinearSigmoid" else sy, zy, d
            c.done((c.node(op, [a[0]] + c.params(a) + c.params(y), domain=MS, **attrs), 0, 0, d), optimise=False)
        c = Case("QLinearConcat_%d" % i)
        a, b = c.codes([2, 40, 3], sx, zx, d), c.codes([2, 17, 3], sy, zy, d)
        y = None, sy, zy, d
        c.done((c.node("QLinearConcat", c.params(y) + [a[0]] + c.params(a) + [b[0]] + c.params(b), domain=MS, axis=1), 0, 0, d), optimise=False)
        for n in (49, 64):
            c = Case("QLinearGlobalAveragePool_%d_%d" % (n, i))
            a, y = c.codes([2, 60, n, 1], sx, zx, d), (None, sy, zy, d)
            c.done((c.node("QLinearGlobalAveragePool", [a[0]] + c.params(a) + c.params(y), domain=MS), 0, 0, d), optimise=False)
        for channels in (0, 1):
            c = Case("QLinearGlobalAveragePool_last_%d_%d" % (channels, i))
            a, y = c.codes([2, 5, 5, 5], sx, zx, d), (None, sy, zy, d)
            c.done((c.node("QLinearGlobalAveragePool", [a[0]] + c.params(a) + c.params(y), domain=MS, channels_last=channels), 0, 0, d), optimise=False)
        for k, attrs in enumerate((
            {"kernel_shape": [2, 2], "strides": [2, 2]},
            {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
            {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
            {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1},
        )):
            c = Case("QLinearAveragePool_%d_%d" % (k, i))
            a, y = c.codes([1, 4, 13, 13], sx, zx, d), (None, sy, zy, d)
            c.done((c.node("QLinearAveragePool", [a[0]] + c.params(a) + c.params(y), domain=MS, **attrs), 0, 0, d), optimise=False)
        c = Case("QLinearSoftmax_%d" % i)
        a, y = c.codes([3, 10], sx, zx, d), (None, 1 / 256, np.iinfo(d).min, d)
        c.done((c.node("QLinearSoftmax", [a[0]] + c.params(a) + c.params(y), domain=MS, axis=-1, opset=13), 0, 0, d), optimise=False)
        for k, (alpha, ta, tb, bias, out) in enumerate([(1.0, 0, 0, 1, 1), (0.3, 0, 1, 1, 1), (1.0, 1, 0, 0, 1), (0.7, 0, 1, 1, 0)]):
            c = Case("QGemm_%d_%d" % (k, i))
            a = c.codes([16, 6] if ta else [6, 16], sx, zx, d)
            scales = [0.01, 0.02, 0.5, 0.25, 0.013] if k == 1 else 0.0625
            w = c.const(rng.integers(-127, 128, [5, 16] if tb else [16, 5]), np.int8)
            zero = c.const(np.zeros(np.shape(scales)), np.int8)
            inputs = [a[0]] + c.params(a) + [w, c.const(scales, F), zero, c.const(rng.integers(-500, 500, 5), np.int32) if bias else ""]
            if out:
                inputs += c.params((None, sy * 10, zy, d))
            name = c.node("QGemm", inputs, domain=MS, alpha=alpha, transA=ta, transB=tb)
            c.done((name, 0, 0, d) if out else name, optimise=False)


def standard():
    for i, (sx, zx, sy, zy, d) in enumerate(FORMS):
        for k, (group, shape, attrs) in enumerate((
            (1, [5, 4, 3, 3], {"pads": [1, 1, 1, 1]}),
            (1, [5, 4, 1, 1], {"strides": [2, 2]}),
            (2, [6, 2, 3, 3], {"strides": [2, 1], "dilations": [1, 2], "auto_pad": "VALID"}),
            (4, [4, 1, 3, 3], {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
            (4, [8, 1, 5], {"pads": [2, 1]}),
        )):
            c = Case("QLinearConv_%d_%d" % (k, i))
            a = c.codes([2, 4, 9, 11] if len(shape) == 4 else [2, 4, 20], sx, zx, d)
            scales = rng.choice([0.0625, 0.125, 0.25], shape[0]) if i < 2 else rng.uniform(0.01, 0.2, shape[0])
            if k == 1:
                scales = 0.25
            w = c.const(rng.integers(-127, 128, shape), np.int8)
            y = None, sy * 12, zy, d
            inputs = [a[0]] + c.params(a) + [w, c.const(scales, F), c.const(np.zeros(np.shape(scales)), np.int8)] + c.params(y)
            if k != 2:
                inputs.append(c.const(rng.integers(-900, 900, shape[0]), np.int32))
            c.done((c.node("QLinearConv", inputs, group=group, **attrs), 0, 0, d), optimise=False)
        c = Case("QLinearMatMul_%d" % i)
        a, y = c.codes([2, 3, 4, 16], sx, zx, d), (None, sy * 10, zy, d)
        b = c.codes([3, 16, 5], 0.0625, 3 if d == np.uint8 else -3, d)
        c.done((c.node("QLinearMatMul", [a[0]] + c.params(a) + [b[0]] + c.params(b) + c.params(y)), 0, 0, d), optimise=False)
    for k, zero in enumerate((0, 100)):
        c = Case("ConvInteger_%d" % k)
        a = c.codes([1, 4, 8, 8], 0, 0)
        w = c.const(rng.integers(-127, 128, [4, 2, 3, 3]), np.int8)
        c.done((c.node("ConvInteger", [a[0], w, c.const(zero, np.uint8)], group=2, pads=[1, 0, 1, 0]), 0, 0, np.int32), optimise=False)
    for k, zero in enumerate((np.int8(0), np.array([3, -4, 0, 7, 9], np.int8))):
        c = Case("MatMulInteger_%d" % k)
        a = c.codes([4, 3, 16], 0, 0)
        w = c.const(rng.integers(-127, 128, [16, 5]), np.int8)
        c.done((c.node("MatMulInteger", [a[0], w, c.const(77, np.uint8), c.const(zero, np.int8)]), 0, 0, np.int32), optimise=False)


def pairs():
    """Models of QuantizeLinear and DequantizeLinear pairs."""
    for i, (sx, zx, sy, zy, d) in enumerate(FORMS):
        for k, (group, shape, attrs, relu) in enumerate((
            (1, [5, 4, 3, 3], {"pads": [1, 1, 1, 1]}, False),
            (2, [6, 2, 3, 3], {"strides": [2, 2]}, True),
            (4, [4, 1, 3, 3], {"pads": [1, 1, 1, 1]}, True),
            (1, [3, 4, 1, 1], {}, False),
        )):
            c = Case("qdq_conv_%d_%d" % (k, i))
            a = c.codes([1, 4, 8, 8], sx, zx, d)
            scales = np.full(shape[0], 0.125, F) if i < 2 else rng.uniform(0.01, 0.2, shape[0]).astype(F)
            x, w, b = c.dq(a), c.weights(shape, scales), c.bias(shape[0], F(sx) * scales)
            y = c.node("Conv", [x, w, b], group=group, kernel_shape=shape[2:], **attrs)
            if relu:
                y = c.node("Relu", [y])
            c.done(c.q(y, sy * 10, zy, d))
        c = Case("qdq_gemm_%d" % i)
        a = c.codes([7, 16], sx, zx, d)
        x, w, b = c.dq(a), c.weights([5, 16], 0.0625), c.bias(5, F(sx) * F(0.0625))
        c.done(c.q(c.node("Gemm", [x, w, b], transB=1), sy * 10, zy, d))
        c = Case("qdq_matmul_%d" % i)
        x, w = c.dq(c.codes([2, 3, 16], sx, zx, d)), c.weights([16, 6], 0.03)
        c.done(c.q(c.node("MatMul", [x, w]), sy * 10, zy, d))
        c = Case("qdq_matmul_both_%d" % i)
        x, w = c.dq(c.codes([2, 3, 8], sx, zx, d)), c.dq(c.codes([2, 8, 3], sy, zy, d))
        c.done(c.q(c.node("MatMul", [x, w]), sx * sy * 50, zy, d))
        for op in ("Add", "Mul"):
            c = Case("qdq_%s_%d" % (op.lower(), i))
            a, b = c.codes([2, 50, 10], sx, zx, d), c.codes([2, 50, 10], sx * 0.7, zy, d)
            c.done(c.q(c.node(op, [c.dq(a), c.dq(b)]), sy * (1 if op == "Add" else 10), zy, d))
        for op, attrs in (("Sigmoid", {}), ("LeakyRelu", {"alpha": 0.1}), ("Relu", {}), ("Tanh", {}), ("HardSigmoid", {}), ("Elu", {})):
            c = Case("qdq_%s_%d" % (op.lower(), i))
            a = c.input((np.arange(256) + np.iinfo(d).min).astype(d)), sx, zx, d
            unit = op in ("Sigmoid", "HardSigmoid")
            c.done(c.q(c.node(op, [c.dq(a)], **attrs), 1 / 256 if unit else sy, zy, d))
        c = Case("qdq_silu_%d" % i)
        a = c.input((np.arange(256) + np.iinfo(d).min).astype(d)), sx, zx, d
        x = c.dq(a)
        s = c.q(c.node("Sigmoid", [x]), 1 / 256, np.iinfo(d).min, d)
        c.done(c.q(c.node("Mul", [x, c.dq(s)]), sy, zy, d))
        c = Case("qdq_concat_%d" % i)
        c.done(c.q(c.node("Concat", [c.dq(c.codes([2, 3, 4], sx, zx, d)), c.dq(c.codes([2, 5, 4], sy, zy, d))], axis=1), sy, zy, d))
        c = Case("qdq_maxpool_%d" % i)
        c.done(c.q(c.node("MaxPool", [c.dq(c.codes([1, 3, 9, 9], sx, zx, d))], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), sx, zx, d))
        c = Case("qdq_averagepool_%d" % i)
        c.done(c.q(c.node("AveragePool", [c.dq(c.codes([1, 3, 9, 9], sx, zx, d))], kernel_shape=[2, 2], strides=[2, 2]), sy, zy, d))
        c = Case("qdq_averagepool_pads_%d" % i)
        c.done(c.q(c.node("AveragePool", [c.dq(c.codes([1, 3, 9, 9], sx, zx, d))], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), sy, zy, d))
        c = Case("qdq_globalaveragepool_%d" % i)
        c.done(c.q(c.node("GlobalAveragePool", [c.dq(c.codes([2, 20, 7, 7], sx, zx, d))]), sy, zy, d))
        c = Case("qdq_moves_%d" % i)
        x = c.node("Transpose", [c.dq(c.codes([2, 3, 4, 5], sx, zx, d))], perm=[0, 2, 3, 1])
        a = c.q(x, sx, zx, d)
        x = c.node("Reshape", [c.dq(a), c.const([2, 60], np.int64)])
        c.done(c.q(x, sx, zx, d))
        c = Case("qdq_softmax_%d" % i)
        c.done(c.q(c.node("Softmax", [c.dq(c.codes([3, 10], sx, zx, d))], axis=-1), 1 / 256, np.iinfo(d).min, d))
    # A residual block: every kind of edge between quantised operators.
    c = Case("qdq_residual")
    a = c.codes([1, 4, 8, 8], 0.03, 120)
    s1, s2 = rng.uniform(0.002, 0.01, 8).astype(F), rng.uniform(0.002, 0.01, 4).astype(F)
    y = c.node("Relu", [c.node("Conv", [c.dq(a), c.weights([8, 4, 3, 3], s1), c.bias(8, F(0.03) * s1)], pads=[1, 1, 1, 1])])
    y = c.q(y, 0.05, 0)
    y = c.q(c.node("Conv", [c.dq(y), c.weights([4, 8, 1, 1], s2), c.bias(4, F(0.05) * s2)]), 0.06, 131)
    y = c.q(c.node("Add", [c.dq(y), c.dq(a)]), 0.07, 125)
    y = c.q(c.node("GlobalAveragePool", [c.dq(y)]), 0.04, 126)
    y = c.q(c.node("Flatten", [c.dq(y)]), 0.04, 126)
    y = c.q(c.node("Gemm", [c.dq(y), c.weights([10, 4], 0.01), c.bias(10, F(0.04) * F(0.01), 200)], transB=1), 0.05, 128)
    c.done(c.dq(y))
    # Activations of 16 bits, as operator set 21 has them; onnxruntime's optimised version of this rounds them to fewer bits.
    c = Case("qdq_int16", opset=21)
    a = c.codes([3, 16], 0.001, 0, np.int16)
    c.done(c.q(c.node("MatMul", [c.dq(a), c.weights([16, 5], 0.01)]), 0.05, 3, np.int16), optimise=False)


def main():
    microsoft()
    standard()
    pairs()
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
    with open("quantised.tar.bz2", "wb") as f:
        f.write(packed)
    print(len(cases), "models,", len(raw.getvalue()), "bytes,", len(packed), "packed")


main()
