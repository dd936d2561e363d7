"""Reads the URL map of the API: the actions with their addresses. The pages for people, which have none, are not imported for it."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from django.urls import URLPattern, URLResolver, get_resolver

from gateway.core.api.access import declared_access
from gateway.core.django_internals import Pages


def actions() -> Iterator[tuple[type, str]]:
    """List every viewset with the name of an action that has an address."""
    return ((view_class, action) for _, view_class, action in addresses())


def addresses() -> Iterator[tuple[str, type, str]]:
    """List the path of every action, as the URLconf writes it ("/v1/models/<path:model>"), with its viewset and name."""
    return iter(_all_addresses(get_resolver()))


def capabilities() -> frozenset[str]:
    """Return the capabilities that actions require."""
    declared = (declared_access(view_class, action) for view_class, action in actions())
    return frozenset(str(access.capability) for access in declared if access and access.capability)


@lru_cache(maxsize=1)
def _all_addresses(resolver: URLResolver) -> tuple[tuple[str, type, str], ...]:
    """Walk a URLconf once: it takes milliseconds, and each model that is listed asks for its routes."""
    return tuple(_addresses(resolver.url_patterns, "/"))


def _addresses(patterns: Sequence[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, type, str]]:
    for pattern in patterns:
        path = f"{prefix}{pattern.pattern}"
        if isinstance(pattern, Pages):
            continue
        if isinstance(pattern, URLResolver):
            yield from _addresses(pattern.url_patterns, path)
            continue
        view_class, named = getattr(pattern.callback, "cls", None), getattr(pattern.callback, "actions", None)
        if view_class and named:
            yield from ((path, view_class, action) for action in named.values())
