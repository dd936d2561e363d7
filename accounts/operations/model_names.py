"""The models that a scope can name. The app that has them registers what names them at start-up, as it is above this one."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

Names = Callable[[], Collection[str]]


@dataclass(frozen=True, slots=True)
class ModelNames:
    """`known` names every model there is, `enabled` the aliases that are, `callable_now` those that can be called."""

    known: Names
    enabled: Names
    callable_now: Names


_registered = ModelNames(known=tuple, enabled=tuple, callable_now=tuple)


def register(names: ModelNames) -> None:
    """Name the models by these functions from now on."""
    global _registered  # noqa: PLW0603 - set once, at start-up
    _registered = names


def registered() -> ModelNames:
    """Return the functions that name the models."""
    return _registered
