#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Load on a drawn service: clients in processes of their own, each of which asks, waits for the answer, and asks again.

    load.py KIND ADDRESS PORT CLIENTS REQUESTS [NAME=VALUE ...]

Ends after REQUESTS, or after `limit` seconds, and prints "loop SECONDS", "done REQUESTS" and "failed REQUESTS". Values: pause (ms
between requests), hot (1: all ask for one key), limit, and those of a kind. ADDRESS may be a name: it is looked up for each
connection. The protocols are the least that a request needs."""
import ctypes
import os
import signal
import socket
import struct
import subprocess
import sys
import time

BLOCK = bytes(range(32, 127)) * 800 # 76 kB


class Session:
    """One client. `ask` makes one request and waits for its answer."""
    each = False # a connection a request

    def __init__(self, address, port, number, values):
        self.address, self.port, self.number, self.values = address, port, number, values
        self.socket, self.stream = None, None

    def connect(self):
        where = socket.getaddrinfo(self.address, self.port, socket.AF_INET, socket.SOCK_STREAM)[0][4]
        self.socket = socket.create_connection(where, 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb", 65536)
        self.greet()

    def greet(self):
        """Talk before the first request."""

    def close(self):
        if self.socket:
            self.stream.close()
            self.socket.close()
        self.socket = None

    def key(self, i, keys):
        return 0 if self.values.get("hot") else (self.number * 7919 + i) % keys

    def request(self, i):
        if self.socket is None:
            self.connect()
        try:
            self.ask(i)
        except BaseException:
            self.close()
            raise
        if self.each or (i + 1) % self.values.get("turn", 10**9) == 0:
            self.close()

    def number_of(self, name, default):
        return int(self.values.get(name, default))

    def exactly(self, size):
        data = self.stream.read(size)
        if len(data) != size:
            raise ConnectionError("the server hung up")
        return data


class Http(Session):
    """path: what is asked for, with %d for the key; keys; body: bytes that are sent along"""
    each = True

    def ask(self, i):
        path = self.values.get("path", "/")
        path = path % self.key(i, self.number_of("keys", 100)) if "%" in path else path
        body = BLOCK[:self.number_of("body", 0)]
        verb = b"POST" if body else b"GET"
        self.socket.sendall(verb + b" %s HTTP/1.1\r\nHost: drawn\r\nConnection: close\r\nAccept-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(body)) + body)
        answer = self.stream.read()
        if b" 200" not in answer[:16]:
            raise ConnectionError(answer[:400].decode(errors="replace") or "no answer")


class Memcached(Session):
    """Three of four requests ask for `many` keys, the fourth sets a key."""
    size, keys = 200, 2000

    def ask(self, i):
        if i == 0:
            for key in range(self.keys):
                self.socket.sendall(b"set k%04d 0 0 %d noreply\r\n%s\r\n" % (key, self.size, BLOCK[:self.size]))
        if i % 4 == 3:
            size = self.number_of("body", 8000)
            self.socket.sendall(b"set b%04d 0 0 %d\r\n%s\r\n" % (self.key(i, self.keys), size, BLOCK[:size]))
            if self.stream.readline() != b"STORED\r\n":
                raise ConnectionError("not stored")
            return
        many = self.number_of("many", 60)
        self.socket.sendall(b"get " + b" ".join(b"k%04d" % self.key(i * many + j, self.keys) for j in range(many)) + b"\r\n")
        self.exactly(many * (len(b"VALUE k0000 0 200\r\n") + self.size + 2))
        if self.stream.readline() != b"END\r\n":
            raise ConnectionError("not all keys are there")


class Beanstalk(Session):
    def greet(self):
        tube = b"t0" if self.values.get("hot") else b"t%d" % self.number
        self.socket.sendall(b"use %s\r\nwatch %s\r\nignore default\r\n" % (tube, tube))
        for _ in range(3):
            self.stream.readline()

    def ask(self, i):
        size = self.number_of("body", 8000)
        self.socket.sendall(b"put 1 0 60 %d\r\n%s\r\nreserve\r\n" % (size, BLOCK[:size]))
        if not self.stream.readline().startswith(b"INSERTED"):
            raise ConnectionError("not inserted")
        reserved = self.stream.readline().split()
        self.exactly(int(reserved[2]) + 2)
        self.socket.sendall(b"delete %s\r\n" % reserved[1])
        if self.stream.readline() != b"DELETED\r\n":
            raise ConnectionError("not deleted")


class Mqtt(Session):
    """Publishes with an acknowledgement, and waits until it gets the message itself."""
    def topic(self):
        return b"t/0" if self.values.get("hot") else b"t/%d" % self.number

    def greet(self):
        name = b"client%d" % self.number
        self.packet(0x10, b"\0\4MQTT\4\2\0\0" + struct.pack(">H", len(name)) + name)
        self.until(0x20)
        self.packet(0x82, b"\0\1" + struct.pack(">H", len(self.topic())) + self.topic() + b"\0")
        self.until(0x90)

    def packet(self, kind, data):
        size, length = len(data), b""
        while True:
            length += bytes([size % 128 | (128 if size > 127 else 0)])
            size //= 128
            if not size:
                break
        self.socket.sendall(bytes([kind]) + length + data)

    def until(self, *wanted):
        wanted = set(wanted)
        while wanted:
            kind, size, shift = self.exactly(1)[0], 0, 0
            while True:
                byte = self.exactly(1)[0]
                size |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            self.exactly(size)
            wanted.discard(kind & 0xf0)

    def ask(self, i):
        identifier = struct.pack(">H", i % 65000 + 1)
        self.packet(0x32, struct.pack(">H", len(self.topic())) + self.topic() + identifier + BLOCK[:self.number_of("body", 4000)])
        self.until(0x40, 0x30)


def ber(tag, *parts):
    data = b"".join(parts)
    return bytes([tag]) + (bytes([len(data)]) if len(data) < 128 else b"\x82" + struct.pack(">H", len(data))) + data


class Ldap(Session):
    """Searches by an attribute without index; each eighth request changes an entry."""
    def greet(self):
        self.operation(ber(0x60, b"\2\1\3", ber(4, b"cn=admin,dc=drawn"), ber(0x80, b"secret")), 0x61)

    def operation(self, data, last):
        self.socket.sendall(ber(0x30, b"\2\1\5", data))
        while True:
            head = self.exactly(2)
            size = head[1]
            if size & 128:
                size = int.from_bytes(self.exactly(size & 127), "big")
            message = self.exactly(size)
            if message[3] == last:
                if b"\x0a\1\0" not in message[:14]:
                    raise ConnectionError(f"LDAP: {message!r}")
                return

    def ask(self, i):
        entry = b"cn=u%d,dc=drawn" % self.key(i, 1500)
        if i % 8 == 7:
            value = ber(0x30, ber(4, b"description"), ber(0x31, ber(4, b"d%d" % i)))
            self.operation(ber(0x66, ber(4, entry), ber(0x30, ber(0x30, b"\x0a\1\2", value))), 0x67)
            return
        self.operation(ber(0x63, ber(4, b"dc=drawn"), b"\x0a\1\2\x0a\1\0\2\1\0\2\1\0\1\1\0", ber(0xa3, ber(4, b"description"), ber(4, b"d%d" % i)), b"\x30\0"), 0x65)


class Dns(Session):
    """A transfer of the whole zone."""
    each = True

    def ask(self, i):
        query = struct.pack(">6H", 7, 0, 1, 0, 0, 0) + b"\5drawn\4test\0" + struct.pack(">2H", 252, 1)
        self.socket.sendall(struct.pack(">H", len(query)) + query)
        left = self.number_of("records", 1)
        while left > 0:
            message = self.exactly(struct.unpack(">H", self.exactly(2))[0])
            if message[3] & 15:
                raise ConnectionError(f"DNS: {message[3] & 15}")
            left -= struct.unpack(">H", message[6:8])[0]


class Stun(Session):
    """Binding requests of STUN."""
    def ask(self, i):
        self.socket.sendall(b"".join(struct.pack(">2HI", 1, 0, 0x2112a442) + os.urandom(12) for _ in range(8)))
        for _ in range(8):
            self.exactly(struct.unpack(">H", self.exactly(20)[2:4])[0])


class Gearman(Session):
    def ask(self, i):
        data = b"work\0\0" + BLOCK[:self.number_of("body", 20000)]
        self.socket.sendall(b"\0REQ" + struct.pack(">2I", 7, len(data)) + data)
        while True:
            kind, size = struct.unpack(">2I", self.exactly(12)[4:])
            self.exactly(size)
            if kind == 13:
                return


class Xmpp(Session):
    """A message to itself through the server."""
    def until(self, word):
        data = b""
        while word not in data:
            more = self.socket.recv(65536)
            if not more:
                raise ConnectionError("the server hung up")
            data += more
        return data

    def greet(self):
        opening = b"<stream:stream to='drawn.test' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>"
        self.socket.sendall(b"<?xml version='1.0'?>" + opening)
        self.until(b"</stream:features>")
        self.socket.sendall(b"<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='ANONYMOUS'/>")
        self.until(b"<success")
        self.socket.sendall(opening)
        self.until(b"</stream:features>")
        self.socket.sendall(b"<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>")
        self.jid = self.until(b"</iq>").split(b"<jid>")[1].split(b"</jid>")[0]

    def ask(self, i):
        text = BLOCK.replace(b"<", b".").replace(b"&", b".")[:self.number_of("body", 3000)]
        self.socket.sendall(b"<message type='chat' to='%s'><body>%s</body></message>" % (self.jid, text))
        self.until(b"</message>")


class FastCgi(Session):
    """script: the file; an environment of the request"""
    each = True

    def ask(self, i):
        names = {"SCRIPT_FILENAME": self.values["script"], "REQUEST_METHOD": "GET", "QUERY_STRING": f"key={self.key(i, 100)}"}
        pairs = b"".join(bytes([len(name), len(value)]) + name.encode() + value.encode() for name, value in names.items())
        record = lambda kind, data: struct.pack(">BBHHBB", 1, kind, 1, len(data), 0, 0) + data
        self.socket.sendall(record(1, struct.pack(">HB5x", 1, 0)) + record(4, pairs) + record(4, b"") + record(5, b""))
        if b"done" not in self.stream.read():
            raise ConnectionError("no answer of the script")


class Postgres(Session):
    """query: text with %d for the key; keys"""
    def greet(self):
        data = struct.pack(">I", 196608) + b"user\0postgres\0database\0postgres\0\0"
        self.socket.sendall(struct.pack(">I", len(data) + 4) + data)
        self.until_ready()

    def until_ready(self):
        while True:
            head = self.exactly(5)
            message = self.exactly(struct.unpack(">I", head[1:])[0] - 4)
            if head[:1] == b"E":
                raise ConnectionError(message.decode(errors="replace"))
            if head[:1] == b"Z":
                return

    def ask(self, i):
        key = self.key(i, self.number_of("keys", 1000))
        query = self.values["query"].replace("%d", str(key)).encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack(">I", len(query) + 4) + query)
        self.until_ready()


class Zookeeper(Session):
    """Sets a node, and reads it three times."""
    def connect(self):
        from kazoo.client import KazooClient
        self.socket = True
        self.client = KazooClient(hosts=f"{self.address}:{self.port}", timeout=30)
        self.client.start(60)
        for key in range(20):
            self.client.ensure_path(f"/n{key}")

    def close(self):
        if self.socket:
            self.client.stop()
            self.client.close()
        self.socket = None

    def ask(self, i):
        self.client.set(f"/n{self.key(i, 20)}", BLOCK[:self.number_of("body", 16000)])
        for j in range(3):
            self.client.get(f"/n{self.key(i + j, 20)}")


class Celery(Session):
    """A task, whose result is waited for."""
    def connect(self):
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "handlers"))
        import tasks
        self.socket, self.task = True, tasks.work

    def close(self):
        self.socket = None

    def ask(self, i):
        self.task.delay(self.key(i, 100), "x" * self.number_of("body", 20000)).get(timeout=60, interval=.005)


class Frames(Session):
    """Raw pictures in one stream; the far end hangs up when it has made a film of them."""
    def ask(self, i):
        size = self.number_of("body", 640 * 360 * 3 // 2)
        shift = i * 977 % 60000
        self.socket.sendall((BLOCK[shift:shift + 7777] * (size // 7777 + 1))[:size])

    def close(self):
        if self.socket:
            self.socket.shutdown(socket.SHUT_WR)
            while self.socket.recv(4096):
                pass
        super().close()


class Command(Session):
    """command: by a shell, a request a run, with its number and the client's in I and CLIENT"""
    def connect(self):
        self.socket = True

    def close(self):
        self.socket = None

    def ask(self, i):
        environment = dict(os.environ, I=str(i), CLIENT=str(self.number), KEY=str(self.key(i, 1000)))
        done = subprocess.run(self.values["command"], shell=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise ConnectionError(done.stderr.decode(errors="replace")[-200:] or str(done.returncode))


KINDS = {"http": Http, "memcached": Memcached, "beanstalk": Beanstalk, "mqtt": Mqtt, "ldap": Ldap, "dns": Dns, "stun": Stun, "gearman": Gearman, "xmpp": Xmpp,
         "fastcgi": FastCgi, "postgres": Postgres, "zookeeper": Zookeeper, "celery": Celery, "frames": Frames, "command": Command}
ALLOWED = 20 # failed requests of one client


def asks(session, share, values, begin):
    """Returns (done, failed)."""
    done, failed = 0, 0
    for i in range(share):
        try:
            session.request(i)
            done += 1
        except OSError as error:
            failed += 1
            print(f"load: client {session.number}: {error}", file=sys.stderr)
            if failed > ALLOWED:
                break
            time.sleep(.1)
        if values.get("pause"):
            time.sleep(float(values["pause"]) * 1e-3)
        if time.monotonic() - begin > float(values.get("limit", 15)):
            break
    session.close()
    return done, failed


def main(words):
    kind, address, port, clients, requests, *rest = words
    ctypes.CDLL(None).prctl(1, signal.SIGTERM) # PR_SET_PDEATHSIG
    values = dict(word.split("=", 1) for word in rest)
    for name in ("turn",):
        if name in values:
            values[name] = int(values[name])
    begin, pipes = time.monotonic(), []
    for number in range(int(clients)):
        from_child, to_parent = os.pipe()
        if os.fork() == 0:
            session = KINDS[kind](address, int(port), number, values)
            result = asks(session, int(requests) // int(clients), values, begin)
            os.write(to_parent, struct.pack("2i", *result))
            os._exit(0)
        os.close(to_parent)
        pipes.append(from_child)
    counts = [struct.unpack("2i", os.read(pipe, 8) or struct.pack("2i", 0, 1)) for pipe in pipes]
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    print(f"loop {time.monotonic() - begin:.6f}\ndone {sum(count[0] for count in counts)}\nfailed {sum(count[1] for count in counts)}", flush=True)
    return 0 if all(count[1] <= ALLOWED for count in counts) and any(count[0] for count in counts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
