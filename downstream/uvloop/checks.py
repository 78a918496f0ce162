"""uvloop under asyncio: servers and clients, subprocesses, signals, files sent, names looked up."""
import asyncio
import functools
import hashlib
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

import uvloop

SHORT = sys.argv[1] == "short"
CHECKS = []


def rounds(few, many):
    return few if SHORT else many


def check(name):
    def add(run):
        CHECKS.append((name, run))
        return run
    return add


async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.write_eof() if writer.can_write_eof() else None
    writer.close()


async def talk(connect, pieces, size):
    """Sends pieces of random data one by one, and compares what comes back."""
    reader, writer = await connect()
    for i in range(pieces):
        data = os.urandom(1 + (i * 7919) % size)
        writer.write(data)
        await writer.drain()
        assert await reader.readexactly(len(data)) == data
    writer.close()
    await writer.wait_closed()


async def serve_and_talk(server, connect, clients, pieces, size=100000):
    async with server:
        await asyncio.gather(*(talk(connect, pieces, size) for _ in range(clients)))


@check("the library is in Python")
async def library():
    maps = pathlib.Path("/proc/self/maps").read_text()
    assert set(re.findall(r"/\S*libuv\.\S*", maps)) == {os.environ["OXUV_LIBRARY"]}, maps
    assert type(asyncio.get_running_loop()) is uvloop.Loop


@check("echo over TCP, streams")
async def tcp():
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await serve_and_talk(server, lambda: asyncio.open_connection("127.0.0.1", port), 30, rounds(10, 100))


@check("echo over TCP, IPv6")
async def tcp6():
    server = await asyncio.start_server(echo, "::1", 0)
    port = server.sockets[0].getsockname()[1]
    await serve_and_talk(server, lambda: asyncio.open_connection("::1", port), 5, 10)


@check("echo over a Unix socket")
async def unix():
    server = await asyncio.start_unix_server(echo, "echo.sock")
    await serve_and_talk(server, lambda: asyncio.open_unix_connection("echo.sock"), 30, rounds(10, 100))


def contexts():
    inside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    inside.load_cert_chain("cert.pem", "key.pem")
    return inside, ssl.create_default_context(cafile="cert.pem")


@check("echo over TLS")
async def tls():
    inside, outside = contexts()
    server = await asyncio.start_server(echo, "127.0.0.1", 0, ssl=inside)
    port = server.sockets[0].getsockname()[1]
    connect = functools.partial(asyncio.open_connection, "127.0.0.1", port, ssl=outside, server_hostname="localhost")
    await serve_and_talk(server, connect, 10, rounds(10, 50))


@check("a connection becomes TLS half-way")
async def start_tls():
    inside, outside = contexts()
    loop = asyncio.get_running_loop()

    class Server(asyncio.Protocol):
        def connection_made(self, transport):
            self.transport = transport

        def data_received(self, data):
            if data == b"STARTTLS":
                self.transport.write(b"go")
                asyncio.ensure_future(self.upgrade())
            else:
                self.transport.write(data.upper())

        async def upgrade(self):
            self.transport = await loop.start_tls(self.transport, self, inside, server_side=True)

    class Client(asyncio.Protocol):
        def __init__(self):
            self.got = asyncio.Queue()

        def data_received(self, data):
            self.got.put_nowait(data)

    server = await loop.create_server(Server, "127.0.0.1", 0)
    transport, client = await loop.create_connection(Client, "127.0.0.1", server.sockets[0].getsockname()[1])
    transport.write(b"STARTTLS")
    assert await client.got.get() == b"go"
    transport = await loop.start_tls(transport, client, outside, server_hostname="localhost")
    transport.write(b"secret")
    assert await client.got.get() == b"SECRET"
    transport.close()
    server.close()


class Echo(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(data)


class Buffered(asyncio.BufferedProtocol):
    """Reads into memory of its own."""
    def connection_made(self, transport):
        self.transport = transport
        self.memory = bytearray(5000)

    def get_buffer(self, hint):
        return self.memory

    def buffer_updated(self, count):
        self.transport.write(bytes(self.memory[:count]))


@check("protocols, and those that read into memory of their own")
async def protocols():
    loop = asyncio.get_running_loop()
    for protocol in (Echo, Buffered):
        server = await loop.create_server(protocol, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            await asyncio.gather(*(talk(lambda: asyncio.open_connection("127.0.0.1", port), 20, 3000) for _ in range(10)))


@check("limits pause a writer, a paused reader gets all")
async def flow():
    loop = asyncio.get_running_loop()
    size = rounds(8, 80) * 1048576
    seen = {"paused": 0, "resumed": 0, "got": 0}
    done = loop.create_future()

    class Writer(asyncio.Protocol):
        def connection_made(self, transport):
            transport.set_write_buffer_limits(high=65536, low=1024)
            transport.write(b"x" * size)
            transport.write_eof()

        def pause_writing(self):
            seen["paused"] += 1

        def resume_writing(self):
            seen["resumed"] += 1

    class Reader(asyncio.Protocol):
        def connection_made(self, transport):
            self.transport = transport
            transport.pause_reading()
            loop.call_later(0.05, transport.resume_reading)

        def data_received(self, data):
            seen["got"] += len(data)
            if seen["got"] % 5 == 0 and not self.transport.is_closing():
                self.transport.pause_reading()
                loop.call_later(0.001, self.transport.resume_reading)

        def eof_received(self):
            done.set_result(None)

    server = await loop.create_server(Writer, "127.0.0.1", 0)
    transport, _ = await loop.create_connection(Reader, "127.0.0.1", server.sockets[0].getsockname()[1])
    await done
    assert seen == {"paused": 1, "resumed": 1, "got": size}, seen
    transport.close()
    server.close()


@check("datagrams")
async def udp():
    loop = asyncio.get_running_loop()

    class Server(asyncio.DatagramProtocol):
        def connection_made(self, transport):
            self.transport = transport

        def datagram_received(self, data, address):
            self.transport.sendto(data, address)

    class Client(asyncio.DatagramProtocol):
        def __init__(self):
            self.got, self.errors = asyncio.Queue(), asyncio.Queue()

        def datagram_received(self, data, address):
            self.got.put_nowait((data, address))

        def error_received(self, error):
            self.errors.put_nowait(error)

    server, _ = await loop.create_datagram_endpoint(Server, local_addr=("127.0.0.1", 0))
    address = server.get_extra_info("sockname")
    for remote in (None, address):
        transport, client = await loop.create_datagram_endpoint(
            Client, local_addr=("127.0.0.1", 0), remote_addr=remote)
        for i in range(rounds(200, 3000)):
            data = os.urandom(1 + i * 37 % 8000)
            transport.sendto(data, None if remote else address)
            assert await client.got.get() == (data, address)
        transport.close()
    server.close()
    await asyncio.sleep(0)
    # Nobody is there any more.
    transport, client = await loop.create_datagram_endpoint(Client, remote_addr=address)
    await asyncio.sleep(0.02)
    transport.sendto(b"x")
    assert isinstance(await client.errors.get(), ConnectionRefusedError)
    transport.close()


@check("subprocesses: output, input, codes, signals")
async def processes():
    child = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    data = os.urandom(rounds(2, 20) * 1048576)
    out, _ = await child.communicate(data)
    assert hashlib.sha256(out).digest() == hashlib.sha256(data).digest() and child.returncode == 0
    child = await asyncio.create_subprocess_shell("echo out; echo err >&2; exit 5", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert await child.communicate() == (b"out\n", b"err\n") and child.returncode == 5
    child = await asyncio.create_subprocess_exec("sleep", "20")
    child.send_signal(signal.SIGUSR1)
    assert await child.wait() == -signal.SIGUSR1
    child = await asyncio.create_subprocess_exec("sh", "-c", "pwd; echo $A", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                                 cwd="/tmp", env={"A": "b"}, start_new_session=True)
    assert (await child.communicate())[0] == b"/tmp\nb\n"
    for program, error in (("/no/such", FileNotFoundError), ("/etc/passwd", PermissionError)):
        try:
            await asyncio.create_subprocess_exec(program)
        except error:
            continue
        raise AssertionError(f"{program} was started")
    codes = await asyncio.gather(*(one(i) for i in range(40)))
    assert codes == list(range(40))


async def one(code):
    child = await asyncio.create_subprocess_exec("sh", "-c", f"exit {code}")
    return await child.wait()


@check("descriptors for a child")
async def pass_fds():
    reading, writing = os.pipe()
    child = await asyncio.create_subprocess_exec("bash", "-c", f"echo passed >&{writing}", pass_fds=[writing])
    os.close(writing)
    assert await child.wait() == 0
    assert os.read(reading, 100) == b"passed\n"
    os.close(reading)


@check("a function before the program of a child")
async def preexec():
    child = await asyncio.create_subprocess_exec("sh", "-c", "umask", stdout=subprocess.PIPE, preexec_fn=lambda: os.umask(0o27))
    assert (await child.communicate())[0] == b"0027\n"


@check("signals")
async def signals():
    loop = asyncio.get_running_loop()
    for number in (signal.SIGUSR1, signal.SIGHUP, signal.SIGTERM):
        got = asyncio.Event()
        loop.add_signal_handler(number, got.set)
        os.kill(os.getpid(), number)
        await got.wait()
        assert loop.remove_signal_handler(number)
    assert not loop.remove_signal_handler(signal.SIGUSR1)


@check("Ctrl+C ends a run")
async def interrupt():
    script = "import asyncio, uvloop; uvloop.install(); print('up', flush=True)\nasync def m():\n await asyncio.sleep(20)\nasyncio.run(m())"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    await child.stdout.readline()
    await asyncio.sleep(0.2)
    child.send_signal(signal.SIGINT)
    _, errors = await child.communicate()
    assert b"KeyboardInterrupt" in errors and child.returncode in (-signal.SIGINT, 1, 130), (errors, child.returncode)


@check("a file through a socket, read by threads")
async def sendfile():
    loop = asyncio.get_running_loop()
    data = os.urandom(rounds(4, 40) * 1048576)
    pathlib.Path("to-send").write_bytes(data)
    got = asyncio.get_running_loop().create_future()

    async def take(reader, writer):
        got.set_result(await reader.read())
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    with open("to-send", "rb") as file:
        # uvloop has no sendfile of its own.
        while piece := await loop.run_in_executor(None, file.read, 1 << 20):
            writer.write(piece)
            await writer.drain()
    writer.close()
    assert await got == data
    server.close()


@check("plain sockets by the loop's sock_ calls")
async def sockets():
    loop = asyncio.get_running_loop()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.setblocking(False)
    client = socket.socket()
    client.setblocking(False)
    (server, _), _ = await asyncio.gather(loop.sock_accept(listener), loop.sock_connect(client, listener.getsockname()))
    data = os.urandom(rounds(2, 20) * 1048576)

    async def receive():
        got = bytearray()
        memory = bytearray(70000)
        while len(got) < len(data):
            count = await loop.sock_recv_into(server, memory)
            got += memory[:count]
        return got

    _, got = await asyncio.gather(loop.sock_sendall(client, data), receive())
    assert got == data
    for each in (listener, client, server):
        each.close()


@check("readers and writers of descriptors")
async def descriptors():
    loop = asyncio.get_running_loop()
    left, right = socket.socketpair()
    left.setblocking(False)
    right.setblocking(False)
    got, seen = loop.create_future(), []

    def readable():
        seen.append(right.recv(100))
        if len(seen) == 3:
            loop.remove_reader(right)
            got.set_result(None)

    def writable():
        left.send(b"x")
        if len(sent) == 2:
            loop.remove_writer(left)
        sent.append(1)

    sent = []
    loop.add_reader(right, readable)
    loop.add_writer(left, writable)
    await asyncio.sleep(0.02)
    while not got.done():
        left.send(b"y")
        await asyncio.sleep(0.01)
    assert len(sent) == 3
    left.close()
    right.close()


@check("pipes as transports")
async def pipes():
    loop = asyncio.get_running_loop()
    reading, writing = os.pipe()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb"))
    transport, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(writing, "wb"))
    data = os.urandom(300000)
    transport.write(data)
    assert await reader.readexactly(len(data)) == data
    transport.close()
    assert await reader.read() == b""


@check("names and addresses")
async def names():
    loop = asyncio.get_running_loop()
    found = await asyncio.gather(*(loop.getaddrinfo("localhost", 80, family=socket.AF_INET, type=socket.SOCK_STREAM) for _ in range(rounds(50, 1000))))
    assert all(each == [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))] for each in found), found[0]
    assert await loop.getnameinfo(("127.0.0.1", 80)) == ("localhost", "http")
    try:
        await loop.getaddrinfo("name.invalid", 80)
    except socket.gaierror:
        pass
    else:
        raise AssertionError("name.invalid was found")


@check("timers, those of a delay in order and none early")
async def timers():
    loop = asyncio.get_running_loop()
    began = loop.time()
    seen, order = [], []
    late = loop.create_future()

    def note(i, delay):
        seen.append((delay, loop.time() - began))
        order.append((delay, i))

    count = rounds(2000, 20000)
    for i in range(count):
        delay = (i * 7919 % 300) / 1000
        loop.call_later(delay, note, i, delay)
    loop.call_later(0.35, late.set_result, None)
    cancelled = loop.call_later(0.01, seen.append, "cancelled")
    cancelled.cancel()
    await late
    assert len(seen) == count, len(seen)
    early = [(delay, at) for delay, at in seen if at < delay - 0.002]
    assert not early, early[:3]
    for delay in (0.01, 0.1):
        assert [i for d, i in order if d == delay] == sorted(i for d, i in order if d == delay)


@check("calls from other threads")
async def threads():
    loop = asyncio.get_running_loop()
    count, total = rounds(2000, 50000), 0
    done = asyncio.Event()

    def add():
        nonlocal total
        total += 1
        if total == 4 * count:
            done.set()

    def run():
        for _ in range(count):
            loop.call_soon_threadsafe(add)

    workers = [threading.Thread(target=run) for _ in range(4)]
    for each in workers:
        each.start()
    await done.wait()
    for each in workers:
        each.join()
    results = await asyncio.gather(*(loop.run_in_executor(None, time.sleep, 0.001) for _ in range(100)))
    assert results == [None] * 100


@check("servers that share a socket, and are closed while busy")
async def servers():
    listener = socket.create_server(("127.0.0.1", 0))
    server = await asyncio.start_server(echo, sock=listener)
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    writer.write(b"hello")
    assert await reader.readexactly(5) == b"hello"
    address = listener.getsockname()
    server.close()
    writer.write(b"still")
    assert await reader.readexactly(5) == b"still"
    writer.close()
    await server.wait_closed()
    try:
        await asyncio.open_connection(*address)
    except ConnectionRefusedError:
        return
    raise AssertionError("it still listens")


@check("connections that are refused, reset, cancelled")
async def failures():
    loop = asyncio.get_running_loop()
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()

    async def reset(reader, writer):
        writer.transport.abort()

    server = await asyncio.start_server(reset, sock=listener)
    lost = loop.create_future()

    class Client(asyncio.Protocol):
        def connection_lost(self, error):
            lost.set_result(error)

    await loop.create_connection(Client, *address)
    assert await lost is None or isinstance(lost.result(), ConnectionResetError)
    for _ in range(50):
        task = asyncio.ensure_future(asyncio.open_connection(*address))
        await asyncio.sleep(0)
        task.cancel()
        try:
            _, writer = await task
            writer.close()
        except asyncio.CancelledError:
            pass
    server.close()


async def limited(run):
    await asyncio.wait_for(run(), 30)


def main():
    for name, run in CHECKS:
        before = len(os.listdir("/proc/self/fd"))
        try:
            # Each with a loop of its own, which is closed after it.
            asyncio.run(limited(run), debug=False)
            after = len(os.listdir("/proc/self/fd"))
            assert after <= before + 1, f"{after - before} descriptors left"
            print(f"ok - {name}", flush=True)
        except Exception as error:  # Whatever it is, it is told.
            print(f"not ok - {name}: {error!r}"[:600], flush=True)


uvloop.install()
# What the first loop of a process opens stays.
asyncio.run(asyncio.sleep(0))
main()
