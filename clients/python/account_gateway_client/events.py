"""Verifies the events that a gateway posts to a product's server, which sign them as Standard Webhooks says.

Verify the bytes of the body as they came. A body that was parsed and written again has other bytes, even if it means the same.
"""

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, cast

from account_gateway_client.errors import InvalidEvent
from account_gateway_client.event_types import Event

TOLERANCE_SECONDS = 300
PREFIX = "whsec_"
ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
_MEMBERS: dict[str, type] = {"id": str, "type": str, "createdAt": str, "sequence": int, "data": dict}
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)


def verify_event(
    body: bytes,
    headers: Mapping[str, str],
    secrets: str | Iterable[str],
    *,
    now: float | None = None,
    tolerance_seconds: float = TOLERANCE_SECONDS,
) -> Event:
    """Return the event in the body of a request that was signed with one of the secrets, or raise InvalidEvent, which says why.

    `secrets` is the endpoint's secret (`whsec_…`), or several while one replaces another. `headers` may be in any case. The time
    of the signature may differ from `now` (Unix seconds, default: this machine's clock) by `tolerance_seconds`, five minutes.

    An event may come more than once: keep its `id`, and do nothing when it comes again.
    """
    if not isinstance(body, bytes | bytearray | memoryview):
        raise TypeError("Give the body's bytes as they were received, before anything has parsed or decoded them.")
    keys = [_key(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise ValueError("There is no secret to verify an event with.")
    sent = _headers(headers)
    _check_time(sent[TIMESTAMP], time.time() if now is None else now, tolerance_seconds)
    signed = f"{sent[ID]}.{sent[TIMESTAMP]}.".encode("utf-8", "surrogatepass") + bytes(body)
    _check_signature(sent[SIGNATURE], keys, signed)
    return _event(bytes(body))


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True) if secret.startswith(PREFIX) else b""
    except ValueError:
        key = b""
    if not key:
        raise ValueError(f"An endpoint's secret is {PREFIX} and base64; this is something else.")
    return key


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    given = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in (ID, TIMESTAMP, SIGNATURE) if not given.get(name)]
    if missing:
        raise InvalidEvent(f"the header {missing[0]} is missing")
    return given


def _check_time(text: str, now: float, tolerance_seconds: float) -> None:
    if not _SECONDS.fullmatch(text):
        raise InvalidEvent(f"{TIMESTAMP} is not a number of seconds")
    late = now - int(text)
    if abs(late) > tolerance_seconds:
        raise InvalidEvent(
            f"it was signed {abs(late):.0f} seconds {'ago' if late > 0 else 'ahead'}, and {tolerance_seconds:.0f} are allowed: "
            "it is an old one that was sent again, or a clock is wrong"
        )


def _check_signature(sent: str, keys: Iterable[bytes], signed: bytes) -> None:
    """Compare every signature with every key, each in a time that says nothing of where they differ."""
    versions = [part.partition(",") for part in sent.split(" ")]
    given = [text.encode("utf-8", "surrogatepass") for version, _, text in versions if version == "v1"]
    if not given:
        raise InvalidEvent(f"{SIGNATURE} has no signature of version v1")
    expected = [base64.b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in keys]
    matches = [hmac.compare_digest(one, other) for one in expected for other in given]
    if True not in matches:
        raise InvalidEvent(
            "no signature matches: the secret is another endpoint's or was replaced, or these are not the bytes that were sent"
        )


def _event(body: bytes) -> Event:
    try:
        event: Any = json.loads(body)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise InvalidEvent("its body is no JSON object")
    for name, kind in _MEMBERS.items():
        if not isinstance(event.get(name), kind) or isinstance(event[name], bool):
            raise InvalidEvent(f"its member {name} is missing or of another type")
    return cast("Event", event)
