"""Streams forms with a file from the network to disk, with little of them in memory at any time."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

from django.conf import settings

from gateway.core.contract.errors import NotReady
from gateway.core.http.lean.bodies import BodyReader
from gateway.core.http.multipart import Form, FormReader
from gateway.core.runtime.budget import ByteBudget
from gateway.core.runtime.spooled import SpooledFile

_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="uploads")
"""They parse, hash and write off the event loop, because a disk may stall."""


class Uploads:
    """The disk budget that the uploads of a process share."""

    def __init__(self) -> None:
        self.disk = ByteBudget(lambda: int(settings.UPLOADS_MAX_BYTES))

    async def receive(self, reader: BodyReader, boundary: bytes, limit_bytes: int) -> Form:
        """Return a form once it has arrived; the caller keeps its file. Raises as BodyReader.read, NotReady if there is
        no disk space, or InvalidRequest."""
        share = min(limit_bytes, reader.announced_bytes or limit_bytes)
        try:
            await self.disk.take(share, settings.LARGE_BODY_WAIT_SECONDS)
        except TimeoutError:
            raise _not_ready("too many uploads") from None
        try:
            file = SpooledFile(on_free=lambda: self.disk.release(share))
        except OSError as error:
            self.disk.release(share)
            raise _not_ready(str(error)) from error
        try:
            return await _read(FormReader(boundary, file), reader, limit_bytes)
        except BaseException:
            file.release()
            raise


async def _read(form: FormReader, reader: BodyReader, limit_bytes: int) -> Form:
    loop = asyncio.get_running_loop()
    try:
        async with aclosing(reader.pieces(limit_bytes)) as pieces:
            async for piece in pieces:
                # Waited for: a thread that is still writing must not find the file closed, or its descriptor reused.
                await _finished(loop.run_in_executor(_threads, form.feed, piece))
    except OSError as error:
        raise _not_ready(str(error)) from error
    return form.finish()


async def _finished(work: "asyncio.Future[None]") -> None:
    """Wait for a thread's work to finish, however often the request is cancelled meanwhile: by its client's end and the server's."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    work.result()


def _not_ready(cause: str) -> NotReady:
    headers = {"Retry-After": "5", "Connection": "close"}
    return NotReady("There is no room for this upload now.", headers=headers, private=cause)
