"""Error bodies in the vendor's format, and invalid bodies."""

from typing import Any

import orjson
from aiohttp import web

from tests.support.upstream import rerank
from tests.support.upstream.behaviours import HOST, SECRET, Behaviour
from tests.support.upstream.stream import Frame

REQUEST_ID = "req_upstream-1"
STREAM_MESSAGE = f"The server {HOST} had an error while processing your request."
HTML = f"<html><body><h1>502 Bad Gateway</h1><hr>{HOST}</body></html>".encode()
NEEDED = {
    "/chat/completions": {"messages"},
    "/images/generations": {"prompt"},
    "/messages": {"max_tokens", "messages"},
    "/messages/count_tokens": {"messages"},
    "/rerank": {"query", "documents"},
    "/v2/rerank": {"query", "documents"},
}
MESSAGE_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
TYPES = {401: "invalid_request_error", 429: "requests", 500: "server_error", 503: "server_error"}


def render(behaviour: Behaviour, path: str) -> tuple[bytes, str]:
    """Return an error's body and content type, in the format of the path's vendor."""
    if behaviour.form == "html":
        return HTML, "text/html"
    if path.endswith("/rerank"):
        return orjson.dumps(rerank.error_body(path, behaviour.error_message)), "application/json"
    body = _body(
        path,
        behaviour.status,
        behaviour.error_message,
        kind=TYPES.get(behaviour.status, "invalid_request_error"),
        param=behaviour.error_param,
        code=behaviour.error_code,
    )
    return body, "application/json"


def event(path: str) -> Frame:
    """Return the event that breaks a stream off, as the path's vendor writes it."""
    if path == "/messages":
        error = {"type": "api_error", "message": STREAM_MESSAGE}
        return Frame({"type": "error", "error": error, "request_id": REQUEST_ID}, name="error")
    return Frame({"error": {"message": STREAM_MESSAGE, "type": "server_error", "code": None}})


def deform(payload: bytes, form: str) -> bytes:
    """Convert an honest JSON body to what `form` says."""
    deformed = {
        "array": b"[%s]" % payload,
        "empty": b"",
        "garbage": b'{"id": "chatcmpl-upstream", "choices": [{]}',
        "html": HTML,
        "truncated": payload[: len(payload) // 2],
    }
    return deformed.get(form, payload)


def refuse(request: web.Request, raw: bytes, api_key: str | None) -> web.Response | None:
    """Refuse what the vendor refuses before any work: a wrong key, a body without required members."""
    if refusal := refuse_key(request, api_key):
        return refusal
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _response(request, 400, "We could not parse the JSON body of your request.")
    needed = {"model"} | NEEDED.get(request.path.removeprefix("/v1"), {"input"})
    missing = sorted(needed - set(body)) if isinstance(body, dict) else sorted(needed)
    if missing:
        message = f"Missing required parameter: '{missing[0]}'."
        return _response(request, 400, message, param=missing[0], code="missing_required_parameter")
    return None


def refuse_key(request: web.Request, api_key: str | None) -> web.Response | None:
    """Refuse a wrong key."""
    sent = {request.headers.get("Authorization")}
    if "/messages" in request.path:  # its vendor takes a key in either header
        sent.add(f"Bearer {request.headers.get('x-api-key')}")
    if api_key and f"Bearer {api_key}" not in sent:
        return _response(request, 401, f"Incorrect API key provided: {SECRET}.", code="invalid_api_key")
    return None


def _response(request: web.Request, status: int, message: str, **members: Any) -> web.Response:
    if request.path.endswith("/rerank"):
        body = orjson.dumps(rerank.error_body(request.path.removeprefix("/v1"), message))
    else:
        path = request.path.removeprefix("/v1")
        body = _body(path, status, message, kind="invalid_request_error", **members)
    return web.Response(status=status, body=body, content_type="application/json")


def _body(
    path: str, status: int, message: str, *, kind: str, param: str | None = None, code: str | None = None
) -> bytes:
    if path.startswith("/messages"):
        named: dict[str, str | None] = {"code": code, "param": param} if code else {}
        error = {"type": MESSAGE_TYPES.get(status, "api_error"), "message": message, **named}
        return orjson.dumps({"type": "error", "error": error, "request_id": REQUEST_ID})
    return orjson.dumps({"error": {"message": message, "type": kind, "param": param, "code": code}})
