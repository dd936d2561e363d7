"""Makes one metered, streamed chat call."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from gateway.demo.client import Gateway, GatewayError, Receipt, call_headers

CHAT = "/v1/chat/completions"


def stream_chat(
    gateway: Gateway, body: dict[str, Any], *, max_cost_microusd: int, key: str, say: Callable[[str], object]
) -> Receipt:
    """Send the call, print the words as they arrive, and return its receipt; or raise GatewayError."""
    headers = call_headers(max_cost_microusd=max_cost_microusd, idempotency_key=key)
    with gateway.request("POST", CHAT, json={**body, "stream": True}, headers=headers, stream=True) as response:
        if response.status_code != 200:
            raise GatewayError.of(response.status_code, response.json())
        receipt = Receipt.from_headers(response.headers)
        assert receipt is not None, "every metered answer names its usage record"
        for line in response.iter_lines():
            for word in _words(line):
                say(word)
            receipt = receipt.closed_by(line)
    return receipt


def _words(line: bytes) -> Iterator[str]:
    """Return the text in one line of the event stream."""
    if not line.startswith(b"data: {"):
        return
    event = json.loads(line.removeprefix(b"data: "))
    if "error" in event:
        raise GatewayError.of(200, event)
    for choice in event.get("choices", ()):
        if text := choice.get("delta", {}).get("content"):
            yield text
