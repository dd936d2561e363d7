"""Run the fake upstream as a process: `python -m tests.support.upstream --port 9000`."""

import argparse
import asyncio
import contextlib
import signal
import sys

import uvloop

from tests.support.server_thread import listening
from tests.support.upstream.app import Upstream


async def serve(port: int, *, keep_bodies: bool, api_key: str | None) -> None:
    """Print the port, and serve until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with listening(Upstream(keep_bodies=keep_bodies, api_key=api_key).application(), port) as taken:
        sys.stdout.write(f"ready: http://127.0.0.1:{taken}/v1\n")
        sys.stdout.flush()
        await stop.wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--api-key", help="refuse any other key")
    parser.add_argument("--forget-bodies", action="store_true", help="keep memory flat under load")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        uvloop.run(serve(options.port, keep_bodies=not options.forget_bodies, api_key=options.api_key))


if __name__ == "__main__":
    main()
