"""The adapter `openai`: sends a vendor-shaped body on, and reads what came back into an outcome."""

from collections.abc import Mapping
from typing import Any, ClassVar

import aiohttp
import orjson

from gateway.api.json_pieces import dumps_in_pieces
from gateway.api.offload import offload
from gateway.contract.aliases import Route
from gateway.contract.errors import ModelUnavailable
from gateway.outbound.failures import MisconfiguredError
from gateway.outbound.timeouts import answer_timeout, idle_seconds, stream_timeout
from inference.adapters import errors
from inference.adapters.base import Answer, Attempt, Outcome, Rejected, Stream
from inference.adapters.exchange import NotJSONError, is_event_stream, post, read_object, read_refusal
from inference.adapters.failures import outcome_of_exception
from inference.adapters.openai.chat import ChatCompletions
from inference.adapters.openai.embeddings import Embeddings
from inference.adapters.openai.endpoint import Endpoint
from inference.adapters.streams import EventStream
from inference.rules.plan import stream_seconds

_ENDPOINTS: dict[Route, Endpoint] = {
    Route.CHAT_COMPLETIONS: ChatCompletions(),
    Route.EMBEDDINGS: Embeddings(),
}


class OpenAIAdapter:
    """Speaks the public vendor API at an upstream's base URL."""

    name: ClassVar[str] = "openai"
    routes: ClassVar[frozenset[Route]] = frozenset(_ENDPOINTS)

    async def send(self, attempt: Attempt) -> Outcome:
        """Send a call and read its whole answer. Never raises but for cancellation."""
        try:
            return await _send(attempt, _ENDPOINTS[attempt.route])
        except Exception as error:  # noqa: BLE001 - what is unknown is ambiguous, never a crash
            return outcome_of_exception(attempt, error)

    async def open_stream(self, attempt: Attempt) -> Stream | Outcome:
        """Send a call and return at its first event, or with what came instead. Never raises but for cancellation."""
        endpoint = _ENDPOINTS[attempt.route]
        if endpoint.stream is None:
            return Rejected(ModelUnavailable(), alarm=f"{attempt.route} does not stream")
        try:
            return await _open_stream(attempt, endpoint, endpoint.stream)
        except Exception as error:  # noqa: BLE001 - what is unknown is ambiguous, never a crash
            return outcome_of_exception(attempt, error)


async def _send(attempt: Attempt, endpoint: Endpoint) -> Outcome:
    body = await _encoded(attempt, endpoint.request(attempt, streams=False))
    phases = answer_timeout(attempt.target.timeout_seconds)
    response = await post(attempt, endpoint.path, body, accept="application/json", phases=phases)
    try:
        return await _read(attempt, endpoint, response)
    finally:
        response.close()


async def _open_stream(attempt: Attempt, endpoint: Endpoint, stream_class: type[EventStream]) -> Stream | Outcome:
    body = await _encoded(attempt, endpoint.request(attempt, streams=True))
    patience = attempt.target.timeout_seconds
    phases = stream_timeout(patience, stream_seconds(patience))
    response = await post(attempt, endpoint.path, body, accept="text/event-stream", phases=phases)
    try:
        if not (response.status == 200 and is_event_stream(response)):
            return await _read(attempt, endpoint, response)
        _shorten_silence(response, idle_seconds(patience))
        stream = stream_class(attempt, response)
        await stream.begin()
    except BaseException:
        response.close()
        raise
    return stream


async def _encoded(attempt: Attempt, body: Mapping[str, Any]) -> bytes:
    try:
        return await offload(dumps_in_pieces, body) if attempt.is_large else orjson.dumps(body)
    except TypeError as error:  # nothing was sent, so nothing may be in doubt
        raise MisconfiguredError("the request cannot be written as JSON") from error


async def _read(attempt: Attempt, endpoint: Endpoint, response: aiohttp.ClientResponse) -> Outcome:
    if response.status < 200:
        raise NotJSONError(f"status {response.status}")
    if response.status >= 300:
        return errors.outcome_of(attempt, await read_refusal(response))
    body = await read_object(response)
    usage = body.get("usage")
    if not (usage is None or isinstance(usage, dict)):
        raise NotJSONError("usage is no object")
    if body.get("error"):
        raise NotJSONError("an error under a status of success")
    return Answer(endpoint.answer(attempt, body), usage)


def _shorten_silence(response: aiohttp.ClientResponse, seconds: float) -> None:
    """Hold a stream to its idle timeout from its first byte on; until then it may think as long as any call."""
    connection = response.connection
    if connection is not None and connection.protocol is not None:
        connection.protocol.read_timeout = seconds
