# SPDX-License-Identifier: MIT
"""For uwsgi."""
import common

BODY = b"done " + bytes(range(48, 123)) * 400


def application(environ, start):
    common.handle()
    start("200 OK", [("Content-Length", str(len(BODY)))])
    return [BODY]
