"""Lists the models that scopes can name. The inference app, which this app must not import, registers the functions at
start-up.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

Names = Callable[[], Collection[str]]


@dataclass(frozen=True, slots=True)
class ModelNames:
    """Functions that list models: `known` lists all, `enabled` the enabled aliases, `callable_now` those that can be
    called now.
    """

    known: Names
    enabled: Names
    callable_now: Names


_registered = ModelNames(known=tuple, enabled=tuple, callable_now=tuple)


def register(names: ModelNames) -> None:
    """Register the functions that list the models."""
    global _registered  # noqa: PLW0603 - set once, at start-up
    _registered = names


def registered() -> ModelNames:
    """Return the registered functions."""
    return _registered
