#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A data flow by Debian's python3-distributed, for the group `service`: a scheduler, workers of one thread each, and a
client whose tasks read a block (a nap and some arithmetic), then add up blocks of the other workers.

    flow.py scheduler PORT TIMES            TIMES as much to do for each change of a task
    flow.py worker ADDRESS:PORT NAME NAP_MS its tasks take so much longer, asleep
    flow.py client ADDRESS:PORT WORKERS ROUNDS
                                            prints "loop SECONDS" and the rate, and ends the others
"""
import asyncio
import ctypes
import os
import signal
import sys
import time

ctypes.CDLL(None).prctl(1, signal.SIGKILL) # PR_SET_PDEATHSIG
signal.alarm(150)
WIDE = 4 # blocks of a round for each worker
BYTES, STEPS, READ_S, SCHEDULER_STEPS = 200_000, 60_000, .012, 2_500


def work(steps):
    x = 1
    for _ in range(steps):
        x = (x * 69069 + 1) & 0xffffffff
    return x


def read_block(seed, bytes_):
    time.sleep(READ_S + float(os.environ.get("FLOW_NAP_MS", 0)) / 1000)
    return bytes([seed % 251]) * (bytes_ + 0 * work(STEPS))


def add_blocks(*blocks):
    return sum(block[0] for block in blocks) + 0 * work(STEPS // 4)


async def scheduler(port, times):
    from distributed import Scheduler
    from distributed.diagnostics.plugin import SchedulerPlugin

    class Bookkeeping(SchedulerPlugin):
        def transition(self, *_, **__):
            work(round(SCHEDULER_STEPS * times))

    async with Scheduler(host="0.0.0.0", port=port, dashboard=False) as started:
        started.add_plugin(Bookkeeping())
        await started.finished()


async def worker(address, name, nap_ms):
    from distributed import Worker
    os.environ["FLOW_NAP_MS"] = str(nap_ms)
    async with Worker(f"tcp://{address}", name=name, nthreads=1, dashboard=False) as started:
        await started.finished()


def rounds(client, workers, n):
    total = 0
    for i in range(n):
        blocks = {name: [client.submit(read_block, i * 100 + at * 10 + j, BYTES, workers=[name], pure=False) for j in range(WIDE)]
                  for at, name in enumerate(workers)}
        every = [block for mine in blocks.values() for block in mine]
        total += sum(client.gather([client.submit(add_blocks, *every, workers=[name], pure=False) for name in workers]))
    return total


def client(address, n_workers, n):
    from distributed import Client
    with Client(f"tcp://{address}") as own:
        own.wait_for_workers(n_workers)
        workers = [info["name"] for info in own.scheduler_info()["workers"].values()]
        rounds(own, workers, 3) # the first rounds make what all later ones use
        begin = time.monotonic()
        rounds(own, workers, n)
        took = time.monotonic() - begin
        print(f"loop {took:.6f}\nrate {n * n_workers * (WIDE + 1) / took:.1f} tasks/s", flush=True)
        own.shutdown()


def main(words):
    import dask
    dask.config.set({"distributed.admin.log-format": "%(message)s", "distributed.logging.distributed": "error"})
    role, *rest = words
    if role == "scheduler" and len(rest) == 2:
        asyncio.run(scheduler(int(rest[0]), float(rest[1])))
    elif role == "worker" and len(rest) == 3:
        asyncio.run(worker(*rest))
    elif role == "client" and len(rest) == 3:
        client(rest[0], int(rest[1]), int(rest[2]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:] or [""])
