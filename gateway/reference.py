"""Serves the API's description: /openapi.json, and the page at /docs that shows it. Both are public and
self-contained."""

import gzip
import secrets
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from drf_spectacular.generators import SchemaGenerator

from gateway.core.json.strict import dumps

# Nothing is loaded from other origins. Of the library's style elements one carries the nonce, and two (its theme, and an empty one)
# are known by their hashes; beyond that it styles in attributes.
STYLE_HASHES = (
    "'sha256-l/2OpPg0d+2VLTLgwjf5mQo2CYwHDEqdj5TjbfEyVJI=' 'sha256-T13Uev3xCax2N28XaoAE8DOzQZKvPp7ZQVAi1iRREjo='"
)
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}' {hashes}; style-src-attr 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FOR_EVER = "public, max-age=31536000, immutable"
INTRODUCTION = Path(__file__).with_suffix(".md")
CHAPTERS = {
    "Chat": "Chat completions, messages and responses: one set of models in three vendors' forms.",
    "Embeddings and ranking": "Vectors of texts, and documents in order of their relevance.",
    "Audio and images": "Speech, transcriptions, translations and images.",
    "Live sessions": "Speech and text both ways over a WebSocket.",
    "Judgements": "Probabilities for the answers to a question about a state.",
    "Models": "What you can call, and its prices.",
    "Account": "The account that the token belongs to.",
    "Billing": "Wallet, usage, receipts and payments.",
    "Organizations": "Members, invitations, products, seats and access.",
    "Integrations": "Projects, sandbox runs, CI runs, evolution and the account key, if the operator has configured them.",
    "Tokens": "How access tokens are issued, renewed and revoked.",
    "Discovery": "Public documents for OAuth clients.",
    "Health": "For load balancers and monitors.",
}
"""What each chapter is about, in the order in which a reader needs them."""

_rendering = Lock()


REASON = {"type": "string", "description": "Why the database is not used, in a word. Absent while the process stops."}


def _status(status: str, **more: Any) -> dict[str, Any]:
    member = {"type": "string", "enum": [status]}
    schema = {"type": "object", "properties": {"status": member, **more}, "required": ["status"]}
    return {"application/json": {"schema": schema}}


def _check(name: str, summary: str, description: str, refusal: str = "") -> dict[str, Any]:
    responses = {"200": {"description": "Yes.", "content": _status("ok")}}
    if refusal:
        responses["503"] = {"description": refusal, "content": _status("not_ready", reason=REASON)}
    declared = {"summary": summary, "description": description, "security": [], "responses": responses}
    return {"get": {"operationId": name, "tags": ["Health"], **declared}}


HEALTH = {
    "/healthz": _check(
        "healthz",
        "Check whether this process can serve requests",
        "The database and the replay store respond.",
        "Not ready.",
    ),
    "/readyz": _check(
        "readyz",
        "Check whether this process should get requests",
        "As /healthz, and the process is not stopping.",
        "Not ready, or stopping.",
    ),
    "/livez": _check("livez", "Check whether this process responds", "It does not ask the database."),
}


def openapi(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document. Under the address that the page has for it, which names its content, it never changes."""
    document = _document()
    is_named = request.GET.get("v") == document.digest
    headers = {
        "Cache-Control": FOR_EVER if is_named else "no-cache",
        "ETag": f'"{document.digest}"',
        "Vary": "Accept-Encoding",
    }
    if headers["ETag"] in request.headers.get("If-None-Match", ""):  # a proxy that compresses makes it a weak one
        return HttpResponse(status=304, headers=headers)
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        content, headers["Content-Encoding"] = document.compressed, "gzip"
    else:
        content = document.plain
    return HttpResponse(content, content_type="application/json", headers=headers)


def page(request: HttpRequest) -> HttpResponse:
    """Show the document as a readable page. Until its script runs, and without one, it lists the operations."""
    document = _document()
    context = {"digest": document.digest, "chapters": document.chapters, "nonce": secrets.token_urlsafe(16)}
    content = render_to_string("reference.html", context)  # without the request, so that nothing of a session is in it
    policy = PAGE_POLICY.format(nonce=context["nonce"], hashes=STYLE_HASHES)
    return HttpResponse(content, headers={"Content-Security-Policy": policy, "Cache-Control": "no-cache"})


def leave_out_variants(endpoints: list[Any]) -> list[Any]:
    """Keep one address of each discovery document, which also responds at the base URL's path."""
    return [endpoint for endpoint in endpoints if "{inserted}" not in endpoint[0]]


def complete(result: dict[str, Any], **context: Any) -> dict[str, Any]:
    """Add the introduction, this gateway's address, the chapters in order, and the health checks, which are plain views."""
    introduction = INTRODUCTION.read_text(encoding="utf-8")
    result["info"]["description"] = introduction.replace("{base_url}", settings.GATEWAY_BASE_URL)
    result["servers"] = [{"url": settings.GATEWAY_BASE_URL}]
    result["tags"] = [{"name": name, "description": description} for name, description in CHAPTERS.items()]
    result["paths"] = dict(sorted({**result["paths"], **HEALTH}.items(), key=_place))
    return result


def _place(described: tuple[str, dict[str, Any]]) -> tuple[int, str]:
    """Return what paths are sorted by: the chapter of the path's first operation, then the path."""
    path, operations = described
    return list(CHAPTERS).index(next(iter(operations.values()))["tags"][0]), path


@dataclass(frozen=True, slots=True)
class Document:
    """The document as it is sent, and for each chapter its name and its operations (method, path, summary, id)."""

    plain: bytes
    compressed: bytes
    digest: str
    chapters: list[tuple[str, list[tuple[str, str, str, str]]]]


def _document() -> Document:
    """Render the document once per process: it depends only on code and settings. The generator is not thread-safe."""
    with _rendering:
        return _rendered()


@cache
def _rendered() -> Document:
    described = SchemaGenerator().get_schema(request=None, public=True)
    plain = dumps(described)
    return Document(plain, gzip.compress(plain, mtime=0), sha256(plain).hexdigest()[:16], _chapters(described["paths"]))


def _chapters(paths: dict[str, dict[str, Any]]) -> list[tuple[str, list[tuple[str, str, str, str]]]]:
    listed: dict[str, list[tuple[str, str, str, str]]] = {name: [] for name in CHAPTERS}
    for path, operations in paths.items():
        for method, described in operations.items():
            listed[described["tags"][0]].append((method.upper(), path, described["summary"], described["operationId"]))
    return list(listed.items())
