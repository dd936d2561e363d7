"""The context for checking a row: the environment, and the names that the file or the database knows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ValidationInfo

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class Context:
    """`known` maps a kind (`products`, `upstreams`, …) to the names that a reference of that kind may use, or is None
    if the stored names are unavailable, so that any name may be right."""

    environment: Mapping[str, str] = field(repr=False)
    demo_allowed: bool
    known: Mapping[str, Names] | None

    def has(self, kind: str, name: str) -> bool:
        """Return whether a row of that kind exists, or will once the file is applied."""
        return self.known is None or name in self.known.get(kind, frozenset())


def context_of(info: ValidationInfo) -> Context:
    """Return the context that a validator runs in."""
    if not isinstance(info.context, Context):
        raise TypeError("validate configuration rows with their Context")
    return info.context
