"""Validates the option `routes` of aliases, raw models and upstreams."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from gateway.core.contract.aliases import Route


def check_routes(options: Mapping[str, Any]) -> None:
    """Refuse unknown routes, because every process reads them."""
    routes = options.get("routes", [])
    if not isinstance(routes, list) or not set(map(str, routes)) <= set(Route):
        raise ValidationError(f"routes must be a list of any of these: {', '.join(Route)}.")
