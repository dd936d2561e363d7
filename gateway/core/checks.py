"""Start-up checks: the gateway refuses to start if an API action declares no access, and warns if no proxy is configured, or if a
library was not tested in its installed version. `migrate` refuses a database to which only some of the migrations that one replaces
were applied."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from gateway.core.api.access import declared_access
from gateway.core.api.url_map import actions
from gateway.core.runtime import tested_versions


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


@register()
def libraries_have_tested_versions(app_configs: Sequence[AppConfig] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Warn of each library whose internals are used, and which is installed in a version that was not tested."""
    return [
        checks.Warning(difference, hint=tested_versions.HINT, id="gateway.W002")
        for difference in tested_versions.differences()
    ]


@register(Tags.database)
def replaced_migrations_are_applied_together(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Refuse a database that lacks some of the migrations which one of this version replaces, but not all of them.

    Django would take the replacing migration for one that does not exist, and leave its tables out.
    """
    return [
        Error(
            f"The database is between two versions (migrations of {', '.join(apps)}). Migrate it with a version that has "
            "billing.0021_ledger_months, then with this one (docs/upgrading.md).",
            id="gateway.E002",
        )
        for database in databases or ()
        if (apps := _apps_between(MigrationRecorder(connections[database])))
    ]


def _apps_between(recorder: MigrationRecorder) -> list[str]:
    """Return the apps of which some, and not all, of a replacing migration's former ones were applied."""
    applied = recorder.applied_migrations().keys()
    return sorted(
        {
            key[0]
            for key, migration in MigrationLoader(None).replacements.items()
            if not applied.isdisjoint({key, *migration.replaces}) and not applied >= set(migration.replaces)
        }
    )
