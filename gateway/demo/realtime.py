"""A short realtime session: sends one second of audio over a WebSocket, and receives a spoken answer."""

import base64
import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from gateway.demo.client import ClientError, Gateway, GatewayError, Receipt, call_headers
from gateway.demo.paid import Write, show_receipt

REALTIME = "/v1/realtime"
MAX_COST_MICROUSD = 50_000
AUDIO = b"\x00\x08" * 24_000
"""One second of PCM: 24 kHz, 16 bits, one channel."""
EVENTS: tuple[dict[str, Any], ...] = (
    {"type": "input_audio_buffer.append", "audio": base64.b64encode(AUDIO).decode()},
    {"type": "input_audio_buffer.commit"},
    {"type": "response.create"},
)
EVENT_SECONDS = 30.0
CHARGED_SECONDS = 10.0


def show_realtime(gateway: Gateway, write: Write, step: int) -> None:
    """Run a session, and print its transcript and cost. Raises GatewayError if the gateway refuses."""
    write(f"\n{step}. Talk: a live session sends a second of sound, and is charged once, when it is over.\n   ")
    before = gateway.wallet()
    with _opened(gateway) as socket:
        for event in EVENTS:
            socket.send(json.dumps(event))
        ended = _listen(socket, write)
    record = _charged(gateway, ended["usage_id"])
    receipt = Receipt(ended["usage_id"], ended["hold_microusd"], record["chargedMicrousd"], replayed=False)
    write("\n\n")
    show_receipt(gateway, write, before, receipt, _parts(record))


def _opened(gateway: Gateway) -> ClientConnection:
    """Open the WebSocket. The proof names the URL in its http form."""
    url = gateway.base_url + REALTIME
    signed = gateway.signer.headers("GET", url, gateway.signer.tokens.token())
    terms = call_headers(max_cost_microusd=MAX_COST_MICROUSD, idempotency_key=str(uuid.uuid4()))
    try:
        return connect(f"ws{url.removeprefix('http')}?model=realtime", additional_headers={**signed, **terms})
    except InvalidStatus as error:
        raise GatewayError.of(error.response.status_code, json.loads(error.response.body or b"null")) from error


def _listen(socket: ClientConnection, write: Write) -> dict[str, Any]:
    """Print the words of the answer as they arrive, and return the gateway's final report of the session's cost."""
    for event in _events(socket):
        if event["type"] == "response.output_audio_transcript.delta":
            write(event["delta"])
        elif event["type"] == "error":
            raise GatewayError.of(200, event)
        elif event["type"] == "service.usage":
            return event
    raise AssertionError("events end with an exception")


def _events(socket: ClientConnection) -> Iterator[dict[str, Any]]:
    try:
        while True:
            yield json.loads(socket.recv(timeout=EVENT_SECONDS))
    except (ConnectionClosed, TimeoutError) as error:
        raise ClientError("The live session broke off.") from error


def _charged(gateway: Gateway, usage_id: str) -> dict[str, Any]:
    """Return a session's usage record once it is charged, soon after its end."""
    last_look = time.monotonic() + CHARGED_SECONDS
    while True:
        [record] = [record for record in gateway.usage() if record["usageId"] == usage_id]
        if record["status"] == "settled":
            return record
        if time.monotonic() > last_look:
            raise ClientError(f"{usage_id} is not charged yet.")
        time.sleep(0.05)


def _parts(record: dict[str, Any]) -> str:
    """Describe what was charged for: audio and text have different prices."""
    audio_in, audio_out = record["inputAudioTokens"], record["outputAudioTokens"]
    text_out = record["outputTokens"] - audio_out
    return f"for {audio_in} tokens of sound in; {audio_out} of sound and {text_out} of text out"
