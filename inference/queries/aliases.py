"""Reads of aliases and raw models as rows; calls use the catalogue's snapshot instead."""

from inference.models import Alias, RawModel


def enabled_names() -> list[str]:
    """Return the names of the enabled aliases."""
    return list(Alias.objects.filter(enabled=True).values_list("name", flat=True))


def named(name: str) -> Alias | RawModel | None:
    """Return the alias or raw model with a name."""
    return Alias.objects.filter(name=name).first() or RawModel.objects.filter(model=name).first()
