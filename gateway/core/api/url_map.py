"""Reads the URL map: which actions have an address."""

from collections.abc import Iterator, Sequence

from django.urls import URLPattern, URLResolver, get_resolver

from gateway.core.api.access import declared_access


def actions() -> Iterator[tuple[type, str]]:
    """List every viewset with the name of an action that has an address."""
    return _actions(get_resolver().url_patterns)


def capabilities() -> frozenset[str]:
    """Name the capabilities that some action needs."""
    declared = (declared_access(view_class, action) for view_class, action in actions())
    return frozenset(str(access.capability) for access in declared if access and access.capability)


def _actions(patterns: Sequence[URLPattern | URLResolver]) -> Iterator[tuple[type, str]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _actions(pattern.url_patterns)
            continue
        view_class, named = getattr(pattern.callback, "cls", None), getattr(pattern.callback, "actions", None)
        if view_class and named:
            yield from ((view_class, action) for action in named.values())
