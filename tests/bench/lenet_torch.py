# SPDX-License-Identifier: MIT
"""LeNet-5 in PyTorch, the yardstick of lenet_rate.sh: the net, data and steps of chokepoint-lenet, with one thread.
Usage: lenet_torch.py DIRECTORY BATCH ITERATIONS. Prints images/s of wall time and of CPU time."""
import sys
import time

import numpy
import torch
from torch import nn

directory, batch, iterations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(1)
torch.manual_seed(1)


def idx(name, head):
    return numpy.fromfile(f"{directory}/{name}", numpy.uint8)[head:]


images = torch.from_numpy(idx("train-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28))
labels = torch.from_numpy(idx("train-labels-idx1-ubyte", 8).astype(numpy.int64))
net = nn.Sequential(
    nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
loss_of = nn.CrossEntropyLoss()
order = torch.randperm(len(images))


def step(i):
    begin = i * batch % (len(images) - batch + 1)
    rows = order[begin:begin + batch]
    optimizer.zero_grad()
    loss_of(net(images[rows].float() / 255), labels[rows]).backward()
    optimizer.step()


for i in range(20):
    step(i)
wall, cpu = time.perf_counter(), time.process_time()
for i in range(iterations):
    step(i)
print(batch * iterations / (time.perf_counter() - wall), batch * iterations / (time.process_time() - cpu))
