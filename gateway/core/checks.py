"""Start-up checks: the gateway refuses to start if an API action declares no access, and warns if no proxy is
configured."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register

from gateway.core.api.access import declared_access
from gateway.core.api.url_map import actions


@register()
def every_action_declares_its_access(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Refuse a route whose action lacks `@requires`, `@authenticated_only` or `@public`."""
    return [
        Error(f"{view_class.__name__}.{action} declares no access.", id="gateway.E001")
        for view_class, action in actions()
        if declared_access(view_class, action) is None
    ]


@register()
def visitors_have_their_own_addresses(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Warn if a proxy terminates TLS, as it must in production, but none is trusted to report client addresses."""
    if settings.TRUSTED_PROXIES or not settings.SESSION_COOKIE_SECURE:
        return []
    message = "TRUSTED_PROXIES is empty: all visitors appear to have the proxy's address and share its sign-in limits."
    return [checks.Warning(message, hint="Add the proxy's address or network.", id="gateway.W001")]
