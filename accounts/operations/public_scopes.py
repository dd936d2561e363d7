"""Which scopes a browser can be granted now: the fixed ones, and `infer:` of every alias that is enabled."""

from collections.abc import Callable, Iterable

from accounts.rules import public_scopes

AliasSource = Callable[[], Iterable[str]]
_sources: list[AliasSource] = []


def register_aliases(source: AliasSource) -> None:
    """Register a function that lists the enabled aliases. Apps above this one call it at start-up."""
    _sources.append(source)


def grantable() -> frozenset[str]:
    """List every scope that a public client can be granted now."""
    return public_scopes.grantable(alias for source in _sources for alias in source())
