#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A training as PyTorch's users start it, for the group `service`: torchrun on each host, gloo between them, and a data
loader with a process of its own for each rank. Rank 0 prints "loop SECONDS" and the rate.

    torchrun ... train.py ITERATIONS [--plant skew:RANK:FACTOR | input:RANK:MS]..."""
import ctypes
import os
import signal
import sys
import time

ctypes.CDLL(None).prctl(1, signal.SIGKILL) # PR_SET_PDEATHSIG
signal.alarm(150)
BATCH, LOAD_STEPS, WARM_UP = 192, 25_000, 3


def planted(words, kind, rank, default):
    for word in words:
        name, at, amount = word.split(":")
        if name == kind and int(at) == rank:
            return float(amount)
    return default


def main(iterations, plants):
    import torch
    from torch.utils.data import DataLoader, Dataset
    torch.set_num_threads(1)
    torch.manual_seed(1)
    torch.distributed.init_process_group("gloo") # from the variables that torchrun sets
    rank = torch.distributed.get_rank()
    batch, late_s = round(BATCH * planted(plants, "skew", rank, 1)), planted(plants, "input", rank, 0) / 1000

    class Images(Dataset):
        """Batches, each of which takes some arithmetic (a decoder) and a sleep (a remote file)."""
        images, labels = torch.randn(batch, 784), torch.randint(10, (batch,))

        def __len__(self):
            return iterations + WARM_UP

        def __getitem__(self, i):
            x = i + 1
            for _ in range(LOAD_STEPS):
                x = (x * 69069 + 1) & 0xffffffff
            time.sleep(.002 + late_s)
            return self.images + x % 2, self.labels

    net = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer, loss_of = torch.optim.SGD(net.parameters(), lr=.01), torch.nn.CrossEntropyLoss()
    for i, (images, labels) in enumerate(DataLoader(Images(), batch_size=None, num_workers=1, prefetch_factor=2)):
        if i == WARM_UP:
            torch.distributed.barrier()
            begin = time.monotonic()
        optimizer.zero_grad()
        loss_of(net(images), labels).backward()
        flat = torch.cat([p.grad.reshape(-1) for p in net.parameters()])
        torch.distributed.all_reduce(flat)
        torch.nn.utils.vector_to_parameters(flat, [p.grad for p in net.parameters()])
        optimizer.step()
    took = time.monotonic() - begin
    if rank == 0:
        print(f"loop {took:.6f}\nrate {iterations / took:.1f} steps/s", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    plants = [word for before, word in zip(sys.argv, sys.argv[1:]) if before == "--plant"]
    if len(sys.argv) != 2 + 2 * len(plants):
        sys.exit(__doc__)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "eth0")
    main(int(sys.argv[1]), plants)
