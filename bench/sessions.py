"""Measures realtime sessions: `python -m bench.sessions`.

With 500 idle and 50 active sockets on one server process: the latency that the gateway adds to a frame at the 99th
percentile, and the memory of the process. Then frames per second through the gateway, and through a bare relay with the
same libraries.
"""

import argparse
import asyncio
import base64
import json
import shutil
import sys
import tempfile
import time
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect

from bench.config import credit, write
from bench.figures import percentile
from bench.gateways import GatewayServer, GatewaySettings
from bench.identity import Customer, Product
from bench.processes import LOOPBACK, Process, listens
from bench.revision import WORKING_TREE
from bench.servers import UPSTREAM_KEY
from gateway.run.ports import free_port

IDLE, TALKING = 500, 50
AUDIO = base64.b64encode(bytes(4800)).decode()
"""A tenth of a second."""
FRAME = json.dumps({"type": "input_audio_buffer.append", "audio": AUDIO})
PAUSE_SECONDS = 0.1
BUSY_SOCKETS, BUSY_WINDOW = 8, 16
MAX_COST_MICROUSD = 1_000_000
PRICE = dict.fromkeys(("input_token", "output_token", "input_audio_token", "output_audio_token"), "1")


class SocketServer(Process):
    """One of `bench.sockets` in a separate process."""

    def __init__(self, name: str, directory: Path, **environment: str) -> None:
        port = free_port()
        self.url = f"ws://{LOOPBACK}:{port}"
        command = [sys.executable, "-m", "uvicorn", f"bench.sockets:{name}", f"--port={port}", "--loop=uvloop"]
        command += ["--ws=gateway.server.sockets:BoundedSocket", "--log-level=warning", "--lifespan=off"]
        environment |= {"DJANGO_SETTINGS_MODULE": "gateway.settings.test"}
        super().__init__(command, log=directory / f"{name}.log", environment=environment, is_ready=listens(port))


class Sockets:
    """Opens sessions at one target."""

    def __init__(self, url: str, customer: Customer | None = None) -> None:
        self._url = url
        self._customer = customer

    async def open(self) -> ClientConnection:
        """Open one, and receive its first event."""
        headers = self._customer.headers("GET", "/v1/realtime", MAX_COST_MICROUSD) if self._customer else {}
        socket = await connect(self._url, additional_headers=headers, compression=None, ping_interval=None)
        await socket.recv()
        return socket


async def frame_milliseconds(sockets: Sockets, idle: int, seconds: float) -> list[float]:
    """Exchange frames on some sockets while others are idle; return the sorted round-trip times."""
    async with AsyncExitStack() as stack:
        for _ in range(idle):
            await stack.enter_async_context(await sockets.open())
        talking = [await stack.enter_async_context(await sockets.open()) for _ in range(TALKING)]
        took = await asyncio.gather(*(_talk(socket, seconds) for socket in talking))
    return sorted(milliseconds for each in took for milliseconds in each)


async def _talk(socket: ClientConnection, seconds: float) -> list[float]:
    took = []
    end = time.perf_counter() + seconds
    while (begun := time.perf_counter()) < end:
        await socket.send(FRAME)
        await socket.recv()
        took.append((time.perf_counter() - begun) * 1000)
        await asyncio.sleep(PAUSE_SECONDS)
    return took


async def frames_per_second(sockets: Sockets, seconds: float) -> float:
    """Send as fast as frames return, with a few in flight on each of a few sockets."""
    async with AsyncExitStack() as stack:
        busy = [await stack.enter_async_context(await sockets.open()) for _ in range(BUSY_SOCKETS)]
        counts = await asyncio.gather(*(_flood(socket, seconds) for socket in busy))
    return sum(counts) / seconds


async def _flood(socket: ClientConnection, seconds: float) -> int:
    for _ in range(BUSY_WINDOW):
        await socket.send(FRAME)
    count, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        await socket.recv()
        await socket.send(FRAME)
        count += 1
    return count


def configuration(product: Product, customer: Customer, upstream_url: str) -> dict[str, object]:
    """Build the gateway's configuration for the run."""
    upstream = {"name": "live", "adapter": "realtime", "base_url": upstream_url, "api_key": UPSTREAM_KEY}
    alias = {"name": "realtime", "deployments": [{"upstream": "live", "model": "live-1"}], "price": PRICE}
    return {
        **product.configuration(),
        "upstreams": [upstream],
        "aliases": [alias],
        "credits": [credit(customer, 2_000 * MAX_COST_MICROUSD)],
    }


async def measure(gateway: GatewayServer, direct: Sockets, bare: Sockets, through: Sockets, seconds: float) -> None:
    """Measure and print."""
    straight = await frame_milliseconds(direct, 0, seconds)
    governed = await frame_milliseconds(through, IDLE, seconds)
    memory = gateway.server_mebibytes()
    added = percentile(governed, 99) - percentile(straight, 99)
    relayed, held = await frames_per_second(bare, seconds), await frames_per_second(through, seconds)
    print(f"{IDLE} idle and {TALKING} talking sockets, one process, {len(governed)} frames")
    print(f"  added to a frame at p99: {added:.1f} ms (target 10); p50 {percentile(governed, 50):.1f} ms")
    print(f"  memory of the process: {memory:.0f} MiB (target 300)")
    print(f"{held:.0f} frames/s, a bare relay {relayed:.0f}: {held / relayed:.2f} of it (target 0.5)")


def main() -> None:
    """Start the servers, measure, and stop them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each part takes")
    seconds = parser.parse_args().seconds
    directory = Path(tempfile.mkdtemp(prefix="session-bench-"))
    product, customer = Product(["infer:*", "realtime:connect"], consents=["realtime"]), Customer("talker")
    with ExitStack() as stack:
        upstream = stack.enter_context(SocketServer("echo", directory))
        relay = stack.enter_context(SocketServer("relay", directory, UPSTREAM=upstream.url))
        config = write(
            directory / "gateway.yaml", configuration(product, customer, upstream.url.replace("ws", "http", 1))
        )
        settings = GatewaySettings(workers=1, database_pool=6)
        gateway = stack.enter_context(GatewayServer(directory, config, settings, WORKING_TREE))
        product.sign_in(customer, gateway.url)
        through = Sockets(f"{gateway.url.replace('http', 'ws', 1)}/v1/realtime?model=realtime", customer)
        asyncio.run(measure(gateway, Sockets(upstream.url), Sockets(relay.url), through, seconds))
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
