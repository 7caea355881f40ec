#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A web server with a backend, and the load on it, for the group `service`: asyncio, one thread each.

    web.py back  PORT NAP_MS                   answers a line with a page, NAP_MS late
    web.py front PORT BACKEND:PORT POOL TIMES  HTTP; asks the backend over a pool of connections; TIMES as much to
                                               do for each page
    web.py load  ADDRESS:PORT CLIENTS REQUESTS THINK_MS
                                               clients, each of which reads a page, thinks, and reads the next one;
                                               prints "loop SECONDS" and the rate, and ends the other two
"""
import asyncio
import ctypes
import signal
import sys
import time

ctypes.CDLL(None).prctl(1, signal.SIGKILL) # PR_SET_PDEATHSIG
signal.alarm(150)
PAGE = b"x" * 8191 + b"\n"
FRONT_STEPS, BACK_STEPS = 6000, 6000


def work(steps):
    x = 1
    for _ in range(steps):
        x = (x * 69069 + 1) & 0xffffffff
    return x


async def connected(address):
    host, port = address.rsplit(":", 1)
    while True:
        try:
            return await asyncio.open_connection(host, int(port))
        except OSError:
            await asyncio.sleep(.02)


async def serve(port, talk):
    """Until a client says "quit"."""
    over = asyncio.Event()

    async def session(reader, writer):
        while line := await reader.readline():
            if line.startswith(b"quit"):
                over.set()
                break
            await talk(line, reader, writer)
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(session, "0.0.0.0", port):
        await over.wait()


async def back(port, nap_s):
    async def talk(line, reader, writer):
        work(BACK_STEPS)
        if nap_s:
            await asyncio.sleep(nap_s)
        writer.write(PAGE)
    await serve(port, talk)


async def front(port, backend, size, times):
    pool = asyncio.Queue()
    for _ in range(size):
        pool.put_nowait(await connected(backend))

    async def talk(line, reader, writer):
        while (await reader.readline()).strip():
            pass
        connection = await pool.get()
        connection[1].write(line)
        page = await connection[0].readexactly(len(PAGE))
        pool.put_nowait(connection)
        work(round(FRONT_STEPS * times))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(page) + page)

    await serve(port, talk)
    connection = await pool.get()
    connection[1].write(b"quit\n")
    await connection[1].drain()


async def client(connection, left, think_s):
    reader, writer = connection
    while left:
        left.pop()
        writer.write(b"GET /page HTTP/1.1\r\nHost: front\r\n\r\n")
        while line := (await reader.readline()).strip():
            if line.startswith(b"Content-Length:"):
                size = int(line.split()[1])
        await reader.readexactly(size)
        await asyncio.sleep(think_s)


async def load(address, clients, requests, think_s):
    connections = [await connected(address) for _ in range(clients)]
    left, begin = [None] * requests, time.monotonic()
    await asyncio.gather(*(client(connection, left, think_s) for connection in connections))
    took = time.monotonic() - begin
    print(f"loop {took:.6f}\nrate {requests / took:.1f} requests/s")
    connections[0][1].write(b"quit\n")
    await connections[0][1].drain()


def main(words):
    role, *rest = words
    if role == "back" and len(rest) == 2:
        asyncio.run(back(int(rest[0]), float(rest[1]) / 1000))
    elif role == "front" and len(rest) == 4:
        asyncio.run(front(int(rest[0]), rest[1], int(rest[2]), float(rest[3])))
    elif role == "load" and len(rest) == 4:
        asyncio.run(load(rest[0], int(rest[1]), int(rest[2]), float(rest[3]) / 1000))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:] or [""])
