"""A whole answer in no form's words."""

from dataclasses import dataclass
from enum import Enum

from inference.translation.items import Item
from inference.translation.usage import Usage


class MalformedAnswer(Exception):
    """An answer, or an event of a stream, that has not the shape of its form."""


class End(Enum):
    """Why an answer ended."""

    DONE = "done"
    LIMIT = "limit"
    FILTER = "filter"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model answered. `usage` is None where the upstream gave none."""

    items: tuple[Item, ...]
    end: End
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class Head:
    """Under which id, model and time of creation (Unix seconds) an answer is given."""

    id: str
    model: str
    created: int

    @property
    def unique(self) -> str:
        """Return the part of the id that no other answer has."""
        return self.id[-26:]

    def call_id(self, index: int) -> str:
        """Return the id of the answer's call of this index, from 0: upstreams take at most 40 characters for one."""
        return f"call_{self.unique}_0_{index}"
