"""One request of a person, made of their arguments."""

import json
import re
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from account_gateway_client.cli.errors import WrongUse
from account_gateway_client.receipts import IDEMPOTENCY_KEY, MAX_COST

_METHOD = re.compile(r"[A-Z]{1,20}")
_PATH = re.compile(r"/[\x21\x22\x24-\x5b\x5d-\x7e]*")  # printable ASCII without a fragment's mark and backslashes
_KEY = re.compile(r"[\x20-\x7e]{1,255}")


@dataclass(frozen=True, slots=True)
class Call:
    """A request that can be sent."""

    method: str
    path: str
    body: bytes | None
    headers: dict[str, str]

    @property
    def key(self) -> str | None:
        """Return its idempotency key."""
        return self.headers.get(IDEMPOTENCY_KEY)


def call_of(
    method: str, path: str, *, data: str | None, max_cost_microusd: int | None, idempotency_key: str | None
) -> Call:
    """Return the call, or raise WrongUse. A POST without a key gets a new one, because the routes that cost need it."""
    method, headers = method.upper(), {"Accept-Encoding": "identity"}
    if not _METHOD.fullmatch(method):
        raise WrongUse(f"{method!r} is not a method such as GET or POST.")
    if not _PATH.fullmatch(path):
        raise WrongUse(f"{path!r} is not a path such as /v1/wallet: printable ASCII, without a fragment.")
    if data is not None:
        headers["Content-Type"] = "application/json"
    if max_cost_microusd is not None:
        headers[MAX_COST] = str(max_cost_microusd)
    if idempotency_key is not None and not _KEY.fullmatch(idempotency_key):
        raise WrongUse("An idempotency key has 1 to 255 characters of printable ASCII.")
    if idempotency_key or method == "POST":
        headers[IDEMPOTENCY_KEY] = idempotency_key or uuid.uuid4().hex
    return Call(method, path, None if data is None else _body_of(data), headers)


def _body_of(data: str) -> bytes:
    """Return the bytes of JSON, of @FILE, or of standard input for @-, as they are."""
    try:
        body = _read(data[1:]) if data.startswith("@") else data.encode()
        json.loads(body)
    except OSError as error:
        raise WrongUse(f"{data[1:]} cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError) as error:
        raise WrongUse(f"The body is not JSON ({error}).") from None
    return body


def _read(file: str) -> bytes:
    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
