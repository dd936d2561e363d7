"""The option `routes`, which aliases, raw models and upstreams have."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from gateway.core.contract.aliases import Route


def check_routes(options: Mapping[str, Any]) -> None:
    """Refuse routes that do not exist: every process reads them."""
    routes = options.get("routes", [])
    if not isinstance(routes, list) or not set(map(str, routes)) <= set(Route):
        raise ValidationError(f"routes must be a list of any of these: {', '.join(Route)}.")
