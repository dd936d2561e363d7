"""What the gateway uses of Django's private and undocumented names, which any release may change (docs/decisions/0065)."""

import smtplib
from collections.abc import Callable, Sequence
from typing import Any

from django.core.mail.backends import smtp
from django.db import connection
from django.db.backends.postgresql import base
from django.db.models import Model, UniqueConstraint
from django.db.models.query_utils import DeferredAttribute
from django.urls import ResolverMatch, URLPattern, URLResolver
from django.urls.resolvers import RegexPattern, RoutePattern


class FieldAttribute(DeferredAttribute):
    """The attribute of a model's field in a row. A field replaces it by a subclass, named `descriptor_class`."""

    field: Any


class Pages(URLResolver):
    """The URLs of a module that is imported when the first path is not found before them, or the first address is built."""


class PostgresWrapper(base.DatabaseWrapper):
    """Django's PostgreSQL backend. It tells of new connections. `pool` has them, if they are pooled."""

    pool: Any

    def opened(self, connection: Any) -> None:
        """Hook: a connection was opened, perhaps by the pool, and is configured next. Raises to refuse it."""

    def get_connection_params(self) -> dict[str, Any]:
        """Hook: return libpq's parameters."""
        params: dict[str, Any] = super().get_connection_params()
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Hook: open a connection, or take one of the pool."""
        return super().get_new_connection(conn_params)

    def _configure_connection(self, connection: Any) -> bool:
        self.opened(connection)
        return bool(super()._configure_connection(connection))  # type: ignore[misc]


class SmtpBackend(smtp.EmailBackend):
    """Django's SMTP backend. `begun` is its last connection, which it has from before the server's greeting on."""

    begun: smtplib.SMTP | None = None

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        backend = self
        kind: Any = super().connection_class

        class Begun(kind):
            def connect(self, *args: Any, **kwargs: Any) -> Any:
                backend.begun = self
                return super().connect(*args, **kwargs)

        return Begun


def condition_of(rule: UniqueConstraint, model: type[Model]) -> str:
    """Return the condition of a partial unique index in SQL, empty if it has none."""
    return rule._get_condition_sql(model, connection.schema_editor()) or ""  # type: ignore[attr-defined]  # noqa: SLF001


def resolver_of(patterns: Sequence[URLPattern]) -> Callable[[str], ResolverMatch]:
    """Return a function that finds the pattern of a path, or raises Resolver404."""
    return URLResolver(RegexPattern(r"^/"), list(patterns)).resolve


def pages(module: str, *, prefix: str = "", namespace: str | None = None) -> Pages:
    """Include a module of URLs, as `django.urls.include` does, without importing it."""
    return Pages(RoutePattern(prefix), module, app_name=namespace, namespace=namespace)
