"""A gateway that notes the longest pause of its event loop: `python -m tests.server.observed_server`.

It is written to the file that PAUSES names, in milliseconds, whenever there is a longer one; SIGUSR1 begins anew.
"""

import asyncio
import os
import signal
from pathlib import Path

import uvicorn

STEP_SECONDS = 0.002


async def observe(path: Path) -> None:
    """Sleep for short whiles, and note by how much they were late."""
    loop, longest = asyncio.get_running_loop(), 0.0

    def begin_anew() -> None:
        nonlocal longest
        longest = 0.0
        path.write_text("0")

    loop.add_signal_handler(signal.SIGUSR1, begin_anew)
    while True:
        began = loop.time()
        await asyncio.sleep(STEP_SECONDS)
        late = loop.time() - began - STEP_SECONDS
        if late > longest:
            longest = late
            path.write_text(str(round(late * 1000)))  # noqa: ASYNC240


async def serve() -> None:
    """Serve until killed."""
    from gateway.asgi import application

    config = uvicorn.Config(
        application,
        port=int(os.environ["PORT"]),
        http="gateway.server.protocol:Bounded",
        ws="gateway.server.sockets:BoundedSocket",
        log_level="warning",
        access_log=False,
    )
    observer = asyncio.get_running_loop().create_task(observe(Path(os.environ["PAUSES"])))
    await uvicorn.Server(config).serve()
    observer.cancel()


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve())
