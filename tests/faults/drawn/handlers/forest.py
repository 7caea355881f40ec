# SPDX-License-Identifier: MIT
"""scikit-learn behind HTTP: a forest that is trained at the start and asked by each request. forest.py PORT; REPLICAS: how many
requests may use the model at once."""
import http.server
import os
import sys
import threading

import common
import numpy
from sklearn.ensemble import RandomForestRegressor

numbers = numpy.random.default_rng(1)
data = numbers.random((600, 20))
model = RandomForestRegressor(10, max_depth=8, random_state=1, n_jobs=1).fit(data, data.sum(axis=1))
replicas = threading.Semaphore(int(os.environ.get("REPLICAS", 8)))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        rows = numpy.frombuffer(body[:len(body) // 160 * 160], numpy.uint8).reshape(-1, 160)[:, :20] / 128
        with replicas:
            common.handle()
            answer = repr(float(model.predict(rows).sum())).encode().ljust(20000)
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 200


Server(("0.0.0.0", int(sys.argv[1])), Handler).serve_forever()
