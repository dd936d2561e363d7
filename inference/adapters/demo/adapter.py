"""The adapter `demo`: answers without a network, under the same contract as every other."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from gateway.contract.aliases import Route
from gateway.contract.errors import ApiError, InvalidRequest, ModelUnavailable
from inference.adapters.base import Attempt, Outcome, Rejected, Stream
from inference.adapters.demo import chat, embeddings
from inference.adapters.demo.chat_stream import DemoChatStream

Answerer = Callable[[Attempt], Awaitable[Outcome]]

_ANSWERS: dict[Route, Answerer] = {
    Route.CHAT_COMPLETIONS: chat.answer,
    Route.EMBEDDINGS: embeddings.answer,
}
_STREAMS: dict[Route, Callable[[Attempt], Stream]] = {
    Route.CHAT_COMPLETIONS: DemoChatStream,
}


class DemoAdapter:
    """Serves every route that has a file here."""

    name: ClassVar[str] = "demo"
    routes: ClassVar[frozenset[Route]] = frozenset(_ANSWERS)

    async def send(self, attempt: Attempt) -> Outcome:
        """Answer at once. A body that makes no sense is refused, as a real backend would. Never raises otherwise."""
        attempt.on_send()
        try:
            return await _ANSWERS[attempt.route](attempt)
        except Exception as error:  # noqa: BLE001 - nothing was sent anywhere, so nothing can have been taken
            return _refused(error)

    async def open_stream(self, attempt: Attempt) -> Stream | Outcome:
        """Begin a stream, or refuse as `send` does."""
        if attempt.route not in _STREAMS:
            return Rejected(ModelUnavailable(), alarm=f"{attempt.route} does not stream")
        attempt.on_send()
        try:
            return _STREAMS[attempt.route](attempt)
        except Exception as error:  # noqa: BLE001 - see `send`
            return _refused(error)


def _refused(error: Exception) -> Rejected:
    if isinstance(error, ApiError):
        return Rejected(error)
    return Rejected(InvalidRequest("The demo backend cannot read this request.", private=repr(error)))
