"""Sends requests to identity providers, with limits on time and size, and without following redirects."""

import asyncio
from io import BytesIO
from typing import Any

import aiohttp
from requests import PreparedRequest, RequestException, Response, Session
from requests.structures import CaseInsensitiveDict
from yarl import URL

from gateway.core.outbound.bodies import read_bounded
from gateway.core.outbound.failures import TooLargeError

TIMEOUT_SECONDS = 10.0
RESPONSE_MAX_BYTES = 1024 * 1024


class ProviderSession(Session):
    """A `requests` session that bounds the whole exchange in time and size. Redirects are returned, not followed."""

    def send(self, request: PreparedRequest, **options: Any) -> Response:
        """Return the whole response, or raise RequestException."""
        try:
            return asyncio.run(_exchange(request))
        except (aiohttp.ClientError, TimeoutError, TooLargeError, OSError) as error:
            raise RequestException(f"no usable response: {error!r}", request=request) from None


async def _exchange(request: PreparedRequest) -> Response:
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout, trust_env=True, cookie_jar=aiohttp.DummyCookieJar()) as session:
        address = URL(request.url or "", encoded=True)
        async with session.request(
            request.method or "GET", address, data=request.body, headers=request.headers, allow_redirects=False
        ) as answer:
            return _response(request, answer, await read_bounded(answer.content, RESPONSE_MAX_BYTES))


def _response(request: PreparedRequest, answer: aiohttp.ClientResponse, content: bytes) -> Response:
    response = Response()
    response.status_code, response.reason = answer.status, answer.reason or ""
    response.headers = CaseInsensitiveDict(answer.headers)
    response.request, response.url, response.raw = request, str(answer.url), BytesIO(content)
    return response
