"""The adapter `demo`: answers without a network, under the same contract as the other adapters."""

from abc import abstractmethod
from collections.abc import AsyncIterator

from django.conf import settings

from gateway.core.contract.errors import ApiError, InvalidRequest, ModelUnavailable
from inference.interface.answer import Answer, Chunk
from inference.interface.upstream import Attempt, Endpoint, Outcome, Rejected, Sent, Stream

TOKEN_SECONDS = 0.02
"""The pause before each token of a stream, unless an upstream row's option `token_seconds` says otherwise."""


class DemoStream(Stream):
    """A stream that the gateway generates itself."""

    def __init__(self, chunks: AsyncIterator[Chunk]) -> None:
        self._chunks = chunks
        self._is_closed = False

    async def __aiter__(self) -> AsyncIterator[Chunk]:
        async for chunk in self._chunks:
            if self._is_closed:
                return
            yield chunk
        self.ended(whole=True)

    async def close(self) -> None:
        self.on_end = None
        self._is_closed = True


class DemoEndpoint(Endpoint[Sent]):
    """One route of the demo backend."""

    @property
    def is_allowed(self) -> bool:
        """Return whether the settings allow the demo. Production settings do not."""
        return bool(settings.DEMO_ADAPTER)

    @abstractmethod
    async def answer(self, attempt: Attempt[Sent]) -> Answer:
        """Answer a request. May raise any exception for an invalid body."""

    def chunks(self, attempt: Attempt[Sent]) -> AsyncIterator[Chunk]:
        """Begin a streamed answer. May raise any exception for an invalid body."""
        raise ModelUnavailable(private="the demo does not stream on this route")

    async def send(self, attempt: Attempt[Sent]) -> Outcome:
        """Answer at once, or refuse as a real backend would."""
        attempt.call.on_send()
        try:
            return await self.answer(attempt)
        except Exception as error:  # noqa: BLE001 - nothing was sent, so nothing was accepted
            return _refused(error)

    async def open_stream(self, attempt: Attempt[Sent]) -> Stream | Outcome:
        attempt.call.on_send()
        try:
            return DemoStream(self.chunks(attempt))
        except Exception as error:  # noqa: BLE001 - see `send`
            return _refused(error)


def _refused(error: Exception) -> Rejected:
    if isinstance(error, ApiError):
        return Rejected(error)
    return Rejected(InvalidRequest("The demo backend cannot read this request.", private=repr(error)))
