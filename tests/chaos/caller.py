"""One HTTP exchange with a gateway process, recorded in the journal however it ends."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import orjson

from account_gateway_client.proofs import dpop_proof
from bench.identity import Customer
from bench.servers import GATEWAY_BASE_URL
from tests.chaos.journal import LEFT, NO_ANSWER, Attempt, Journal

PATIENCE_SECONDS = 20.0
"""The timeout after which a client gives up an incomplete response. One after 10 s is already late."""

RECEIPT = b": service "
STREAM_END = b"data: [DONE]"


class Caller:
    """Sends requests to the installation's server processes."""

    def __init__(self, gateways: Mapping[str, str], journal: Journal) -> None:
        self.gateways = gateways
        self.journal = journal

    async def __aenter__(self) -> "Caller":
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None)
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._session.close()

    async def ask(
        self,
        attempt: Attempt,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        leave_after_seconds: float | None = None,
    ) -> bytes:
        """Send a request and read its complete response into `attempt`; return the body as far as it arrived.

        After `leave_after_seconds` the client disconnects, whatever has arrived.
        """
        pieces: list[bytes] = []
        async with self._noting(attempt, leave_after_seconds):
            url = self.gateways[attempt.process] + path
            sent = {"Content-Type": "application/json", **(headers or {})}
            async with self._session.request(method, url, data=body, headers=sent) as answer:
                _note_headers(attempt, answer)
                async for piece in answer.content.iter_any():
                    pieces.append(piece)  # noqa: PERF401 - what came before a cut is kept
            _note_body(attempt, b"".join(pieces))
        return b"".join(pieces)

    @asynccontextmanager
    async def _noting(self, attempt: Attempt, leave_after_seconds: float | None) -> AsyncIterator[None]:
        attempt.started_at = time.time()
        try:
            async with asyncio.timeout(leave_after_seconds or PATIENCE_SECONDS):
                yield
        except TimeoutError:
            attempt.has_left = leave_after_seconds is not None
            attempt.failure = LEFT if attempt.has_left else NO_ANSWER
        except (aiohttp.ClientError, OSError) as error:
            attempt.failure = repr(error)
        finally:
            attempt.ended_at = time.time()
            self.journal.attempts.append(attempt)


def proof_headers(customer: Customer, token: str, method: str, path: str) -> dict[str, str]:
    """Build the headers of a protected request, with a new proof."""
    proof = dpop_proof(customer.key, method, GATEWAY_BASE_URL + path, access_token=token)
    return {"Authorization": f"DPoP {token}", "DPoP": proof}


def _note_headers(attempt: Attempt, answer: aiohttp.ClientResponse) -> None:
    attempt.status = answer.status
    attempt.usage_id = answer.headers.get("x-service-usage-id", "")
    attempt.hold = _amount(answer.headers.get("x-service-hold-microusd"))
    attempt.charge = _amount(answer.headers.get("x-service-charge-microusd"))


def _note_body(attempt: Attempt, body: bytes) -> None:
    """Parse a complete body: a stream's receipt and end, or an error's code."""
    if attempt.status == 200 and body.startswith((b"data:", b":")):
        lines = body.splitlines()
        attempt.is_whole = STREAM_END in lines
        for line in lines:
            if line.startswith(RECEIPT):
                attempt.charge = orjson.loads(line.removeprefix(RECEIPT))["charge_microusd"]
        return
    attempt.is_whole = True
    if attempt.status != 200:
        attempt.code = _code(body)


def _code(body: bytes) -> str:
    try:
        error: Any = orjson.loads(body)["error"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return "unreadable"
    return str(error["code"]) if isinstance(error, dict) else str(error)


def _amount(header: str | None) -> int | None:
    return None if header is None else int(header)
