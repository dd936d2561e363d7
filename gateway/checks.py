"""Start-up checks: an API action that declares no access keeps the gateway from starting."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, register
from django.urls import URLPattern, URLResolver, get_resolver

from gateway.api.access import declared_access


@register()
def every_action_declares_its_access(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Refuse a route whose action lacks `@requires`, `@authenticated_only` or `@public`."""
    return [
        Error(f"{view_class.__name__}.{action} declares no access.", id="gateway.E001")
        for view_class, action in _actions(get_resolver().url_patterns)
        if declared_access(view_class, action) is None
    ]


def _actions(patterns: Sequence[URLPattern | URLResolver]) -> Iterator[tuple[type, str]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _actions(pattern.url_patterns)
            continue
        view_class, actions = getattr(pattern.callback, "cls", None), getattr(pattern.callback, "actions", None)
        if view_class and actions:
            yield from ((view_class, action) for action in actions.values())
