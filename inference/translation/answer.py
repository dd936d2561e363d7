"""A complete answer, independent of the wire format."""

from dataclasses import dataclass
from enum import Enum

from inference.translation.items import Item
from inference.translation.usage import Usage


class End(Enum):
    """The reason why an answer ended."""

    DONE = "done"
    LIMIT = "limit"
    FILTER = "filter"


@dataclass(frozen=True, slots=True)
class Answer:
    """The model's answer. `usage` is None if the upstream sent none."""

    items: tuple[Item, ...]
    end: End
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class Head:
    """The id, model and creation time (Unix seconds) of an answer."""

    id: str
    model: str
    created: int

    @property
    def unique(self) -> str:
        """Return the part of the id that is unique to the answer."""
        return self.id[-26:]

    def call_id(self, index: int) -> str:
        """Return the id of the answer's call with this index, from 0; upstreams accept at most 40 characters."""
        return f"call_{self.unique}_0_{index}"
