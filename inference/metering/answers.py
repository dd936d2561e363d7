"""A metered call's answer, and the part of it that is stored for a repeated request."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Protocol

from cryptography.fernet import InvalidToken

from billing.operations import replays
from billing.operations.ledger import Replay
from gateway.core.api.json import dumps
from gateway.core.api.logs import RecurringLog
from gateway.core.api.offload import LARGE_BODY_BYTES, offload
from gateway.core.contract.errors import IdempotencyKeyReused
from gateway.core.contract.headers import CHARGE, HOLD, IDEMPOTENT_REPLAYED, USAGE_ID
from gateway.core.contract.values import value_class

log = logging.getLogger("inference.replays")
_unreadable = RecurringLog("inference.replays", logging.ERROR)

REPLAY_MAX_BYTES = 16 * 1024 * 1024
"""A longer answer is not stored: a repeated request then learns that the call was charged, and nothing runs twice."""


@value_class(frozen=True, slots=True)
class WholeAnswer:
    """An answer in one piece."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Events(Protocol):
    """The chunks of a stream. `aclose` may be called at any time, also before the first, and waits for nothing."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


@value_class(frozen=True, slots=True)
class StreamedAnswer:
    """An answer that comes in pieces."""

    headers: Mapping[str, str]
    events: Events


def receipt_headers(usage_id: str, hold_microusd: int, charge_microusd: int | None) -> dict[str, str]:
    """Name the call, its hold and, where it is known, its charge."""
    headers = {USAGE_ID: usage_id, HOLD: str(hold_microusd)}
    if charge_microusd is not None:
        headers[CHARGE] = str(charge_microusd)
    return headers


def receipt_comment(usage_id: str, charge_microusd: int | None) -> bytes:
    """Render a stream's receipt: an SSE comment, its very last line, which clients skip (WHATWG HTML 9.2.6)."""
    return b": service " + dumps({"usage_id": usage_id, "charge_microusd": charge_microusd}) + b"\n\n"


def replay_of(answer: WholeAnswer) -> Replay | None:
    """Build what a repeated request gets, or None where the answer is too long to keep."""
    if len(answer.body) > REPLAY_MAX_BYTES:
        return None
    return Replay(answer.status, list(answer.headers.items()), answer.body)


async def to_store(replay: Replay | None, usage_id: str) -> Replay | None:
    """Encrypt what a repeated request of this call gets, a large one beside the event loop; None where that fails, as the
    charge does not wait for it."""
    try:
        return None if replay is None else await _offloaded(partial(replays.encrypted, usage_id=usage_id), replay)
    except Exception:
        log.exception("an answer could not be encrypted, and is not stored for a repeated request")
        return None


async def _offloaded(convert: Callable[[Replay], Replay], replay: Replay) -> Replay:
    is_large = len(replay.body) > LARGE_BODY_BYTES or replays.is_compressed(replay)
    return await offload(convert, replay) if is_large else convert(replay)


class Recording:
    """The bytes of one stream, dropped as soon as they are too many to be kept, or not to be given again."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers
        self._pieces: list[bytes] | None = []
        self._size_bytes = 0

    def add(self, piece: bytes) -> None:
        """Keep one more piece."""
        if self._pieces is None:
            return
        self._pieces.append(piece)
        self._size_bytes += len(piece)
        if self._size_bytes > REPLAY_MAX_BYTES:
            self.drop()

    def drop(self) -> None:
        """Keep nothing."""
        self._pieces = None

    def ended_by(self, ending: bytes) -> Replay | None:
        """Return the whole stream with its last bytes, or None where it is not kept."""
        if self._pieces is None:
            return None
        return replay_of(WholeAnswer(200, self._headers, b"".join([*self._pieces, ending])))


async def answer_again(stored: Replay) -> WholeAnswer:
    """Render a stored answer: the same bytes, in one piece, with nothing charged. A large one is decrypted beside the event
    loop. Raises IdempotencyKeyReused where its key is lost."""
    try:
        replay = await _offloaded(replays.decrypted, stored)
    except InvalidToken:
        _unreadable.write("no key", "a stored answer cannot be read: no key of FIELD_ENCRYPTION_KEYS decrypts it")
        raise answer_is_gone() from None
    headers = {name: value for name, value in replay.headers}  # noqa: C416 - lists, as JSON kept them, not tuples
    return WholeAnswer(replay.status, {**headers, IDEMPOTENT_REPLAYED: "true"}, replay.body)


def answer_is_gone(**details: str | None) -> IdempotencyKeyReused:
    """Build the error of a repeated request whose first answer is not there to be given again; a second call would cost again."""
    return IdempotencyKeyReused(
        "The call with this Idempotency-Key has ended, and its response was not stored. Use a new key to call again.",
        details=details,
    )
