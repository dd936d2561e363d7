"""Start-up checks of the accounts app."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def proofs_survive_failed_requests(app_configs: Sequence[AppConfig] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse ATOMIC_REQUESTS: rolling back a failed request would make its proof usable again."""
    if any(database.get("ATOMIC_REQUESTS") for database in settings.DATABASES.values()):
        return [Error("ATOMIC_REQUESTS would roll back the records of used DPoP proofs.", id="accounts.E001")]
    return []
