"""Reads of aliases as rows; calls use the catalogue's snapshot instead."""

from inference.models import Alias


def enabled_names() -> list[str]:
    """Name the aliases that are enabled now."""
    return list(Alias.objects.filter(enabled=True).values_list("name", flat=True))
