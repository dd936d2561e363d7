"""Reads the URL map: every route under /v1 with its method, path and declared access."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

from gateway.core.api.access import Access, declared_access
from tests.contract.endpoints import MODEL, PUBLIC, TOKEN


class MappedRoute(NamedTuple):
    """One method of one path, as `Endpoint` writes it."""

    method: str
    path: str
    access: Access

    @property
    def needs(self) -> str:
        """Describe what the action declares in the words of the table."""
        if self.access.public:
            return PUBLIC
        if self.access.model:
            return MODEL
        return str(self.access.capability) if self.access.capability else TOKEN


def mapped_routes() -> list[MappedRoute]:
    """List what the URL map has under /v1."""
    return [route for route in _walk(get_resolver().url_patterns, "/") if route.path.startswith("/v1/")]


def _walk(patterns: Sequence[URLPattern | URLResolver], prefix: str) -> Iterator[MappedRoute]:
    for pattern in patterns:
        path = prefix + re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, path)
            continue
        view, actions = getattr(pattern.callback, "cls", None), getattr(pattern.callback, "actions", {})
        for method, action in actions.items():
            if method == "head":  # the framework adds it beside GET, with a route's first request
                continue
            access = declared_access(view, action) if view else None
            assert access is not None, f"{method} {path} declares no access"
            yield MappedRoute(method.upper(), path, access)
