"""Samples for a shell: `agw request` signs a request, and curl sends those that need no token, forms with files, and handshakes."""

import json
import shlex
from collections.abc import Iterator
from urllib.parse import urlencode

from gateway.core.api.samples.call import (
    FORM,
    FORM_WITH_FILES,
    JSON,
    MAX_COST_EXAMPLE_MICROUSD,
    MAX_COST_EXAMPLE_USD,
    Call,
)
from gateway.core.contract import headers

BETWEEN = " \\\n  "


def program(call: Call) -> str:
    """Return the program of the sample."""
    return "agw" if call.is_signed and not call.is_socket and call.media in (JSON, "") else "curl"


def source(call: Call) -> str:
    """Write the command. Values that differ between callers are shell variables: `$ORG_ID`, `$ACCESS_TOKEN`."""
    return BETWEEN.join(_agw(call) if program(call) == "agw" else _curl(call))


def _agw(call: Call) -> Iterator[str]:
    path = call.address(lambda name: f"${name.upper()}")
    yield f"agw request {call.method} " + (f'"{path}"' if "$" in path else path)
    if call.media:
        yield f"-d {shlex.quote(json.dumps(call.body, ensure_ascii=False))}"
    if call.is_metered:
        yield f"--max-cost {MAX_COST_EXAMPLE_USD}"


def _curl(call: Call) -> Iterator[str]:
    yield f'curl -X {call.method} "{call.server}{call.address(lambda name: f"${name.upper()}")}"'
    yield from (f'-H "{line}"' for line in _headers(call))
    if call.media == FORM_WITH_FILES:  # curl sets the header, because it chooses the boundary
        yield from (f"-F {shlex.quote(f'{name}={value}')}" for name, value in call.body.items())
    elif call.media:
        text = urlencode(call.body) if call.media == FORM else json.dumps(call.body, ensure_ascii=False)
        yield f'-H "Content-Type: {call.media}"'
        yield f"-d {shlex.quote(text)}"


def _headers(call: Call) -> Iterator[str]:
    """Yield the required headers, each as one line."""
    if call.is_signed:
        yield f"Authorization: {headers.DPOP} $ACCESS_TOKEN"
    if call.is_signed or call.is_proven:
        yield f"{headers.DPOP}: $PROOF"
    if call.is_metered:
        yield f"{headers.IDEMPOTENCY_KEY}: $(uuidgen)"
        yield f"{headers.MAX_COST}: {MAX_COST_EXAMPLE_MICROUSD}"
