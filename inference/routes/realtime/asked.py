"""The responses that were asked for, from the event that asks to the one that ends them."""

import secrets
from dataclasses import dataclass

from inference.routes.realtime.allowance import Asked


@dataclass(frozen=True, slots=True)
class Pending:
    """A `response.create` that the upstream has not answered. `event_id` is what the client called it; the gateway's own
    have none, and nobody is told of their errors."""

    asked: Asked | None
    event_id: str | None
    is_ours: bool


class Questions:
    """What is under way upstream. Events go there under ids that no client can guess: an error about another event must
    not free what was set aside for a response."""

    def __init__(self) -> None:
        self.pending: dict[str, Pending] = {}
        self.running: dict[str, Asked | None] = {}
        self.done: set[str] = set()

    def add(self, asked: Asked | None, event_id: str | None = None, *, is_ours: bool = False) -> str:
        """Note an event that is about to be sent, and return the id under which it goes."""
        ours = f"evt_{secrets.token_hex(12)}"
        self.pending[ours] = Pending(asked, event_id, is_ours)
        return ours

    def refused(self, event_id: object) -> Pending | None:
        """Take out the event that an error is about; None where it is about another."""
        return self.pending.pop(event_id, None) if isinstance(event_id, str) else None

    def oldest(self) -> Pending | None:
        """Take out the oldest question: responses begin in the order in which they were asked for."""
        first = next((event_id for event_id, each in self.pending.items() if each.asked), None)
        return self.pending.pop(first) if first else None

    @property
    def is_any(self) -> bool:
        """Return whether a response is asked for or in progress."""
        return bool(self.running) or any(each.asked for each in self.pending.values())
