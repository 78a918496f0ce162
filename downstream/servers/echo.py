"""An echo server on uvloop. Prints its port, and ends on SIGTERM."""
import asyncio
import signal

import uvloop


class Echo(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(data)


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Echo, "127.0.0.1", 0, backlog=511)
    print(server.sockets[0].getsockname()[1], flush=True)
    end = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, end.set)
    await end.wait()


uvloop.install()
asyncio.run(main())
