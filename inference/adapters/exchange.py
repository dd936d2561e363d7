"""One HTTP exchange with an upstream, shared by all adapters that use JSON over HTTP."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from types import MappingProxyType
from typing import Any

import aiohttp
import orjson
from yarl import URL

from gateway.core.outbound.bodies import read_bounded
from gateway.core.outbound.client import Body, client
from gateway.core.outbound.failures import MisconfiguredError, TooLargeError
from gateway.core.outbound.response import Response
from gateway.core.outbound.timeouts import answer_timeout
from inference.interface.model import UpstreamTarget
from inference.interface.upstream import Attempt
from inference.rules.authentication import BEARER
from inference.rules.json_body import JSON_TYPE

ANSWER_MAX_BYTES = 32 * 1024 * 1024
ERROR_MAX_BYTES = 64 * 1024
COMPRESSED = "gzip, deflate"
KEY_HEADERS = {"anthropic": "x-api-key"}
"""The header with the key, by adapter, where it is not a bearer token and the row does not name another."""

_GENERATION_ID = re.compile(r"[\w.:-]{1,64}", re.ASCII)
NESTING_MIN_BYTES = 200
"""A shorter text, or one with fewer brackets, cannot be nested too deep to be serialized."""

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})

_WRAPPED_MAX = 8
"""The number of levels that an event or the other form may add to an answer. The JSON parser accepts deeper nesting than the
serializer."""


class NotJSONError(Exception):
    """The answer is not a JSON object that can be forwarded."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A complete response with a status other than 2xx. `body` is empty if it was not a JSON object, or too large."""

    status: int
    headers: Mapping[str, str]
    body: Mapping[str, Any]


async def post(
    attempt: Attempt[Any],
    path: str,
    body: Body,
    *,
    accept: str,
    phases: aiohttp.ClientTimeout,
    more_headers: Mapping[str, str] = _NO_HEADERS,
) -> Response:
    """Send a body to `<base_url>/<path>`, with the route's `more_headers`; the caller closes the response.

    Raises the errors that `gateway.core.outbound.failures` lists.
    """
    url, headers = url_of(attempt.target, path), {**_headers(attempt, accept), **more_headers}
    response = await client().send("POST", url, headers, body, phases, attempt.call.on_send)
    attempt.call.on_answer(response.status)
    if attempt.target.looks_up:
        _note_generation(attempt, response)
    return response


async def get_object(target: UpstreamTarget, path: str, query: Mapping[str, str], seconds: float) -> dict[str, Any]:
    """Fetch a JSON object from an upstream by GET, within `seconds`. Raises NotJSONError for any other response, or the
    same errors as `post`."""
    url = url_of(target, path).update_query(query)
    headers = {"Accept": JSON_TYPE, "Accept-Encoding": COMPRESSED, **credentials(target)}
    response = await client().send("GET", url, headers, None, answer_timeout(seconds))
    try:
        if response.status != 200:
            raise NotJSONError(f"status {response.status}")
        return await read_object(response)
    finally:
        response.close()


async def read_object(response: Response, max_bytes: int = ANSWER_MAX_BYTES) -> dict[str, Any]:
    """Read a whole JSON object of at most `max_bytes`. Raises NotJSONError, TooLargeError, or the HTTP client's error if the body
    is truncated."""
    if not is_json(response):
        raise NotJSONError(f"content type {response.headers.get('Content-Type')}")
    return parse_object(await read_bounded(response.content, max_bytes))


async def read_refusal(response: Response) -> Refusal:
    """Read a whole response that is not a 2xx. Raises if it is incomplete, because that is not a refusal."""
    try:
        data = await read_bounded(response.content, ERROR_MAX_BYTES)
    except TooLargeError:
        data = b""
    return refusal_of(response.status, response.headers, data)


def refusal_of(status: int, headers: Mapping[str, str], data: bytes) -> Refusal:
    """Build the refusal from a response's parts."""
    try:
        return Refusal(status, headers, parse_object(data))
    except NotJSONError:
        return Refusal(status, headers, {})


def parse_object(data: bytes) -> dict[str, Any]:
    """Parse a JSON object that can be serialized again. Raises NotJSONError."""
    try:
        value = orjson.loads(data)
        if len(data) > NESTING_MIN_BYTES and data.count(b"{") + data.count(b"[") > NESTING_MIN_BYTES:
            orjson.dumps(reduce(lambda inner, _: [inner], range(_WRAPPED_MAX), value))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError) as error:
        raise NotJSONError("not JSON") from error
    if not isinstance(value, dict):
        raise NotJSONError("not a JSON object")
    return value


def is_json(response: Response) -> bool:
    """Return whether a response's content type is JSON or absent."""
    content_type = response.headers.get("Content-Type", "application/json").partition(";")[0].strip().lower()
    return content_type == "application/json" or content_type.endswith("+json")


def is_event_stream(response: Response) -> bool:
    """Return whether a response's content type is an event stream."""
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/event-stream"


def url_of(target: UpstreamTarget, path: str) -> URL:
    """Build the URL of a path at an upstream, with the row's query. Raises MisconfiguredError."""
    url = _address(target.base_url, path)
    return url.update_query(target.query) if target.query else url


@lru_cache(maxsize=256)
def _address(base_url: str, path: str) -> URL:
    """Build the URL. Raises MisconfiguredError, also for a URL with credentials: they belong in the row's key, which is stored
    encrypted."""
    try:
        url = URL(base_url.rstrip("/") + path)
        (url.raw_host or "").encode("idna")  # as the resolver does, to refuse empty or overlong labels
        host = url.host  # decodes the label, and refuses what is not IDNA
    except ValueError as error:
        raise MisconfiguredError(str(error)) from error
    if url.scheme not in {"http", "https"} or not host or url.user is not None or url.password is not None:
        raise MisconfiguredError("base_url must be http or https, with a host and without credentials")
    return url


def _headers(attempt: Attempt[Any], accept: str) -> dict[str, str]:
    """Build the headers. Raises MisconfiguredError if a configured value is not a valid header value."""
    return {
        "Accept": accept,
        # Compression would delay events, and audio is already compressed.
        "Accept-Encoding": COMPRESSED if accept == JSON_TYPE else "identity",
        "Idempotency-Key": attempt.call.usage_id,
        "X-Client-Request-Id": attempt.call.usage_id,
        **credentials(attempt.target),
    }


def credentials(target: UpstreamTarget) -> dict[str, str]:
    """Build the headers for a row's key and options. Raises MisconfiguredError."""
    names = {"organization": "OpenAI-Organization", "project": "OpenAI-Project"}
    values = {header: str(target.options[name]) for name, header in names.items() if target.options.get(name)}
    if target.api_key:
        header = target.auth or KEY_HEADERS.get(target.adapter, BEARER)
        values |= {"Authorization": f"Bearer {target.api_key}"} if header == BEARER else {header: target.api_key}
    if not all(value.isascii() and value.isprintable() for value in values.values()):
        raise MisconfiguredError("a configured header value is not printable ASCII")
    return values


def _note_generation(attempt: Attempt[Any], response: Response) -> None:
    """Report the id of the upstream's own record, which aggregators send in a header of every response."""
    generation_id = response.headers.get("X-Generation-Id", "")
    if _GENERATION_ID.fullmatch(generation_id):
        attempt.call.on_generation(generation_id)
