"""A client of the realtime route, with the standard WebSocket library."""

import base64
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Response
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.stage import Caller, Stage

PATH = "/v1/realtime"
PRICE = {
    "input_token": "4",
    "cached_input_token": "0.4",
    "output_token": "16",
    "input_audio_token": "32",
    "output_audio_token": "64",
}
SCOPES = ("infer:*", "realtime:connect")
SPEECH = b"\x01" * 4800
SILENCE = b"\x00" * 4800


class Session:
    """An open session."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.seen: list[dict[str, Any]] = []

    @property
    def headers(self) -> Headers:
        """Return the headers of the handshake's response."""
        assert self.socket.response is not None
        return self.socket.response.headers

    def send(self, kind: str, **members: Any) -> None:
        """Send an event."""
        self.socket.send(json.dumps({"type": kind, **members}))

    def receive(self) -> dict[str, Any]:
        """Return the next event."""
        event = json.loads(self.socket.recv(timeout=PATIENCE_SECONDS))
        self.seen.append(event)
        return event

    def until(self, kind: str) -> dict[str, Any]:
        """Return the next event of a type."""
        while (event := self.receive())["type"] != kind:
            assert event["type"] != "error" or kind == "error", event
        return event

    def say(self, text: str, **response: Any) -> dict[str, Any]:
        """Send a message, ask for a response, and return its last event."""
        content = [{"type": "input_text", "text": text}]
        self.send("conversation.item.create", item={"type": "message", "role": "user", "content": content})
        self.send("response.create", response=response)
        return self.until("response.done")

    def listen(self, **audio: Any) -> None:
        """Set the upstream's turn detection, and wait until it is set."""
        self.send("session.update", session={"type": "realtime", "audio": {"input": audio}})
        self.until("session.updated")

    def speak(self, audio: bytes = SPEECH) -> None:
        """Send sound."""
        self.send("input_audio_buffer.append", audio=base64.b64encode(audio).decode())

    def until_the_end(self) -> NoReturn:
        """Receive until the connection closes. Raises ConnectionClosed."""
        while True:
            self.receive()

    def ending(self) -> tuple[int, list[dict[str, Any]]]:
        """Wait for the end; return the close code, 1006 without one, and the events before it."""
        first = len(self.seen)
        try:
            self.until_the_end()
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else 1006, self.seen[first:]


def headers_of(caller: Caller, *, key: str | None = "", max_cost: object = 1_000_000) -> dict[str, str]:
    """Build the headers of a handshake."""
    headers = caller.headers(PATH, method="GET")
    if key is not None:
        headers["Idempotency-Key"] = key or uuid.uuid4().hex
    if max_cost is not None:
        headers["x-service-max-cost-microusd"] = str(max_cost)
    return headers


def subprotocols_of(caller: Caller, *, key: str = "", max_cost: int = 1_000_000) -> list[str]:
    """Build the subprotocols that a browser offers instead."""
    headers = headers_of(caller, key=key, max_cost=max_cost)
    return [
        "service.realtime.v1",
        f"service.token.{caller.token}",
        f"service.proof.{headers['DPoP']}",
        f"service.key.{headers['Idempotency-Key']}",
        f"service.max.{max_cost}",
    ]


@contextmanager
def opened(
    caller: Caller,
    model: str,
    *,
    headers: dict[str, str] | None = None,
    subprotocols: list[str] | None = None,
    begin: bool = True,
    **terms: Any,
) -> Iterator[Session]:
    """Open a session; with `begin`, its first event has been received."""
    if headers is None:
        headers = {} if subprotocols else headers_of(caller, **terms)
    url = f"{caller.origin.replace('http', 'ws', 1)}{PATH}?model={model}"
    with connect(
        url,
        additional_headers=headers,
        subprotocols=None if subprotocols is None else [Subprotocol(name) for name in subprotocols],
        compression=None,
        max_size=None,
        open_timeout=PATIENCE_SECONDS,
        ping_interval=None,
    ) as socket:
        session = Session(socket)
        if begin:
            assert session.receive()["type"] == "session.created"
        yield session


def refused(caller: Caller, model: str, **options: Any) -> Response:
    """Try to open a session, and return the HTTP response to the refused handshake."""
    try:
        with opened(caller, model, **options):
            raise AssertionError("the handshake was accepted")
    except InvalidStatus as error:
        return error.response


def code_of(response: Response) -> tuple[int, str]:
    """Return a refusal's status and code."""
    return response.status_code, json.loads(response.body or b"")["error"]["code"]


def talker(stage: Stage, **fields: Any) -> Caller:
    """Create a caller who may open sessions and has consented."""
    return stage.caller(**{"scopes": SCOPES, "consents": ["realtime"], **fields})


def live_model(stage: Stage, **fields: Any) -> str:
    """Create an alias served by the fake upstream's sessions."""
    upstream = fields.pop("upstream", None) or stage.upstream_row(adapter="realtime")
    options = {"options": {"routes": ["realtime"]}, "price": PRICE, "upstream": upstream}
    return stage.model("live-1", **{**options, **fields})


def settled(caller: Caller) -> Any:
    """Wait until the caller's only call is charged, and return it."""
    eventually(lambda: caller.only_call.state == "settled")
    return caller.only_call


def upstream_session(stage: Stage) -> Any:
    """Wait until the upstream has read its only session to the end, which may be after the client's end; return its record."""
    [session] = stage.upstream.realtime.sessions
    eventually(lambda: session.outcome != "open")
    return session
