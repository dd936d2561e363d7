"""One HTTP exchange with an upstream, shared by every adapter that speaks JSON over HTTP."""

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import aiohttp
import orjson
from yarl import URL

from gateway.core.outbound.bodies import read_bounded
from gateway.core.outbound.failures import MisconfiguredError, TooLargeError
from gateway.core.outbound.session import on_send, session
from gateway.core.outbound.timeouts import answer_timeout
from inference.rules.upstream import Attempt, UpstreamTarget

ANSWER_MAX_BYTES = 32 * 1024 * 1024
ERROR_MAX_BYTES = 64 * 1024
_COPIED_BODY_MAX_BYTES = 1024 * 1024
_GENERATION_ID = re.compile(r"[\w.:-]{1,64}", re.ASCII)
NESTING_MIN_BYTES = 200
"""Nothing shorter, and nothing with fewer brackets, is nested too deep to be written again."""

_WRAPPED_MAX = 8
"""So many levels deeper an answer may be written than it was read, in an event or in the other form. The reader takes
deeper nesting than the writer."""


class NotJSONError(Exception):
    """The answer is not a JSON object that can be passed on."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A complete answer with a status other than 2xx. `body` is empty where it was no JSON object, or too large."""

    status: int
    headers: Mapping[str, str]
    body: Mapping[str, Any]


async def post(
    attempt: Attempt[Any], path: str, payload: Any, *, accept: str, phases: aiohttp.ClientTimeout
) -> aiohttp.ClientResponse:
    """Send a payload, which brings its own media type, to `<base_url>/<path>`; the caller closes the response.

    Raises as `gateway.core.outbound.failures` lists.
    """
    token = on_send.set(attempt.on_send)
    try:
        response = await session().post(
            address(attempt.target.base_url, path),
            data=payload,
            headers=_headers(attempt, accept),
            timeout=phases,
            allow_redirects=False,
        )
    finally:
        on_send.reset(token)
    if attempt.target.looks_up:
        _note_generation(attempt, response)
    return response


async def get_object(target: UpstreamTarget, path: str, query: Mapping[str, str], seconds: float) -> dict[str, Any]:
    """Read a JSON object of an upstream by GET, within so many seconds. Raises NotJSONError where it answers otherwise, or
    as `post`."""
    async with session().get(
        address(target.base_url, path).with_query(query),
        headers={"Accept": "application/json", **credentials(target)},
        timeout=answer_timeout(seconds),
        allow_redirects=False,
    ) as response:
        if response.status != 200:
            raise NotJSONError(f"status {response.status}")
        return await read_object(response)


def json_payload(body: bytes) -> aiohttp.payload.Payload:
    """Build the payload of a JSON body, a large one such that it is not copied."""
    if len(body) <= _COPIED_BODY_MAX_BYTES:
        return aiohttp.BytesPayload(body, content_type="application/json")
    return aiohttp.BytesIOPayload(io.BytesIO(body), content_type="application/json")


async def read_object(response: aiohttp.ClientResponse, max_bytes: int = ANSWER_MAX_BYTES) -> dict[str, Any]:
    """Read a whole JSON object of at most so many bytes, or raise NotJSONError, TooLargeError, or the client's error where it is cut."""
    if not is_json(response):
        raise NotJSONError(f"content type {response.content_type}")
    return parse_object(await read_bounded(response, max_bytes))


async def read_refusal(response: aiohttp.ClientResponse) -> Refusal:
    """Read the whole answer that came instead of a 2xx: an incomplete one does not count as a refusal."""
    try:
        body = parse_object(await read_bounded(response, ERROR_MAX_BYTES))
    except (NotJSONError, TooLargeError):
        body = {}
    return Refusal(response.status, response.headers, body)


def parse_object(data: bytes) -> dict[str, Any]:
    """Parse a JSON object that can be written out again, or raise NotJSONError."""
    try:
        value = orjson.loads(data)
        if len(data) > NESTING_MIN_BYTES and data.count(b"{") + data.count(b"[") > NESTING_MIN_BYTES:
            orjson.dumps(reduce(lambda inner, _: [inner], range(_WRAPPED_MAX), value))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError) as error:
        raise NotJSONError("not JSON") from error
    if not isinstance(value, dict):
        raise NotJSONError("not a JSON object")
    return value


def is_json(response: aiohttp.ClientResponse) -> bool:
    """Return whether an answer says that it is JSON, or says nothing."""
    content_type = response.headers.get("Content-Type", "application/json").partition(";")[0].strip().lower()
    return content_type == "application/json" or content_type.endswith("+json")


def is_event_stream(response: aiohttp.ClientResponse) -> bool:
    """Return whether an answer says that it is a stream of events."""
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/event-stream"


@lru_cache(maxsize=256)
def address(base_url: str, path: str) -> URL:
    """Build the URL, or raise MisconfiguredError. Credentials belong into the row's key, where they are stored
    encrypted."""
    try:
        url = URL(base_url.rstrip("/") + path)
        (url.raw_host or "").encode("idna")  # as the resolver will do, and refuse labels that are empty or too long
    except ValueError as error:
        raise MisconfiguredError(str(error)) from error
    if url.scheme not in {"http", "https"} or not url.host or url.user is not None or url.password is not None:
        raise MisconfiguredError("base_url must be http or https, with a host and without credentials")
    return url


def _headers(attempt: Attempt[Any], accept: str) -> dict[str, str]:
    """Build the headers, or raise MisconfiguredError where a configured value cannot stand in one."""
    headers = {
        "Accept": accept,
        "Idempotency-Key": attempt.usage_id,
        "X-Client-Request-Id": attempt.usage_id,
        **credentials(attempt.target),
    }
    if accept != "application/json":
        headers["Accept-Encoding"] = "identity"  # a compressor would hold events back, and sound is compressed as it is
    return headers


def credentials(target: UpstreamTarget) -> dict[str, str]:
    """Build the headers that a row's key and options ask for, or raise MisconfiguredError."""
    names = {"organization": "OpenAI-Organization", "project": "OpenAI-Project"}
    values = {header: str(target.options[name]) for name, header in names.items() if target.options.get(name)}
    if target.api_key:
        values["Authorization"] = f"Bearer {target.api_key}"
    if not all(value.isascii() and value.isprintable() for value in values.values()):
        raise MisconfiguredError("a configured header value is not printable ASCII")
    return values


def _note_generation(attempt: Attempt[Any], response: aiohttp.ClientResponse) -> None:
    """Note the id of the upstream's own record, which aggregators tell in a header of every answer."""
    told = response.headers.get("X-Generation-Id", "")
    if _GENERATION_ID.fullmatch(told):
        attempt.on_generation(told)
