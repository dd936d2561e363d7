"""Serves the API's description: /openapi.json, and the page at /docs that shows it. Both are public and
self-contained."""

from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator

from gateway.core.json.strict import dumps

# The page uses inline styles and a worker; nothing is loaded from other origins.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
INTRODUCTION = Path(__file__).with_suffix(".md")
CHAPTERS = (
    ("Models", "Metered model calls, and the models you can call."),
    ("Account", "The account that the token belongs to."),
    ("Billing", "Wallet, usage and payments."),
    ("Organizations", "Members, invitations, products, seats and access."),
    (
        "Integrations",
        "Projects, sandbox runs, CI runs, evolution and the account key, if the operator has configured them.",
    ),
    ("Tokens", "How access tokens are issued, renewed and revoked."),
    ("Discovery", "Public documents for OAuth clients."),
    ("Health", ""),
)

_rendering = Lock()


def _status(status: str) -> dict[str, Any]:
    member = {"type": "string", "enum": [status]}
    schema = {"type": "object", "properties": {"status": member}, "required": ["status"]}
    return {"application/json": {"schema": schema}}


def _check(name: str, summary: str, description: str, refusal: str = "") -> dict[str, Any]:
    responses = {"200": {"description": "Yes.", "content": _status("ok")}}
    if refusal:
        responses["503"] = {"description": refusal, "content": _status("not_ready")}
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
    """Return the OpenAPI document."""
    return HttpResponse(_document(), content_type="application/json")


def page(request: HttpRequest) -> HttpResponse:
    """Show the document as a readable page."""
    response = render(request, "reference.html")
    response["Content-Security-Policy"] = PAGE_POLICY
    return response


def leave_out_variants(endpoints: list[Any]) -> list[Any]:
    """Keep one address of each discovery document, which also responds at the base URL's path."""
    return [endpoint for endpoint in endpoints if "{inserted}" not in endpoint[0]]


def complete(result: dict[str, Any], **context: Any) -> dict[str, Any]:
    """Add the introduction, this gateway's address, the chapters in order, and the health checks, which are plain views."""
    result["info"]["description"] = INTRODUCTION.read_text(encoding="utf-8")
    result["servers"] = [{"url": settings.GATEWAY_BASE_URL}]
    result["tags"] = [{"name": name, "description": description} for name, description in CHAPTERS]
    result["paths"] = {**HEALTH, **result["paths"]}
    return result


def _document() -> bytes:
    """Render the document once per process: it depends only on code and settings. The generator is not thread-safe."""
    with _rendering:
        return _rendered()


@cache
def _rendered() -> bytes:
    return dumps(SchemaGenerator().get_schema(request=None, public=True))
