import socket, sys, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("0.0.0.0", 7411))
s.listen()
while True:
    sum(range(100000))
    time.sleep(0.01)
