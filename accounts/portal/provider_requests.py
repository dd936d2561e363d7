"""Requests to identity providers: whatever one does, it holds a page for so long, so many bytes, and at its own address."""

import asyncio
from typing import Any

import aiohttp
from requests import PreparedRequest, RequestException, Response, Session
from requests.structures import CaseInsensitiveDict
from yarl import URL

from gateway.core.outbound.bodies import read_bounded
from gateway.core.outbound.failures import TooLargeError

ANSWER_SECONDS = 10.0
ANSWER_MAX_BYTES = 1024 * 1024


class ProviderSession(Session):
    """Sends as `requests` does, but bounds the whole exchange, and follows no redirect: the answer is the redirect."""

    def send(self, request: PreparedRequest, **options: Any) -> Response:
        """Return the whole answer, or raise RequestException."""
        try:
            return asyncio.run(_exchange(request))
        except (aiohttp.ClientError, TimeoutError, TooLargeError, OSError) as error:
            raise RequestException(f"no usable answer: {error!r}", request=request) from None


async def _exchange(request: PreparedRequest) -> Response:
    timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout, trust_env=True, cookie_jar=aiohttp.DummyCookieJar()) as session:
        address = URL(request.url or "", encoded=True)
        async with session.request(
            request.method or "GET", address, data=request.body, headers=request.headers, allow_redirects=False
        ) as answer:
            return _response(request, answer, await read_bounded(answer, ANSWER_MAX_BYTES))


def _response(request: PreparedRequest, answer: aiohttp.ClientResponse, content: bytes) -> Response:
    response = Response()
    response.status_code, response.reason = answer.status, answer.reason or ""
    response.headers = CaseInsensitiveDict(answer.headers)
    response.request, response.url, response._content = request, str(answer.url), content  # noqa: SLF001
    return response
