"""A character model in the form of GPT-2 (pre-normalisation, causal attention, GELU by tanh): 5 layers of width 64."""
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import common

import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, length, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("bias", torch.tril(torch.ones(1, 1, length, length)), persistent=False)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (s.view(n, t, self.heads, c // self.heads).transpose(1, 2) for s in self.c_attn(x).split(c, dim=2))
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) / (c // self.heads) ** 0.5
            y = F.softmax(scores.masked_fill(self.bias[:, :, :t, :t] == 0, float("-inf")), dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(n, t, c))


class Block(nn.Module):
    def __init__(self, width, heads, length, fused):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), Attention(width, heads, length, fused)
        self.ln_2, self.c_fc, self.c_proj = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Model(nn.Module):
    CHARACTERS, LENGTH, WIDTH, HEADS, LAYERS = 62, 64, 64, 4, 5

    def __init__(self, fused=False):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(self.CHARACTERS, self.WIDTH), nn.Embedding(self.LENGTH, self.WIDTH)
        self.h = nn.ModuleList(Block(self.WIDTH, self.HEADS, self.LENGTH, fused) for _ in range(self.LAYERS))
        self.ln_f = nn.LayerNorm(self.WIDTH)
        self.lm_head = nn.Linear(self.WIDTH, self.CHARACTERS, bias=False)
        self.lm_head.weight = self.wte.weight
        nn.init.normal_(self.wte.weight, std=0.05)
        nn.init.normal_(self.wpe.weight, std=0.02)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


if __name__ == "__main__":
    common.main(common.Recipe(
        name="nanogpt-250k", data="kjv-chars", about="GPT-2's form, 5 layers of width 64 with 4 heads, 64 characters of context", model=Model,
        shape=(1, 64), steps=14000, batch=256, rate=3e-3, decay=0.1, scale=0, other=lambda: Model(fused=True),
        exports=(("model", "legacy", 17), ("dynamo", "dynamo", 18)),
        # 8 bits do not hold masked scores and a residual stream: those stay real, as is usual for transformers.
        quantise={"op_types_to_quantize": ["MatMul", "Gemm"]}))
