"""Packs ONNX's own node tests for the operators of docs/onnx-operators.md into node.tar.bz2: those of one operator, and those in which
a function such as LayerNormalization is expanded into simpler ones.

    python -m pip install onnx==1.23.2 numpy && python node.py DATA...

The tests come from the installed package and from folders "backend/test/data/node" of older releases of the onnx project (Apache-2.0),
newest first: 1.16.2 as on PyPI, and 1.12.0 as in Debian's libonnx-testdata. Of a test that several of them have, one variant per operator
set is kept, up to set 21. The archive holds NAME[@VERSION]/model.onnx, input_I.pb and output_I.pb, in sorted order and without times.
"""

import bz2
import io
import itertools
import os
import sys
import tarfile

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_node_model_tests

OPERATORS = """
Gemm MatMul Einsum Conv ConvTranspose BatchNormalization InstanceNormalization GroupNormalization LayerNormalization
MeanVarianceNormalization Add Sub Mul Div Min Max Sum Mean Pow Neg Abs Sign Exp Log Sqrt Reciprocal Sin Cos Floor Ceil Round Erf
Relu LeakyRelu PRelu Elu Selu Celu ThresholdedRelu Clip Sigmoid HardSigmoid Tanh HardSwish Gelu Softplus Softsign Mish Softmax LogSoftmax
MaxPool AveragePool GlobalAveragePool GlobalMaxPool ReduceMean ReduceSum ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceLogSum
ReduceLogSumExp ReduceSumSquare ArgMax ArgMin CumSum Gather Where Trilu Concat Split Slice Pad Transpose Reshape
Squeeze Unsqueeze Expand Tile Flatten Identity Dropout Resize Upsample DepthToSpace SpaceToDepth LSTM GRU RNN If Loop Scan
Shape Size Constant ConstantOfShape Range Cast CastLike Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor Not
QuantizeLinear DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul ConvInteger MatMulInteger
""".split()

NEWEST = 21  # operator set that is read

# Functions whose expansions are packed; those of losses, windows and sequences are not for this program.
EXPANDED = (
    "layer_normalization group_normalization mvn softmax logsoftmax gelu relu leakyrelu prelu elu selu celu thresholdedrelu clip "
    "hardsigmoid hardswish mish softplus softsign reduce_"
).split()

# The data of tests that would add more than this to the archive stay out, only their models are packed: pools in three dimensions.
LARGEST = 90 << 10


def installed():
    """Yields (name, model, tensors by file name) of the installed package."""
    for case in load_node_model_tests():
        files = {}
        if case.kind != "node" or not case.data_sets:
            continue
        for kind, arrays, infos in zip(("input", "output"), case.data_sets[0], (case.model.graph.input, case.model.graph.output)):
            for i, (array, info) in enumerate(zip(arrays, infos)):
                if info.type.HasField("tensor_type"):
                    tensor = array if isinstance(array, onnx.TensorProto) else numpy_helper.from_array(np.asarray(array), info.name)
                    files["%s_%d.pb" % (kind, i)] = tensor.SerializeToString()
        yield case.name, case.model, files


def stored(root):
    """Does the same for a folder."""
    for name in sorted(os.listdir(root)):
        folder = os.path.join(root, name)
        files = {}
        data = os.path.join(folder, "test_data_set_0")
        for file in sorted(os.listdir(data)):
            with open(os.path.join(data, file), "rb") as f:
                files[file] = f.read()
        yield name, onnx.load(os.path.join(folder, "model.onnx")), files


def tests(roots):
    """Yields (label, model, files) of what is packed."""
    seen = {}
    for name, model, files in itertools.chain(installed(), *map(stored, roots)):
        nodes = [n.op_type for n in model.graph.node]
        expanded = "_expanded" in name and name.removeprefix("test_").startswith(tuple(EXPANDED))
        if not all(n in OPERATORS for n in nodes) or len(nodes) > 1 and not expanded:
            continue
        versions = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")]
        if not versions or max(versions) > NEWEST:
            continue
        version = max(versions)
        if version in seen.setdefault(name, []) or version < 9 and seen[name]:
            continue
        label = name.removeprefix("test_") + ("" if not seen[name] else "@%d" % version)
        seen[name].append(version)
        yield label, model, files


def add(tar, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def main():
    raw, left_out = io.BytesIO(), []
    tar = tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT)
    for label, model, files in sorted(tests(sys.argv[1:]), key=lambda t: t[0]):
        add(tar, label + "/model.onnx", model.SerializeToString())
        if len(bz2.compress(b"".join(files.values()))) > LARGEST:
            left_out.append(label)
            continue
        for file in sorted(files):
            add(tar, label + "/" + file, files[file])
    tar.close()
    packed = bz2.compress(raw.getvalue())
    with open("node.tar.bz2", "wb") as f:
        f.write(packed)
    print(len(raw.getvalue()), "bytes,", len(packed), "packed; without data:", *left_out)


main()
