"""How many instructions of libuv.so.1 a server takes for each request, by callgrind: the difference of two runs.

Arguments: the folder of the servers, http or echo.
"""
import glob
import os
import re
import signal
import socket
import subprocess
import sys


FOLDER, KIND = sys.argv[1:]
# Compiled code is no concern of the library, and callgrind slow with it.
COMMAND, REQUEST, END = {
    "http": (["node", "--jitless", "--no-warnings", FOLDER + "/http.js"], b"GET / HTTP/1.1\r\nhost: x\r\n\r\n", b"hello, world\n"),
    "echo": (["/usr/bin/python3", FOLDER + "/echo.py"], b"0123456789abcdef" * 4, b"0123456789abcdef" * 4),
}[KIND]


def ask(port, count):
    with socket.create_connection(("127.0.0.1", port)) as each:
        for _ in range(count):
            each.sendall(REQUEST)
            got = b""
            while not got.endswith(END):
                got += each.recv(4096)


def in_library(path):
    """The instructions that were carried out in the library itself, calls of others not counted in."""
    names, inside, total, skip = {}, False, 0, False
    for line in open(path):
        if match := re.match(r"ob=\((\d+)\)(?: (.*))?", line):
            if match[2]:
                names[match[1]] = match[2].strip()
            inside = names.get(match[1]) == os.environ["OXUV_LIBRARY"]
        elif match := re.match(r"cob=\((\d+)\) (.*)", line):
            names[match[1]] = match[2].strip()
        elif line.startswith("calls="):
            skip = True
        elif line[0] in "0123456789+-*":
            if inside and not skip:
                total += int(line.split()[1])
            skip = False
    return total


def run(count):
    for old in glob.glob("callgrind.out*"):
        os.unlink(old)
    server = subprocess.Popen(["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=callgrind.out", *COMMAND],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    ask(int(server.stdout.readline()), count)
    server.send_signal(signal.SIGTERM)
    server.wait(60)
    return in_library("callgrind.out")


few, many = run(200), run(1200)
print((many - few) / 1000)
