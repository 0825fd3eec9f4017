"""A convolutional variational auto-encoder of PyTorch as AURORA's encoder, on the processor or on a
graphics card; the robot is that of thrower.py.

    python3 examples/torch_encoder.py runs/vae [cuda]

The same call goes on with a run that was killed, to the same bits: the weights are in its checkpoints.
"""
from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch
from torch import nn

import aurora_qd as aurora
from thrower import task, throw


class ConvVae:
    def __init__(self, dimension: int = 2, device: str = "cpu", epochs: int = 30):
        self.dimension, self.device, self.epochs = dimension, device, epochs
        self.deterministic = device == "cpu"  # what is not is said in run.json

    def begin(self, dimension: int, shape: tuple[int, ...], seed: int) -> None:
        torch.manual_seed(seed)
        steps, values = shape
        wide = (32, steps // 4)
        down = [nn.Conv1d(values, 16, 4, 2, 1), nn.ReLU(), nn.Conv1d(16, 32, 4, 2, 1), nn.ReLU()]
        up = [
            nn.ConvTranspose1d(32, 16, 4, 2, 1),
            nn.ReLU(),
            nn.ConvTranspose1d(16, values, 4, 2, 1),
        ]
        code, uncode = nn.Linear(8 * steps, 2 * dimension), nn.Linear(dimension, 8 * steps)
        self.encoder = nn.Sequential(nn.BatchNorm1d(values), *down, nn.Flatten(), code)
        self.decoder = nn.Sequential(uncode, nn.ReLU(), nn.Unflatten(1, wide), *up)
        self.net = nn.ModuleList([self.encoder, self.decoder]).to(self.device)

    def seen(self, data: np.ndarray) -> torch.Tensor:  # (rows, values, steps)
        return torch.from_numpy(np.array(data)).to(self.device).transpose(1, 2)

    def train(self, data: np.ndarray, seed: int) -> dict[str, float]:
        torch.manual_seed(seed)
        self.net.train()
        sensed, optimizer = self.seen(data), torch.optim.Adam(self.net.parameters(), 3e-3)
        for _ in range(self.epochs):
            for rows in torch.randperm(len(data)).split(256):
                mean, log_variance = self.encoder(sensed[rows]).chunk(2, dim=1)
                code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
                error = ((self.decoder(code) - sensed[rows]) ** 2).sum(dim=(1, 2)).mean()
                spread = (mean**2 + log_variance.exp() - 1 - log_variance).sum(dim=1).mean() / 2
                optimizer.zero_grad()
                (error + 0.01 * spread).backward()
                optimizer.step()
        return {"loss": error.item(), "divergence": spread.item(), "epochs": self.epochs}

    @torch.no_grad()
    def encode(self, data: np.ndarray) -> np.ndarray:
        self.net.eval()
        return self.encoder(self.seen(data))[:, : self.dimension].cpu().numpy()

    def state(self) -> dict[str, np.ndarray]:
        return {name: values.cpu().numpy() for name, values in self.net.state_dict().items()}

    def set_state(self, state: dict[str, Any]) -> None:
        self.net.load_state_dict({name: torch.from_numpy(array) for name, array in state.items()})


if __name__ == "__main__":
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    run = aurora.run(
        task,
        throw,
        100,
        sys.argv[1],
        variant="aurora-csc-uniform-2",
        encoder=ConvVae(device=device),
    )
    print(run.summary["container_hash"], len(run.container), "behaviours")
