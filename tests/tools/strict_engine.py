# SPDX-License-Identifier: MIT
"""An engine on loopback that answers as it is told: strict_engine.py LOG ANSWER... [--certificate FILE --key FILE]. Prints its
port. Each request takes the next ANSWER (STATUS, STATUS:RETRY-AFTER, or "lost": it reads the request and closes); the
last one stands for all that follow. A line of LOG: time, answer, sum of the body, its headers that matter."""
import hashlib
import http.server
import ssl
import sys
import time

words = sys.argv[1:]
options = {}
while "--certificate" in words or "--key" in words:
    at = next(i for i, word in enumerate(words) if word in ("--certificate", "--key"))
    options[words[at][2:]] = words[at + 1]
    del words[at:at + 2]
log, answers = words[0], words[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        said = [self.headers.get(name, "-") for name in ("Content-Encoding", "Content-Type",
                                                         "X-Prometheus-Remote-Write-Version", "Authorization")]
        with open(log, "a") as file:
            print(f"{time.time():.3f} {answer} {hashlib.md5(body).hexdigest()} {'|'.join(said)}", file=file)
        if answer == "lost":
            self.close_connection = True
            self.connection.close()
            return
        status, _, after = answer.partition(":")
        text = b"" if status == "204" else b"no \x1b[31msuch\nsample\n"
        self.send_response(int(status))
        if after:
            self.send_header("Retry-After", after)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
if options:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options["certificate"], options["key"])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
