"""A perceptron for handwritten digits: 784-272-128-10, 249 754 parameters."""
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import common


def augment(x, y):
    return common.warp(x.reshape(-1, 1, 28, 28), 0.2, 0.12, 0.12, 0.0), y


def model():
    return nn.Sequential(nn.Linear(784, 272), nn.ReLU(), nn.Linear(272, 128), nn.ReLU(), nn.Linear(128, 10))


if __name__ == "__main__":
    common.main(common.Recipe(
        name="mlp-250k", data="mnist", about="perceptron 784-272-128-10 with ReLU, handwritten digits", model=model, shape=(1, 784),
        steps=24000, batch=256, rate=2e-3, scale=1 / 255, augment=augment))
