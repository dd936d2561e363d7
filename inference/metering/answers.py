"""The answer to a metered call, and its replay to a repeated request."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any, Protocol

from billing.operations import replays
from billing.operations.ledger import Replay
from gateway.core.contract.errors import IdempotencyKeyReused, NotReady
from gateway.core.contract.headers import CHARGE, HOLD, IDEMPOTENT_REPLAYED, USAGE_ID
from gateway.core.contract.values import value_class
from gateway.core.json.strict import dumps
from gateway.core.runtime.logs import RecurringLog
from gateway.core.runtime.offload import LARGE_BODY_BYTES, offload
from inference.interface.answer import EVENT_STREAM_TYPE, Content

log = logging.getLogger("inference.replays")
log_of_calls = logging.getLogger("inference.calls")
_unreadable = RecurringLog("inference.replays", logging.ERROR)

REPLAY_MAX_BYTES = 16 * 1024 * 1024
"""A longer answer is not stored. A repeated request then gets an error, and the call is not made again."""


UNREADABLE_RETRY_SECONDS = 5
"""When to repeat a request whose stored answer this process cannot read: during an upgrade, another process may."""


@value_class(frozen=True, slots=True)
class WholeAnswer:
    """An answer in one piece."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def with_headers(self, headers: Mapping[str, str]) -> "WholeAnswer":
        """Return it with headers that are not stored for a repeated request."""
        return WholeAnswer(self.status, {**self.headers, **headers}, self.body)


class Events(Protocol):
    """The chunks of a stream. `aclose` may be called at any time, even before the first chunk, and does not block."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


@value_class(frozen=True, slots=True)
class StreamedAnswer:
    """An answer that is streamed."""

    headers: Mapping[str, str]
    events: Events

    def with_headers(self, headers: Mapping[str, str]) -> "StreamedAnswer":
        """Return it with headers that are not stored for a repeated request."""
        return StreamedAnswer({**self.headers, **headers}, self.events)


def receipt_headers(usage_id: str, hold_microusd: int, charge_microusd: int | None) -> dict[str, str]:
    """Return the headers that state the call, its hold and, if known, its charge."""
    headers = {USAGE_ID: usage_id, HOLD: str(hold_microusd)}
    if charge_microusd is not None:
        headers[CHARGE] = str(charge_microusd)
    return headers


def receipt_comment(usage_id: str, charge_microusd: int | None) -> bytes:
    """Render a stream's receipt: an SSE comment as its last line, which clients ignore (WHATWG HTML 9.2.6)."""
    return b": service " + dumps({"usage_id": usage_id, "charge_microusd": charge_microusd}) + b"\n\n"


def whole_answer(content: Content, usage_id: str, hold_microusd: int, charge_microusd: int | None) -> WholeAnswer:
    """Render an answer with its receipt: in the headers, or at the end of an event stream."""
    if content.media_type != EVENT_STREAM_TYPE:
        headers = receipt_headers(usage_id, hold_microusd, charge_microusd)
        return WholeAnswer(200, {"Content-Type": content.media_type, **headers}, content.body)
    headers = receipt_headers(usage_id, hold_microusd, None)
    receipt = receipt_comment(usage_id, charge_microusd)
    return WholeAnswer(200, {"Content-Type": EVENT_STREAM_TYPE, **headers}, content.body + receipt)


def stored_or_nothing(usage_id: str, stored: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return what the closing stores of an answer, or nothing if that fails, because the charge must not depend on it."""
    try:
        return stored()
    except Exception:
        log_of_calls.exception("%s: its answer could not be stored", usage_id)
        return {}


def replay_of(answer: WholeAnswer) -> Replay | None:
    """Build the replay for a repeated request, or return None if the answer is too long to store."""
    if len(answer.body) > REPLAY_MAX_BYTES:
        return None
    return Replay(answer.status, list(answer.headers.items()), answer.body)


async def to_store(replay: Replay | None, usage_id: str) -> Replay | None:
    """Encrypt this call's replay, a large one outside the event loop. Return None if that fails, because the charge must not
    depend on it."""
    try:
        return None if replay is None else await _offloaded(partial(replays.encrypted, usage_id=usage_id), replay)
    except Exception:
        log.exception("an answer could not be encrypted, and is not stored for a repeated request")
        return None


async def _offloaded(convert: Callable[[Replay], Replay], replay: Replay) -> Replay:
    is_large = len(replay.body) > LARGE_BODY_BYTES or replays.is_compressed(replay)
    return await offload(convert, replay) if is_large else convert(replay)


class Recording:
    """The bytes of one stream, discarded once they are too many to store or must not be replayed."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers
        self._pieces: list[bytes] | None = []
        self._size_bytes = 0

    def add(self, piece: bytes) -> None:
        """Append a piece."""
        if self._pieces is None:
            return
        self._pieces.append(piece)
        self._size_bytes += len(piece)
        if self._size_bytes > REPLAY_MAX_BYTES:
            self.drop()

    def drop(self) -> None:
        """Discard the recording."""
        self._pieces = None

    def ended_by(self, ending: bytes) -> Replay | None:
        """Return the replay of the whole stream with its last bytes, or None if the recording was discarded."""
        if self._pieces is None:
            return None
        return replay_of(WholeAnswer(200, self._headers, b"".join([*self._pieces, ending])))


async def answer_again(stored: Replay) -> WholeAnswer:
    """Render a stored answer: the same bytes in one piece, without a charge. A large one is decrypted outside the event loop.

    Raises NotReady if this process cannot read it. Another one may, so the client must not take a new key and pay again.
    """
    try:
        replay = await _offloaded(replays.decrypted, stored)
    except replays.Unreadable as error:
        private = f"a stored answer cannot be read: no key of FIELD_ENCRYPTION_KEYS decrypts it in its form ({error})"
        _unreadable.write("unreadable", private)
        raise _answer_is_unreadable(private, stored.usage_id) from None
    headers = {name: value for name, value in replay.headers}  # noqa: C416 - lists, as JSON kept them, not tuples
    return WholeAnswer(replay.status, {**headers, IDEMPOTENT_REPLAYED: "true"}, replay.body)


def _answer_is_unreadable(private: str, usage_id: str | None) -> NotReady:
    return NotReady(
        "The response to the first request with this Idempotency-Key cannot be read at present. Repeat the request with "
        "the same key: the call has been charged, and is not made again.",
        details={"usageId": usage_id},
        headers={"Retry-After": str(UNREADABLE_RETRY_SECONDS)},
        private=private,
    )


def answer_is_gone(**details: str | None) -> IdempotencyKeyReused:
    """Build the error for a repeated request whose first answer cannot be replayed; another call would cost again."""
    return IdempotencyKeyReused(
        "The call with this Idempotency-Key has ended, and its response was not stored. Use a new key to call again.",
        details=details,
    )
