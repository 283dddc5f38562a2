"""An LSTM that tells nine speakers by 25 frames of a vowel."""
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import common


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(12, 40, batch_first=True)
        self.drop = nn.Dropout(0.4)
        self.head = nn.Linear(40, 9)

    def forward(self, x):
        y, _ = self.lstm(x)
        return self.head(self.drop(y[:, -1]))


def augment(x, y):
    return x + 0.1 * torch.randn_like(x), y


if __name__ == "__main__":
    common.main(common.Recipe(
        name="lstm", data="vowels", about="LSTM of 40 units over 25 frames of 12 coefficients", model=Model, shape=(1, 25, 12), steps=4000,
        batch=90, rate=4e-3, scale=1.0, augment=augment, exports=(("model", "legacy", 17), ("dynamo", "dynamo", 18)), forms=("qdq",)))
