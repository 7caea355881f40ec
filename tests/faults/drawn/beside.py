#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small programs that stand beside a drawn service.

    beside.py backend PORT NAP_MS WORK_MS BYTES   HTTP: answers NAP_MS late, after WORK_MS of computing
    beside.py names PORT ADDRESS DELAY_MS         DNS: each name has that address, said so late
    beside.py cache PATH MB                       makes a large page cache and drops it, again and again
    beside.py datagrams ADDRESS PORT MB           sends so much a second by UDP
    beside.py swallow PORT                        takes datagrams
    beside.py spin                                computes for ever (with `idle`: only when nobody else would)
    beside.py worker PORT                         of gearman: what handlers/common.py does for each job
"""
import asyncio
import ctypes
import os
import signal
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "handlers"))


def compute(ms):
    """For that much CPU time of this thread."""
    end = time.thread_time_ns() + int(float(ms) * 1e6)
    while time.thread_time_ns() < end:
        pass


def backend(port, nap_ms, work_ms, size):
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %s\r\nConnection: %s\r\n\r\n" + (bytes(range(48, 123)) * (int(size) // 75 + 1))[:int(size)]

    async def session(reader, writer):
        try:
            while line := await reader.readline():
                keep = b"HTTP/1.1" in line
                while head := (await reader.readline()).strip().lower():
                    keep = keep and head != b"connection: close"
                compute(work_ms)
                if float(nap_ms):
                    await asyncio.sleep(float(nap_ms) * 1e-3)
                writer.write(answer % (size.encode(), b"keep-alive" if keep else b"close"))
                await writer.drain()
                if not keep:
                    break
        except ConnectionError:
            pass
        writer.close()

    async def main():
        async with await asyncio.start_server(session, "0.0.0.0", int(port), backlog=1000) as server:
            await server.serve_forever()
    asyncio.run(main())


def names(port, address, delay_ms):
    class Answers(asyncio.DatagramProtocol):
        def connection_made(self, transport):
            self.transport = transport

        def datagram_received(self, data, sender):
            asyncio.get_running_loop().call_later(float(delay_ms) * 1e-3, self.answer, data, sender)

        def answer(self, data, sender):
            end = data.index(b"\0", 12) + 5
            found = b"\xc0\x0c" + struct.pack(">2HIH", 1, 1, 0, 4) + socket.inet_aton(address) if data[end - 4:end - 2] == b"\0\1" else b""
            self.transport.sendto(data[:2] + b"\x81\x80\0\1" + struct.pack(">3H", bool(found), 0, 0) + data[12:end] + found, sender)

    async def main():
        await asyncio.get_running_loop().create_datagram_endpoint(Answers, ("0.0.0.0", int(port)))
        print("ready", flush=True)
        await asyncio.Event().wait()
    asyncio.run(main())


def cache(path, megabytes):
    block, descriptor = b"x" * (1 << 20), os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    print("ready", flush=True)
    while True:
        for i in range(int(megabytes)):
            os.pwrite(descriptor, block, i << 20)
            time.sleep(.008)
        os.ftruncate(descriptor, 0)


def datagrams(address, port, megabytes):
    sender, block, begin, sent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), b"x" * 60000, time.monotonic(), 0
    print("ready", flush=True)
    while True:
        sender.sendto(block, (address, int(port)))
        sent += len(block)
        time.sleep(max(0, begin + sent / (float(megabytes) * 1e6) - time.monotonic()))


def swallow(port):
    taker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    taker.bind(("0.0.0.0", int(port)))
    print("ready", flush=True)
    while True:
        taker.recv(65536)


def spin(how="plain"):
    if how == "idle":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    print("ready", flush=True)
    while True:
        pass


def worker(port):
    import common
    while True:
        try:
            link = socket.create_connection(("127.0.0.1", int(port)))
            break
        except OSError:
            time.sleep(.05)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream, send = link.makefile("rb"), lambda kind, data=b"": link.sendall(b"\0REQ" + struct.pack(">2I", kind, len(data)) + data)
    send(1, b"work") # CAN_DO
    while True:
        send(9) # GRAB_JOB
        kind, size = struct.unpack(">2I", stream.read(12)[4:])
        data = stream.read(size)
        if kind == 10: # NO_JOB
            send(4) # PRE_SLEEP
            stream.read(12)
        elif kind == 11: # JOB_ASSIGN
            common.handle()
            send(13, data.split(b"\0", 1)[0] + b"\0done")


KINDS = {"backend": backend, "names": names, "cache": cache, "datagrams": datagrams, "swallow": swallow, "spin": spin, "worker": worker}

if __name__ == "__main__":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL) # PR_SET_PDEATHSIG
    signal.alarm(200)
    KINDS[sys.argv[1]](*sys.argv[2:])
