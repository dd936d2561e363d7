"""The names that a reference may use: those of the file, even of rows with other errors, and the stored ones."""

from collections.abc import Mapping
from typing import Any

from accounts.models import Integration, Product, PublicClient
from gateway.config.context import Names
from gateway.core.contract.aliases import ALIAS_ROUTES
from inference.models import Alias, RawModel, Upstream
from integrations.models import Project


def known_names(value: Mapping[str, Any]) -> dict[str, Names]:
    """Collect the names of every kind that can be referenced."""
    aliases = _named(value, "aliases", "name") | _stored(Alias, "name")
    raw_models = _named(value, "raw_models", "model") | _stored(RawModel, "model")
    return {
        "products": _named(value, "products", "slug") | _stored(Product, "slug"),
        "integrations": _named(value, "integrations", "issuer") | _stored(Integration, "issuer"),
        "upstreams": _named(value, "upstreams", "name") | _stored(Upstream, "name"),
        "aliases": aliases,
        "projects": _named(value, "projects", "key") | _stored(Project, "key"),
        "models": aliases | raw_models | frozenset(ALIAS_ROUTES),
    }


def is_configured() -> bool:
    """Return whether a file or the console has set up products, clients or models."""
    return any(model.objects.exists() for model in (Product, Integration, PublicClient, Upstream, Alias, RawModel))


def _named(value: Mapping[str, Any], section: str, key: str) -> Names:
    """Read the names of a section that is not checked yet."""
    rows = value.get(section)
    names = [row.get(key) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return frozenset(name for name in names if isinstance(name, str))


def _stored(model: Any, column: str) -> Names:
    return frozenset(model.objects.values_list(column, flat=True))
