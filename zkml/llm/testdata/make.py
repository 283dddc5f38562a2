"""Makes tiny decoders with random weights in the published format, and the logits that numpy computes for them (float64).

Run from this folder: python3 make.py
"""
import json
import os
import struct

import numpy as np


def encode(x, kind):
    x = x.astype(np.float32)
    if kind == "F32":
        return x.tobytes()
    if kind == "F16":
        return x.astype(np.float16).tobytes()
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).tobytes()


def decode(data, kind, shape):
    if kind == "F32":
        x = np.frombuffer(data, np.float32)
    elif kind == "F16":
        x = np.frombuffer(data, np.float16)
    else:
        x = (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(np.float32)
    return x.astype(np.float64).reshape(shape)


def write(path, tensors, kind):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, x in tensors.items():
        raw = encode(x, kind)
        header[name] = {"dtype": kind, "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def weights(c, rng):
    h, d, m = c["hidden_size"], c["head_dim"], c["intermediate_size"]
    heads, kv = c["num_attention_heads"], c["num_key_value_heads"]
    w = {"model.embed_tokens.weight": rng.normal(0, 0.7, (c["vocab_size"], h))}
    linear = lambda o, i: rng.normal(0, 1.2 / np.sqrt(i), (o, i))
    gain = lambda n: 1 + 0.3 * rng.normal(size=n)
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        w[p + "input_layernorm.weight"] = gain(h)
        for name, n in (("q", heads), ("k", kv), ("v", kv)):
            w[p + f"self_attn.{name}_proj.weight"] = linear(n * d, h)
            if c["model_type"] == "qwen2":
                w[p + f"self_attn.{name}_proj.bias"] = 0.3 * rng.normal(size=n * d)
        if c["model_type"] == "qwen3":
            w[p + "self_attn.q_norm.weight"], w[p + "self_attn.k_norm.weight"] = gain(d), gain(d)
        w[p + "self_attn.o_proj.weight"] = linear(h, heads * d)
        w[p + "post_attention_layernorm.weight"] = gain(h)
        w[p + "mlp.gate_proj.weight"], w[p + "mlp.up_proj.weight"] = linear(m, h), linear(m, h)
        w[p + "mlp.down_proj.weight"] = linear(h, m)
    w["model.norm.weight"] = gain(h)
    if not c["tie_word_embeddings"]:
        w["lm_head.weight"] = linear(c["vocab_size"], h)
    return w


def frequencies(c):
    d = c["head_dim"]
    f = c["rope_theta"] ** (-np.arange(0, d, 2) / d)
    s = c.get("rope_scaling")
    if s and s["rope_type"] == "llama3":
        out = []
        for x in f:
            wavelength = 2 * np.pi / x
            low, high = s["original_max_position_embeddings"] / s["low_freq_factor"], s["original_max_position_embeddings"] / s["high_freq_factor"]
            if wavelength > low:
                out.append(x / s["factor"])
            elif wavelength < high:
                out.append(x)
            else:
                t = (s["original_max_position_embeddings"] / wavelength - s["low_freq_factor"]) / (s["high_freq_factor"] - s["low_freq_factor"])
                out.append((1 - t) * x / s["factor"] + t * x)
        f = np.array(out)
    return f


def rms(x, gain, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gain


def rotate(x, angles):  # x: heads, tokens, dim
    half = x.shape[-1] // 2
    turned = np.concatenate([-x[..., half:], x[..., :half]], -1)
    angles = np.concatenate([angles, angles], -1)
    return x * np.cos(angles) + turned * np.sin(angles)


def run(c, w, tokens):
    eps, d, heads, kv = c["rms_norm_eps"], c["head_dim"], c["num_attention_heads"], c["num_key_value_heads"]
    n = len(tokens)
    angles = np.arange(n)[:, None] * frequencies(c)
    hidden = [w["model.embed_tokens.weight"][tokens]]
    for i in range(c["num_hidden_layers"]):
        p, x = f"model.layers.{i}.", hidden[-1]
        y = rms(x, w[p + "input_layernorm.weight"], eps)
        q, k, v = (y @ w[p + f"self_attn.{s}_proj.weight"].T + w.get(p + f"self_attn.{s}_proj.bias", 0) for s in "qkv")
        split = lambda z: z.reshape(n, -1, d).transpose(1, 0, 2)
        q, k, v = split(q), split(k), split(v)
        if c["model_type"] == "qwen3":
            q, k = rms(q, w[p + "self_attn.q_norm.weight"], eps), rms(k, w[p + "self_attn.k_norm.weight"], eps)
        q, k = rotate(q, angles), rotate(k, angles)
        out = []
        for a in range(heads):
            b = a // (heads // kv)
            s = q[a] @ k[b].T / np.sqrt(d)
            s[np.triu_indices(n, 1)] = -np.inf
            e = np.exp(s - s.max(-1, keepdims=True))
            out.append(e / e.sum(-1, keepdims=True) @ v[b])
        x = x + np.concatenate(out, -1) @ w[p + "self_attn.o_proj.weight"].T
        y = rms(x, w[p + "post_attention_layernorm.weight"], eps)
        g = y @ w[p + "mlp.gate_proj.weight"].T
        u = y @ w[p + "mlp.up_proj.weight"].T
        hidden.append(x + (g / (1 + np.exp(-g)) * u) @ w[p + "mlp.down_proj.weight"].T)
    head = w["model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"]
    return hidden, rms(hidden[-1], w["model.norm.weight"], eps) @ head.T


BASE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8, intermediate_size=48, vocab_size=50,
            max_position_embeddings=512, rms_norm_eps=1e-5, rope_theta=10000.0, hidden_act="silu", tie_word_embeddings=False)
MODELS = {
    "llama": (dict(BASE, model_type="llama", rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                                            original_max_position_embeddings=64)), "F16", 1),
    "qwen2": (dict(BASE, model_type="qwen2", tie_word_embeddings=True, hidden_size=24, num_attention_heads=3, num_key_value_heads=1), "F32", 1),
    "qwen3": (dict(BASE, model_type="qwen3", rope_theta=1e6, head_dim=16, num_key_value_heads=1), "BF16", 3),
}

for seed, (name, (c, kind, shards)) in enumerate(MODELS.items()):
    rng = np.random.default_rng(seed + 1)
    os.makedirs(name, exist_ok=True)
    w = {k: x for k, x in weights(c, rng).items()}
    w = {k: decode(encode(x, kind), kind, x.shape) for k, x in w.items()}
    with open(f"{name}/config.json", "w") as f:
        json.dump(c, f, indent=1)
    if shards == 1:
        write(f"{name}/model.safetensors", w, kind)
    else:
        keys, where = list(w), {}
        for s in range(shards):
            file = f"model-{s + 1:05}-of-{shards:05}.safetensors"
            part = {k: w[k] for k in keys[s::shards]}
            write(f"{name}/{file}", part, kind)
            where.update({k: file for k in part})
        with open(f"{name}/model.safetensors.index.json", "w") as f:
            json.dump({"metadata": {}, "weight_map": where}, f, indent=0, sort_keys=True)
    tokens = rng.integers(0, c["vocab_size"], 11)
    hidden, logits = run(c, w, tokens)
    with open(f"{name}/expected.json", "w") as f:
        json.dump({"tokens": tokens.tolist(), "hidden1": [float(f"{v:.7g}") for v in hidden[1].ravel()], "logits": [float(f"{v:.7g}") for v in logits.ravel()]}, f)
