"""The shared state of a session's two directions, and the responses that are requested: from the event that requests one to the
one that ends it."""

import secrets
from dataclasses import dataclass, field

from inference.routes.realtime.allowance import Allowance, Requested
from inference.routes.realtime.bound import BoundedSession
from inference.routes.realtime.ids import Ids
from inference.routes.realtime.settings import Settings
from inference.routes.realtime.tally import Tally


@dataclass(frozen=True, slots=True)
class Pending:
    """A `response.create` that the upstream has not answered yet. `event_id` is the client's own id for it; the
    gateway's own requests have none, and their errors are not forwarded."""

    requested: Requested | None
    event_id: str | None
    is_ours: bool


class Questions:
    """The requests in progress upstream. Events are sent with ids that clients cannot guess: an error about another
    event must not release what was set aside for a response."""

    def __init__(self) -> None:
        self.pending: dict[str, Pending] = {}
        self.running: dict[str, Requested | None] = {}
        self.done: set[str] = set()

    def add(self, requested: Requested | None, event_id: str | None = None, *, is_ours: bool = False) -> str:
        """Record an event that is about to be sent, and return the id to send it with."""
        ours = f"evt_{secrets.token_hex(12)}"
        self.pending[ours] = Pending(requested, event_id, is_ours)
        return ours

    def refused(self, event_id: object) -> Pending | None:
        """Remove and return the event that an error refers to; None if it refers to another."""
        return self.pending.pop(event_id, None) if isinstance(event_id, str) else None

    def oldest(self) -> Pending | None:
        """Remove and return the oldest request: responses start in the order of their requests."""
        first = next((event_id for event_id, each in self.pending.items() if each.requested), None)
        return self.pending.pop(first) if first else None

    @property
    def is_any(self) -> bool:
        """Return whether a response is requested or in progress."""
        return bool(self.running) or any(each.requested for each in self.pending.values())


@dataclass
class State:
    """One session. `id` is the gateway's own."""

    id: str
    usage_id: str
    bounded: BoundedSession
    settings: Settings
    tally: Tally = field(default_factory=Tally)
    questions: Questions = field(default_factory=Questions)
    ids: Ids = field(default_factory=Ids)
    allowance: Allowance = field(init=False)

    def __post_init__(self) -> None:
        self.allowance = Allowance(self.bounded, self.tally)

    @property
    def is_busy(self) -> bool:
        """Return whether reports of the upstream are pending."""
        return self.questions.is_any or bool(self.tally.open) or bool(self.allowance.transcribing)

    @property
    def is_complete(self) -> bool:
        """Return whether all usage has been reported."""
        return self.tally.is_whole and not self.is_busy
