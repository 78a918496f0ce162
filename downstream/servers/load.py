"""Keeps a server busy: load.py PORT SECONDS CONNECTIONS http|echo. Prints how many requests were answered, and how many not."""
import select
import socket
import sys
import time

port, seconds, count, kind = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
REQUEST = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n" if kind == "http" else b"0123456789abcdef" * 4
END = b"hello, world\n" if kind == "http" else REQUEST


def connect():
    each = socket.create_connection(("127.0.0.1", port), 5)
    each.setblocking(False)
    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return each


answered = failed = 0
poll = select.epoll()
all_of_them = {}
for _ in range(count):
    each = connect()
    all_of_them[each.fileno()] = [each, b""]
    poll.register(each, select.EPOLLIN)
    each.send(REQUEST)
end = time.monotonic() + seconds
while time.monotonic() < end:
    ready = poll.poll(1)
    if not ready:
        failed += 1
    for number, _ in ready:
        entry = all_of_them[number]
        try:
            data = entry[0].recv(65536)
        except OSError:
            data = b""
        if not data:
            failed += 1
            del all_of_them[number]
            entry[0].close()
            again = connect()
            all_of_them[again.fileno()] = [again, b""]
            poll.register(again, select.EPOLLIN)
            again.send(REQUEST)
            continue
        entry[1] += data
        if entry[1].endswith(END):
            answered += 1
            entry[1] = b""
            entry[0].send(REQUEST)
print(answered, failed)
sys.exit(failed > 0)
