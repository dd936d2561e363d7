"""Bounds the memory and the disk that large bodies take in total, from their first byte to the end of their
responses."""

from django.conf import settings

from gateway.core.contract.errors import NotReady
from gateway.core.contract.limits import MODEL_JSON_VALUES_MAX
from gateway.core.http.lean.bodies import BodyReader
from gateway.core.http.lean.uploads import Uploads
from gateway.core.http.multipart import Form
from gateway.core.json.parts import bound_values
from gateway.core.runtime.budget import ByteBudget
from gateway.core.runtime.offload import SMALL_BODY_BYTES, is_large, offload

UNCOUNTED_BYTES = 64 * 1024
ARRIVING_PART = 1 / 3
"""The share of the memory for large bodies that is reserved for bodies still arriving."""

VALUE_BYTES = 256
"""The maximum memory of a parsed member or element with its name, beside its text."""


class LargeBodies:
    """The two budgets of a process. A request that has read its body waits only for the second one, which prevents
    deadlocks."""

    def __init__(self) -> None:
        self.arriving = ByteBudget(lambda: int(settings.LARGE_BODIES_MAX_BYTES * ARRIVING_PART))
        self.parsed = ByteBudget(lambda: int(settings.LARGE_BODIES_MAX_BYTES * (1 - ARRIVING_PART)))
        self.uploads = Uploads()


class BodyMemory:
    """The share of one request."""

    def __init__(self, bodies: LargeBodies) -> None:
        self._bodies = bodies
        self._taken_bytes = 0
        self._uncounted_bytes = 0
        self._form: Form | None = None

    async def read(self, reader: BodyReader, limit_bytes: int) -> bytes:
        """Return a body once there is memory for processing it. Raises as BodyReader.read, or NotReady."""
        expected = reader.announced_bytes
        if expected is None:
            await reader.begin(UNCOUNTED_BYTES)
            expected = reader.size_bytes if reader.finished else limit_bytes
        if expected <= SMALL_BODY_BYTES:
            return await reader.read(limit_bytes)
        if not UNCOUNTED_BYTES < expected <= limit_bytes:
            return await self._admit(await reader.read(limit_bytes))
        await _take(self._bodies.arriving, expected)
        try:
            return await self._admit(await reader.read(limit_bytes))
        finally:
            self._bodies.arriving.release(expected)

    async def read_form(self, reader: BodyReader, boundary: bytes, limit_bytes: int) -> Form:
        """Return a form whose file stays on disk until the response is sent. Raises as Uploads.receive."""
        self._form = await self._bodies.uploads.receive(reader, boundary, limit_bytes)
        return self._form

    def take(self, size_bytes: int) -> None:
        """Increase the share, or raise NotReady: waiting for more while holding a share could deadlock.

        Small amounts are not counted until they add up.
        """
        self._uncounted_bytes += size_bytes
        if self._uncounted_bytes <= UNCOUNTED_BYTES:
            return
        if not self._bodies.parsed.try_take(self._uncounted_bytes):
            raise _not_ready()
        self._taken_bytes += self._uncounted_bytes
        self._uncounted_bytes = 0

    def release(self) -> None:
        """Return the share: the response has been sent."""
        if self._taken_bytes:
            self._bodies.parsed.release(self._taken_bytes)
            self._taken_bytes = 0
        if self._form is not None:
            self._form.file.release()
            self._form = None

    async def _admit(self, body: bytes) -> bytes:
        if is_large(body):
            size_bytes = await offload(parsed_bytes, body)
            await _take(self._bodies.parsed, size_bytes)
            self._taken_bytes = size_bytes
        return body


def parsed_bytes(body: bytes) -> int:
    """Return the memory that a parsed JSON body and the copies sent upstream may take.

    A text with a single character beyond the basic plane takes four bytes per character, plus its UTF-8 form.
    """
    is_wide = not body.isascii() or b"\\u" in body
    return len(body) * (6 if is_wide else 2) + VALUE_BYTES * min(bound_values(body), MODEL_JSON_VALUES_MAX)


async def _take(budget: ByteBudget, size_bytes: int) -> None:
    try:
        await budget.take(size_bytes, settings.LARGE_BODY_WAIT_SECONDS)
    except TimeoutError:
        raise _not_ready() from None


def _not_ready() -> NotReady:
    headers = {"Retry-After": "5", "Connection": "close"}
    return NotReady("Too many large requests are in progress.", headers=headers)
