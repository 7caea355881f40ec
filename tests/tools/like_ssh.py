#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The streams of a command as ssh and sshd treat them: like_ssh.py COMMAND...

This process is the near end, a session of its own the far end, which starts the command. When the
near end is killed, the far end closes the command's input and ends, as sshd does.
"""
import os
import select
import socket
import subprocess
import sys
import threading


def copy_until_end(source, sink, end):
    while data := os.read(source, 65536):
        while data:
            data = data[os.write(sink, data):]
    end()


def far_end(to_us, from_us, command):
    os.setsid()
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    near = threading.Thread(target=copy_until_end, daemon=True,
                            args=(to_us.fileno(), child.stdin.fileno(), child.stdin.close))
    near.start()
    poll = select.poll()
    poll.register(child.stdout, select.POLLIN)
    poll.register(from_us, 0)
    try:
        while True:
            for fd, event in poll.poll():
                if fd == from_us.fileno():
                    os._exit(255)
                data = os.read(fd, 65536)
                if not data:
                    status = child.wait()
                    os._exit(status if status >= 0 else 255)
                from_us.sendall(data)
    except OSError:
        os._exit(255)


def main():
    ours_in, theirs_in = socket.socketpair()
    ours_out, theirs_out = socket.socketpair()
    far = os.fork()
    if far == 0:
        ours_in.close()
        ours_out.close()
        os.close(0)
        os.close(1)
        os.open("/dev/null", os.O_RDWR)
        os.open("/dev/null", os.O_RDWR)
        far_end(theirs_in, theirs_out, sys.argv[1:])
    theirs_in.close()
    theirs_out.close()
    threading.Thread(target=copy_until_end, daemon=True,
                     args=(0, ours_in.fileno(), lambda: ours_in.shutdown(socket.SHUT_WR))).start()
    copy_until_end(ours_out.fileno(), 1, lambda: None)
    status = os.waitstatus_to_exitcode(os.waitpid(far, 0)[1])
    sys.exit(status if status >= 0 else 255)


main()
