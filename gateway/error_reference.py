"""Serves the error catalogue as a page, at /docs/errors, whose sections each error body names in `docs_url`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from gateway.core.contract.error_help import HELP, ErrorHelp
from gateway.core.contract.errors import (
    CATALOGUE,
    ApiError,
    InvalidClient,
    InvalidGrant,
    InvalidScope,
    UnsupportedGrantType,
)

MAX_AGE_SECONDS = 3600
REQUEST_ID = "req_01m7yshq1s6zw3kzc8ypm54agq"
FOR_TOKEN_ROUTES = {InvalidGrant, InvalidScope, UnsupportedGrantType, InvalidClient}
"""Errors that only the token routes answer, in RFC 6749's form."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One error with its help and an example of its body. `status` is the usual one."""

    error: ApiError
    help: ErrorHelp

    @property
    def example(self) -> str:
        """Return the body as indented JSON."""
        return json.dumps(_body(self.error), indent=2)

    @property
    def texts(self) -> list[tuple[str, SafeString]]:
        """Return the cause, the remedy and whether to retry, each with its label, as HTML."""
        named = ("Cause", self.help.cause), ("Remedy", self.help.remedy), ("Retry", str(self.help.retry))
        return [(label, _with_code(text)) for label, text in named]


def entries() -> list[Entry]:
    """Return every error of the catalogue, by status."""
    return [
        Entry(kind(param=HELP[kind].param, details=HELP[kind].details), HELP[kind])
        for kind in sorted(CATALOGUE.values(), key=lambda kind: kind.default_status)
    ]


def page(request: HttpRequest) -> HttpResponse:
    """Show all errors on one public page, with an anchor for each code."""
    return HttpResponse(
        _rendered(settings.GATEWAY_BASE_URL), headers={"Cache-Control": f"public, max-age={MAX_AGE_SECONDS}"}
    )


@cache
def _rendered(base_url: str) -> str:
    """Render the page without the request, so that nothing of a session is in it."""
    listed = groupby(entries(), key=lambda entry: entry.error.status)
    return render_to_string("errors.html", {"statuses": [(status, list(group)) for status, group in listed]})


def _body(error: ApiError) -> dict[str, Any]:
    return error.oauth_body(REQUEST_ID) if type(error) in FOR_TOKEN_ROUTES else error.body(REQUEST_ID)


def _with_code(text: str) -> SafeString:
    """Render a text with its `code` marked."""
    return format_html_join("", "{}", ((part,) for part in _parts(text)))


def _parts(text: str) -> Iterator[str]:
    for number, part in enumerate(text.split("`")):
        yield format_html("<code>{}</code>", part) if number % 2 else part
