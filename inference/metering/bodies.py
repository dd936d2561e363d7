"""Reads a request's body: a JSON object, as on most routes, or a form with a file, which is spooled to disk before any check."""

import hashlib
from collections.abc import Awaitable, Callable

from gateway.core.contract.errors import RequestTooLarge, UnsupportedMediaType
from gateway.core.contract.limits import IMAGE_BODY_MAX_BYTES, MODEL_BODY_MAX_BYTES
from gateway.core.json.pieces import canonical
from gateway.core.json.strict import strict_loads
from gateway.core.runtime.offload import is_large, offload
from inference.metering.route import Headers, MeteredRequest
from inference.rules.form_body import FormBody
from inference.rules.json_body import JsonBody

INLINE_IMAGE = b'"data:image'
"""The beginning of a data URL."""


async def read_json(request: MeteredRequest) -> JsonBody:
    """Read and parse the body, a large one outside the event loop. Raises the catalogue's error."""
    _check_media_type(request.raw_headers)
    return await _parsed(await request.read_body(MODEL_BODY_MAX_BYTES))


async def read_json_with_images(request: MeteredRequest, inline: bytes = INLINE_IMAGE) -> JsonBody:
    """Read and parse the body as `read_json` does, with a higher limit for a body that contains images, by what is `inline`."""
    _check_media_type(request.raw_headers)
    body = await request.read_body(IMAGE_BODY_MAX_BYTES)
    if len(body) > MODEL_BODY_MAX_BYTES and inline not in body:
        raise RequestTooLarge
    return await _parsed(body)


async def _parsed(body: bytes) -> JsonBody:
    return await offload(_parse, body, True) if is_large(body) else _parse(body, False)


def _parse(body: bytes, large: bool) -> JsonBody:
    members = strict_loads(body)
    compact = canonical(members, len(body))
    return JsonBody(members, len(compact), hashlib.sha256(compact).digest(), hashlib.sha256(body).digest(), large)


def _check_media_type(headers: Headers) -> None:
    sent = [value for name, value in headers if name == b"content-type"]
    media_type, _, parameters = sent[0].partition(b";") if len(sent) == 1 else (b"", b"", b"")
    charset = parameters.strip().lower().replace(b'"', b"").replace(b" ", b"")
    if media_type.strip().lower() != b"application/json" or charset not in (b"", b"charset=utf-8", b"charset=utf8"):
        raise UnsupportedMediaType(headers={"Accept": "application/json"})


def form_reader(limit_bytes: int) -> Callable[[MeteredRequest], Awaitable[FormBody]]:
    """Return a reader of forms of at most `limit_bytes`. It raises the catalogue's error."""

    async def read_form(request: MeteredRequest) -> FormBody:
        form = await request.read_form(limit_bytes)
        return FormBody(form.fields, form.file, form.file_field, form.digest, form.body_sha256)

    return read_form
