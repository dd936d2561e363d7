"""Measures the server memory that uploads take: `python -m bench.uploads`.

A gateway with production settings and one worker receives one WAV file of nearly 25 MiB, then twenty of them at once.
Its resident memory is sampled all the while; the output is its growth over the initial value.
"""

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import requests

from bench.config import gateway_configuration, write
from bench.gateways import GatewayServer, GatewaySettings
from bench.identity import Customer, Product
from bench.processes import Process
from bench.revision import WORKING_TREE
from bench.servers import UPSTREAM_KEY, UpstreamServer
from tests.factories.audio import RATE, wav

PATH = "/v1/audio/transcriptions"
FILE_BYTES = 25 * 1024 * 1024 - 4096
AT_ONCE = 20
LOOK_SECONDS = 0.01
LIMITS = {1: 30.0, AT_ONCE: 150.0}
"""Limits in mebibytes, by the number of uploads."""


def main() -> int:
    """Measure, print a table, and return 1 if a limit is exceeded."""
    customer, product = Customer("uploader"), Product()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with UpstreamServer(directory) as upstream:
            configuration = gateway_configuration(
                product=product, upstream_url=f"{upstream.origin}/v1", upstream_key=UPSTREAM_KEY, customers=[customer]
            )
            audio = {
                "name": "audio",
                "deployments": [{"upstream": "bench", "model": "small-1"}],
                "price": {"audio_second": "100"},
            }
            configuration["aliases"].append(audio)
            config = write(directory / "gateway.yaml", configuration)
            with GatewayServer(directory, config, GatewaySettings(1, 8), WORKING_TREE) as gateway:
                return _measure(gateway, customer, product)


def _measure(gateway: GatewayServer, customer: Customer, product: Product) -> int:
    data = wav(FILE_BYTES / (2 * RATE))
    product.sign_in(customer, gateway.url)
    _send(gateway, customer, wav(1))
    grown = {}
    for count, limit in LIMITS.items():
        with _growth(gateway) as most, ThreadPoolExecutor(count) as threads:
            began = time.monotonic()
            for answer in [threads.submit(_send, gateway, customer, data) for _ in range(count)]:
                answer.result()
            took = time.monotonic() - began
        grown[count] = most[0]
        print(f"{count:>2} uploads of {len(data):,} bytes: +{most[0]:.1f} MiB (at most {limit:.0f}), {took:.1f} s")
    return int(any(grown[count] > limit for count, limit in LIMITS.items()))


def _send(gateway: GatewayServer, customer: Customer, data: bytes) -> None:
    headers = customer.headers("POST", PATH, 1_000_000)
    answer = requests.post(
        gateway.url + PATH, data={"model": "audio"}, files={"file": ("a.wav", data)}, headers=headers, timeout=120
    )
    answer.raise_for_status()


@contextmanager
def _growth(server: Process) -> Iterator[list[float]]:
    """Yield a list whose only element is the server's peak growth in mebibytes; it is final after the block."""
    before, most, stop = server.server_mebibytes(), [0.0], threading.Event()

    def look() -> None:
        while not stop.wait(LOOK_SECONDS):
            most[0] = max(most[0], server.server_mebibytes() - before)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield most
    finally:
        stop.set()
        watcher.join()


if __name__ == "__main__":
    sys.exit(main())
