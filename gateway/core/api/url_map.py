"""Reads the URL map: the actions with their addresses."""

from collections.abc import Iterator, Sequence

from django.urls import URLPattern, URLResolver, get_resolver

from gateway.core.api.access import declared_access


def actions() -> Iterator[tuple[type, str]]:
    """List every viewset with the name of an action that has an address."""
    return ((view_class, action) for _, view_class, action in addresses())


def addresses() -> Iterator[tuple[str, type, str]]:
    """List the path of every action, as the URLconf writes it ("/v1/models/<path:model>"), with its viewset and name."""
    return _addresses(get_resolver().url_patterns, "/")


def capabilities() -> frozenset[str]:
    """Return the capabilities that actions require."""
    declared = (declared_access(view_class, action) for view_class, action in actions())
    return frozenset(str(access.capability) for access in declared if access and access.capability)


def _addresses(patterns: Sequence[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, type, str]]:
    for pattern in patterns:
        path = f"{prefix}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _addresses(pattern.url_patterns, path)
            continue
        view_class, named = getattr(pattern.callback, "cls", None), getattr(pattern.callback, "actions", None)
        if view_class and named:
            yield from ((path, view_class, action) for action in named.values())
