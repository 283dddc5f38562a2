"""A plain convolutional network for colour pictures of 32 x 32 pixels (CIFAR's shape) in ten classes, 264 866 parameters."""
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import common

import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 5, padding=2)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.conv3 = nn.Conv2d(64, 64, 3, padding=1)
        self.fc1 = nn.Linear(64 * 4 * 4, 200)
        self.fc2 = nn.Linear(200, 10)

    def forward(self, x):
        for conv in (self.conv1, self.conv2, self.conv3):
            x = F.max_pool2d(F.relu(conv(x)), 2)
        x = F.dropout(torch.flatten(x, 1), 0.3, self.training)
        return self.fc2(F.dropout(F.relu(self.fc1(x)), 0.3, self.training))


if __name__ == "__main__":
    common.main(common.Recipe(
        name="cnn-264k", data="emoji", about="3 convolutions with max pooling and 2 dense layers, colour pictures 3x32x32", model=Model,
        shape=(1, 3, 32, 32), steps=20000, batch=256, rate=2e-3, smooth=0.05, scale=1 / 255, augment=common.distort,
        exports=(("model", "dynamo", 18),)))
