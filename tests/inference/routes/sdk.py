"""The vendor's official SDK as a caller of the gateway: each request proved, keyed and limited, nothing else changed."""

import uuid
from collections.abc import Generator
from typing import Any

import httpx2
import openai

from tests.support.plain_http import NO_AUTHORITIES
from tests.support.stage import Caller

MAX_COST_MICROUSD = "100000"


class _Proving(httpx2.Auth):
    """Adds what the gateway asks of a request."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        """Sign one request."""
        del request.headers["Authorization"]
        request.headers.update(self._caller.headers(request.url.path, method=request.method))
        request.headers["Idempotency-Key"] = uuid.uuid4().hex
        request.headers["x-service-max-cost-microusd"] = MAX_COST_MICROUSD
        yield request


def sdk(caller: Caller) -> Any:
    """Return the synchronous client."""
    http = httpx2.Client(auth=_Proving(caller), timeout=60, verify=NO_AUTHORITIES)
    return openai.OpenAI(base_url=f"{caller.origin}/v1", api_key="unused", http_client=http, max_retries=0)


def async_sdk(caller: Caller) -> Any:
    """Return the asynchronous client."""
    http = httpx2.AsyncClient(auth=_Proving(caller), timeout=60, verify=NO_AUTHORITIES)
    return openai.AsyncOpenAI(base_url=f"{caller.origin}/v1", api_key="unused", http_client=http, max_retries=0)
