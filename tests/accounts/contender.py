"""One of several processes that do the same thing concurrently, for tests of races.

Prints `ready`, waits for a job as one line of JSON, does it, and prints its outcome as JSON.
"""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import django

django.setup()

from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from accounts.models import SigningKey  # noqa: E402
from accounts.operations import exchange, receipt_keys, replays, signing_keys  # noqa: E402
from accounts.rules.dpop import ProofTicket  # noqa: E402
from gateway.core.contract.errors import ApiError  # noqa: E402


def admit(did: str, digests: list[str], expires_at: int) -> list[str]:
    """Record each proof; return the error code of each, or `ok`."""
    return [_code(partial(_admit, did, digest, expires_at)) for digest in digests]


def redeem(assertions: list[str], jkt: str) -> list[str]:
    """Exchange each assertion; return the error code of each, or `ok`."""
    attempt = partial(exchange.exchange, jkt=jkt, scope=None, now=timezone.now())
    return [_code(partial(attempt, assertion=assertion)) for assertion in assertions]


def start_keys() -> list[str]:
    """Create the first key."""
    return [signing_keys.ensure_active_key(now=timezone.now()).kid]


def rotate_keys() -> list[str]:
    """Rotate once."""
    return [signing_keys.rotate(now=timezone.now()).kid]


def start_receipt_keys() -> list[str]:
    """Create the first key of receipts."""
    return [receipt_keys.ensure_active_key(now=timezone.now()).kid]


def rotate_receipt_keys() -> list[str]:
    """Rotate the keys of receipts once."""
    return [receipt_keys.rotate(now=timezone.now()).kid]


JOBS: dict[str, Callable[..., list[str]]] = {
    "admit": admit,
    "redeem": redeem,
    "start_keys": start_keys,
    "rotate_keys": rotate_keys,
    "start_receipt_keys": start_receipt_keys,
    "rotate_receipt_keys": rotate_receipt_keys,
}


def _admit(did: str, digest: str, expires_at: int) -> None:
    issued_at = int(datetime.now(UTC).timestamp())
    replays.admit(ProofTicket(bytes.fromhex(digest), issued_at, expires_at), did=did)


def _code(attempt: Callable[[], Any]) -> str:
    try:
        attempt()
    except ApiError as error:
        return error.code
    return "ok"


def main() -> None:
    """Do one job."""
    connection.ensure_connection()
    SigningKey.objects.exists()
    print("ready", flush=True)  # noqa: T201
    job = json.loads(sys.stdin.readline())
    print(json.dumps(JOBS[job.pop("job")](**job)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
