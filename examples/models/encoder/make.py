"""A transformer encoder that says which part of the Bible 32 words come from."""
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import common


class Model(nn.Module):
    WORDS, LENGTH, WIDTH = 1024, 32, 64

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(self.WORDS, self.WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(1, self.LENGTH, self.WIDTH))
        layer = nn.TransformerEncoderLayer(self.WIDTH, 4, 4 * self.WIDTH, 0.3, "gelu", batch_first=True, norm_first=False)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(self.WIDTH, 6)
        self.drop = nn.Dropout(0.3)
        nn.init.normal_(self.words.weight, std=0.1)

    def forward(self, tokens):
        x = self.layers(self.drop(self.words(tokens) + self.places))
        return self.head(x.mean(dim=1))


def augment(x, y):
    """One word in ten becomes "another word"."""
    return torch.where(torch.rand(x.shape, device=x.device) < 0.1, torch.ones_like(x), x), y


if __name__ == "__main__":
    common.main(common.Recipe(
        name="encoder", data="kjv-words", about="transformer encoder, 2 layers of width 64 with 4 heads, 32 words to one of 6 classes", model=Model,
        shape=(1, 32), steps=8000, batch=256, rate=1e-3, decay=0.1, smooth=0.05, scale=0, augment=augment,
        exports=(("model", "legacy", 17), ("dynamo", "dynamo", 18))))
