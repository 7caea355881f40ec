# SPDX-License-Identifier: MIT
"""A web server on loopback for tests of fetching: http_server.py DIRECTORY LOG. Prints its port. Each request is a line of
LOG: the path, and where its range begins ("-": none). The path may begin with a fault to plant: /cut/N/FILE sends N
bytes of the announced size, then closes; /norange/FILE supports no ranges."""
import http.server
import os
import re
import sys

directory, log = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        cut, ranges, path = None, True, self.path
        match = re.match(r"/cut/(\d+)(/.*)", path)
        if match:
            cut, path = int(match.group(1)), match.group(2)
        if path.startswith("/norange/"):
            ranges, path = False, path[len("/norange"):]
        match = re.match(r"bytes=(\d+)-$", self.headers.get("Range", ""))
        begin = int(match.group(1)) if match and ranges else 0
        with open(log, "a") as f:
            print(self.path, match.group(1) if match else "-", file=f)
        try:
            with open(os.path.join(directory, os.path.basename(path)), "rb") as f:
                body = f.read()
        except OSError:
            self.send_error(404)
            return
        if begin and begin >= len(body):
            self.send_error(416)
            return
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - begin))
        self.end_headers()
        self.wfile.write(body[begin:] if cut is None else body[begin:begin + cut])
        self.close_connection = True

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
