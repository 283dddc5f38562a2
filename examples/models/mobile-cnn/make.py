"""A small network of depthwise separable convolutions with batch normalisation, ReLU6 and residual connections."""
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import common



def unit(a, b, size, stride=1, groups=1, relu=True):
    layers = [nn.Conv2d(a, b, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(b)]
    return nn.Sequential(*layers, *([nn.ReLU6()] if relu else []))


class Block(nn.Module):
    """Widen, filter each channel, narrow."""

    def __init__(self, a, b, widen, stride):
        super().__init__()
        self.residual = stride == 1 and a == b
        self.body = nn.Sequential(unit(a, a * widen, 1), unit(a * widen, a * widen, 3, stride, a * widen), unit(a * widen, b, 1, relu=False))

    def forward(self, x):
        return x + self.body(x) if self.residual else self.body(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            unit(3, 16, 3), Block(16, 24, 2, 2), Block(24, 24, 3, 1), Block(24, 32, 3, 2), Block(32, 32, 3, 1), Block(32, 48, 3, 2),
            Block(48, 48, 2, 1), unit(48, 96, 1))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(96, 10))

    def forward(self, x):
        return self.head(self.pool(self.features(x)))


if __name__ == "__main__":
    common.main(common.Recipe(
        name="mobile-cnn", data="emoji", about="depthwise separable convolutions, batch normalisation, ReLU6, residuals; colour pictures 3x32x32",
        model=Model, shape=(1, 3, 32, 32), steps=12000, batch=256, rate=4e-3, smooth=0.05, scale=1 / 255, augment=common.distort, keep=True,
        exports=(("model", "legacy", 17), ("dynamo", "dynamo", 18))))
