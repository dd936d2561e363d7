"""Every address of the URLconf, with ids that exist where it takes any."""

import re
from collections.abc import Iterator
from functools import cache

from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

_PARAMETER = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")
_GROUP = re.compile(r"\(\?P<([a-z_0-9]+)>[^()]*(?:\([^()]*\)[^()]*)*\)")


@cache
def templates() -> tuple[str, ...]:
    """List every path, its parameters in braces: `/v1/organizations/{org_id}`."""
    return tuple(dict.fromkeys(_walk(get_resolver().url_patterns, "/")))


def parameters_of(template: str) -> list[str]:
    """Name the parameters of a path."""
    return re.findall(r"\{([a-z_0-9]+)\}", template)


def _walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
    for pattern in patterns:
        path = prefix + _template(pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, path)
        else:
            yield path


def _template(pattern: URLPattern | URLResolver) -> str:
    route = str(pattern.pattern)
    if isinstance(pattern.pattern, RoutePattern):
        return _PARAMETER.sub(r"{\1}", route)
    return _GROUP.sub(r"{\1}", route).removeprefix("^").removesuffix("$").removesuffix("\\Z").replace("\\", "")
