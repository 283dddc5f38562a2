"""What the recipes of the models have in common: training, export to ONNX, quantisation by onnxruntime, and measuring.

    python3 NAME/make.py train DATA WEIGHTS      trains on DATA/*.npz (see data.py) and writes WEIGHTS/NAME.pt; wants a GPU
    python3 NAME/make.py export DATA WEIGHTS     writes the ONNX files and model.json into the folder NAME; a CPU is enough

Needs numpy, torch, onnx, onnxscript and onnxruntime. Weights are rounded to bfloat16 values (still stored as float32, so that
readers need no conversion), which halves what a compressed file takes. gzip's time stamp is zero: equal weights, equal files.
"""
import copy
import dataclasses
import gzip
import io
import json
import math
import pathlib
import sys
import tempfile
import time
from typing import Callable

import numpy as np
import torch
import torch.nn.functional as F

CHECKED = 4  # held-out examples whose outputs by onnxruntime are stored, for comparison


@dataclasses.dataclass
class Recipe:
    name: str
    data: str  # data set
    about: str
    model: Callable[[], torch.nn.Module]
    shape: tuple  # of the input, with a batch of one
    steps: int
    batch: int
    rate: float = 2e-3
    decay: float = 0.05
    smooth: float = 0.0
    scale: float = 1.0  # input = stored number * scale; 0 if inputs are tokens
    augment: Callable = None  # (x, y, generator) -> (x, y) on the device
    exports: tuple = (("model", "legacy", 17),)  # file, exporter, opset
    other: Callable = None  # the same network written differently, for the dynamo exporter
    keep: bool = False  # the legacy exporter leaves batch normalisation alone
    forms: tuple = ("qdq", "qoperator")  # quantised from the first export
    quantise: dict = dataclasses.field(default_factory=dict)  # more arguments for onnxruntime


def prepare(r, x):
    """Stored numbers as the model's input, without the batch of one."""
    if r.scale == 0:
        return x.astype(np.int64)
    return x.astype(np.float32) * np.float32(r.scale)


def right(r, model, x, y):
    """Share of right answers."""
    model.eval()
    with torch.no_grad():
        hits = [(model(a.reshape(-1, *r.shape[1:])).argmax(-1) == b).float().flatten() for a, b in zip(x.split(512), y.split(512))]
    model.train()
    return torch.cat(hits).mean().item()


def train(r, data, out):
    """AdamW with one cosine cycle. Keeps the last weights: figures of held-out examples are only printed."""
    torch.manual_seed(7)
    torch.set_float32_matmul_precision("high")
    cuda = torch.cuda.is_available()
    device = "cuda" if cuda else "cpu"
    limit = float(sys.argv[4]) if len(sys.argv) > 4 else 1e9  # seconds after which the cycle has to be through
    files = np.load(data / f"{r.data}.npz")
    x, y = (torch.from_numpy(v).to(device) for v in (prepare(r, files["x"]), files["y"].astype(np.int64)))
    tx, ty = (torch.from_numpy(v).to(device) for v in (prepare(r, files["test_x"]), files["test_y"].astype(np.int64)))
    model = r.model().to(device).train()
    print(f"{r.name}: {sum(p.numel() for p in model.parameters())} parameters on {device}", flush=True)
    groups = [[p for p in model.parameters() if p.ndim > 1], [p for p in model.parameters() if p.ndim <= 1]]
    rate = torch.tensor(0.0, device=device)  # a tensor, so that a recorded step reads it
    opt = torch.optim.AdamW([{"params": groups[0], "weight_decay": r.decay}, {"params": groups[1], "weight_decay": 0.0}],
                            lr=rate, betas=(0.9, 0.98), capturable=cuda)

    def step():
        pick = torch.randint(len(x), (r.batch,), device=device)
        bx, by = x[pick], y[pick]
        if r.augment:
            bx, by = r.augment(bx, by)
        logits = model(bx.reshape(-1, *r.shape[1:]))
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), by.reshape(-1), label_smoothing=r.smooth)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        return loss

    run, latest = step, [None]
    if cuda:  # record a step once: launching its kernels one by one takes longer than they do
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(5):
                step()
        torch.cuda.current_stream().wait_stream(side)
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                latest[0] = step()

            def run():
                graph.replay()
                return latest[0]
        except RuntimeError as e:
            print(f"{r.name}: steps are not recorded: {e}", flush=True)
            torch.cuda.synchronize()
    start, said, count, done = time.time(), -1.0, 0, 0.0
    while done < 1:
        done = max(count / r.steps, (time.time() - start) / limit)
        rate.fill_(r.rate * min(1, (count + 1) / 200) * (0.02 + 0.49 * (1 + math.cos(math.pi * min(done, 1)))))
        loss = run()
        count += 1
        if done >= said + 0.1 or done >= 1:
            said = done
            print(f"{r.name}: step {count}, {time.time() - start:.0f} s, loss {loss.item():.4f}, held out {right(r, model, tx, ty):.4f}", flush=True)
            torch.save({k: v.detach().cpu() for k, v in model.state_dict().items()}, out / f"{r.name}.pt")


def export(r, model, exporter, opset):
    """The ONNX file's bytes."""
    x = torch.zeros(r.shape, dtype=torch.int64 if r.scale == 0 else torch.float32)
    names = {"input_names": ["tokens" if r.scale == 0 else "x"], "output_names": ["logits"]}
    if exporter == "dynamo":
        program = torch.onnx.export(copy.deepcopy(model), (x,), dynamo=True, opset_version=opset, **names)
        proto = program.model_proto
        for node in proto.graph.node:  # where in torch's source each node comes from: most of the file
            del node.metadata_props[:]
        for value in [*proto.graph.value_info, *proto.graph.input, *proto.graph.output, *proto.graph.initializer]:
            del value.metadata_props[:]
        return proto.SerializeToString(deterministic=True)
    out = io.BytesIO()
    how = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False} if r.keep else {}
    torch.onnx.export(copy.deepcopy(model).eval(), (x,), out, dynamo=False, opset_version=opset, **names, **how)
    return out.getvalue()


def quantise(r, raw, form, calibration):
    """onnxruntime's static quantisation. QDQ: signed activations, weights by channel. QOperator: all unsigned, by tensor (so that
    no CPU saturates sums of pairs of products)."""
    from onnxruntime import quantization as q
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(q.CalibrationDataReader):
        def __init__(self):
            self.rest = iter(calibration)

        def get_next(self):
            x = next(self.rest, None)
            return None if x is None else {"tokens" if r.scale == 0 else "x": x.reshape(r.shape)}

    kinds = {
        "qdq": dict(quant_format=q.QuantFormat.QDQ, activation_type=q.QuantType.QInt8, weight_type=q.QuantType.QInt8, per_channel=True),
        "qoperator": dict(quant_format=q.QuantFormat.QOperator, activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QUInt8),
    }
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: str(pathlib.Path(folder) / name)
        pathlib.Path(at("in.onnx")).write_bytes(raw)
        quant_pre_process(at("in.onnx"), at("pre.onnx"), skip_symbolic_shape=True)
        q.quantize_static(at("pre.onnx"), at("out.onnx"), Reader(), **(kinds[form] | r.quantise))
        return pathlib.Path(at("out.onnx")).read_bytes()


def outputs(r, raw, x):
    """onnxruntime's outputs, one example at a time, without optimisations that could change what is computed."""
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = ort.InferenceSession(raw, options, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {session.get_inputs()[0].name: v.reshape(r.shape)})[0] for v in x])


def main(r):
    stage, data, weights = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if stage == "train":
        return train(r, data, weights)
    import onnx
    folder = pathlib.Path(__file__).parent / r.name
    model = r.model()
    state = torch.load(weights / f"{r.name}.pt")
    model.load_state_dict({k: v.bfloat16().float() if v.is_floating_point() else v for k, v in state.items()})
    model.eval()
    stored = np.load(folder.parent / "data" / f"{r.data}.npz")
    whole = np.load(data / f"{r.data}.npz")
    x, calibration, y = prepare(r, stored["x"]), prepare(r, stored["calibration"]), stored["y"]
    about = {"about": r.about, "data": r.data, "shape": list(r.shape), "tokens": r.scale == 0, "scale": r.scale,
             "parameters": sum(p.numel() for p in model.parameters()), "files": []}
    expected = {}
    other = r.other() if r.other else model
    other.load_state_dict(model.state_dict())
    other.eval()
    made = [(name, exporter, opset, export(r, other if exporter == "dynamo" else model, exporter, opset)) for name, exporter, opset in r.exports]
    made += [(form, "onnxruntime", r.exports[0][2], quantise(r, made[0][3], form, calibration)) for form in r.forms]
    for name, by, opset, raw in made:
        onnx.checker.check_model(onnx.load_from_string(raw))
        got = outputs(r, raw, x)
        every = outputs(r, raw, prepare(r, whole["test_x"][:2500]))
        expected[name] = got[:CHECKED]
        (folder / f"{name}.onnx.gz").write_bytes(gzip.compress(raw, 9, mtime=0))
        nodes = onnx.load_from_string(raw)
        about["files"].append({
            "file": f"{name}.onnx.gz", "by": by, "opset": nodes.opset_import[0].version,
            "operators": sorted({n.op_type for n in nodes.graph.node}), "nodes": len(nodes.graph.node),
            "accuracy": round(float((got.argmax(-1) == y).mean()), 4),
            "accuracy_all": round(float((every.argmax(-1) == whole["test_y"][:2500]).mean()), 4)})
        print(r.name, json.dumps(about["files"][-1]), (folder / f"{name}.onnx.gz").stat().st_size, flush=True)
    np.savez_compressed(folder / "expected.npz", **expected)
    text = json.dumps(about, indent=1)
    (folder / "model.json").write_text(text + "\n")


def warp(x, turn, stretch, move, fill):
    """Random rotation, scaling, shear and shift of x (n, c, h, w), by bilinear interpolation."""
    n = len(x)
    u = lambda reach, *more: (2 * torch.rand(n, *more, device=x.device) - 1) * reach
    angle = u(turn)
    theta = torch.zeros(n, 2, 3, device=x.device)
    theta[:, 0, 0], theta[:, 0, 1], theta[:, 1, 0], theta[:, 1, 1] = angle.cos(), -angle.sin() + u(turn), angle.sin(), angle.cos()
    theta[:, :, :2] *= 1 + u(stretch, 2, 1)
    theta[:, :, 2] = u(move, 2)
    return fill + F.grid_sample(x - fill, F.affine_grid(theta, x.shape, align_corners=False), align_corners=False)


def distort(x, y):
    """For colour pictures on white: warped, mirrored and tinted."""
    x = warp(x, 0.15, 0.12, 0.12, 1.0)
    x = torch.where(torch.rand(len(x), 1, 1, 1, device=x.device) < 0.5, x.flip(3), x)
    tint = 1 + 0.2 * (2 * torch.rand(len(x), 3, 1, 1, device=x.device) - 1)
    return (x * tint).clamp(0, 1), y
