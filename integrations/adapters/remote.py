"""Sends signed requests to a remote runner, with limits on time and response size."""

import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson
import requests

from gateway.core.contract.errors import ApiError
from gateway.core.contract.limits import SANDBOX_CALLBACK_BODY_MAX_BYTES
from gateway.core.json.strict import strict_loads
from integrations.rules import signatures
from integrations.rules.signatures import SignedRequest

TIMEOUT_SECONDS = (5.0, 10.0)
VALUES_MAX = 1000
PIECE_BYTES = 64 * 1024


class RunnerUnreachable(Exception):
    """The runner did not respond, or its response says nothing about the run."""


class RunnerRefused(Exception):
    """The runner refuses the run, or does not know it."""


@dataclass(frozen=True, slots=True)
class RemoteRunner:
    """One runner at its base address."""

    base_url: str
    secret: str

    def start(self, body: dict[str, Any]) -> None:
        """Submit a run. Raises RunnerRefused and RunnerUnreachable."""
        self._ask("POST", "/runs", orjson.dumps(body))

    def cancel(self, run_id: str) -> None:
        """Request a run's cancellation. Raises RunnerRefused and RunnerUnreachable."""
        self._ask("POST", f"/runs/{run_id}/cancel", b"")

    def report(self, run_id: str) -> dict[str, Any]:
        """Return the runner's report on a run. Raises RunnerRefused if the runner does not know it."""
        try:
            return strict_loads(self._ask("GET", f"/runs/{run_id}", b""), VALUES_MAX)
        except ApiError as error:
            raise RunnerUnreachable(error.code) from None

    def _ask(self, method: str, path: str, body: bytes) -> bytes:
        address = self.base_url.rstrip("/") + path
        sent = {"Content-Type": "application/json"}
        try:
            with requests.request(
                method,
                address,
                data=body,
                headers=sent,
                auth=self._sign,
                timeout=TIMEOUT_SECONDS,
                allow_redirects=False,
                stream=True,
            ) as response:
                answer = _read(response)
        except (requests.RequestException, OSError) as error:
            raise RunnerUnreachable(type(error).__name__) from None
        if 400 <= response.status_code < 500 and response.status_code not in (408, 425, 429):
            raise RunnerRefused(f"The runner answered with status {response.status_code}.")
        if not 200 <= response.status_code < 300 or len(answer) > SANDBOX_CALLBACK_BODY_MAX_BYTES:
            raise RunnerUnreachable(f"status {response.status_code}")
        return answer

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Sign a request with the path that will be sent, which requests may have escaped."""
        body = request.body.encode() if isinstance(request.body, str) else bytes(request.body or b"")
        signed = SignedRequest(request.method or "", urlsplit(request.url or "").path, body)
        request.headers.update(signatures.headers(self.secret, signed, int(time.time())))
        return request


def _read(response: requests.Response) -> bytes:
    """Read a response, at most slightly beyond the size limit. Raises requests' errors if it is truncated or cannot be
    decompressed; reading `raw` would raise urllib3's.
    """
    answer = bytearray()
    for piece in response.iter_content(PIECE_BYTES):
        answer += piece
        if len(answer) > SANDBOX_CALLBACK_BODY_MAX_BYTES:
            break
    return bytes(answer)
