#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A training by PyTorch and gloo, for the scored half of the matrix: neither MPI nor marks nor anything of
this project. Each process has batches of its own of made-up images, and their gradients are added up by
all-reduce. Rank 0 prints "loop SECONDS".

    gloo_ring.py RANK N ADDRESS-OF-RANK-0:PORT ITERATIONS [--plant skew:RANK:FACTOR | sleep:RANK:MS]...

One thread each, as the hosts have a core each; a larger batch for skew. Once a command has
imported torch, it is in the page cache and takes about a second."""
import ctypes
import os
import signal
import socket
import sys
import time

ctypes.CDLL(None).prctl(1, signal.SIGKILL) # PR_SET_PDEATHSIG
signal.alarm(120)
BATCH = 384
WARM_UP = 3


def planted(words, kind, rank, default):
    for word in words:
        name, at, amount = word.split(":")
        if name == kind and int(at) == rank:
            return float(amount)
    return default


def wait_for(first):
    """Waits until rank 0 listens: an early rank is refused, and PyTorch would retry only after a
    second."""
    host, port = first.rsplit(":", 1)
    while True:
        try:
            return socket.create_connection((host, int(port)), 1).close()
        except OSError:
            time.sleep(.01)


def step(torch, net, loss_of, optimizer, images, labels):
    optimizer.zero_grad()
    loss = loss_of(net(images), labels)
    loss.backward()
    flat = torch.cat([p.grad.reshape(-1) for p in net.parameters()])
    torch.distributed.all_reduce(flat)
    torch.nn.utils.vector_to_parameters(flat, [p.grad for p in net.parameters()])
    optimizer.step()


def main(rank, n, first, iterations, plants):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    if rank:
        wait_for(first)
    torch.distributed.init_process_group("gloo", init_method=f"tcp://{first}", rank=rank, world_size=n)
    batch = round(BATCH * planted(plants, "skew", rank, 1))
    net = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=.01)
    images, labels = torch.randn(batch, 784), torch.randint(10, (batch,))
    loss_of, sleep_s = torch.nn.CrossEntropyLoss(), planted(plants, "sleep", rank, 0) / 1000
    for _ in range(WARM_UP): # the first steps make what all later ones use
        step(torch, net, loss_of, optimizer, images, labels)
    torch.distributed.barrier()
    begin = time.monotonic()
    for _ in range(iterations):
        time.sleep(sleep_s)
        step(torch, net, loss_of, optimizer, images, labels)
    if rank == 0:
        print(f"loop {time.monotonic() - begin:.6f}")


if __name__ == "__main__":
    plants = [word for before, word in zip(sys.argv, sys.argv[1:]) if before == "--plant"]
    if len(sys.argv) != 5 + 2 * len(plants):
        sys.exit("usage: gloo_ring.py RANK N ADDRESS:PORT ITERATIONS [--plant KIND:RANK:AMOUNT]...")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "eth0")
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), plants)
