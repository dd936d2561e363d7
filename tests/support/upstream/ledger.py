"""What the fake upstream remembers of every request: its own account of the work it did."""

import itertools
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.support.upstream.stream import dumps


@dataclass(slots=True)
class Entry:
    """One request as the upstream saw it. Token counts are the truth, whatever usage said."""

    id: str
    path: str
    model: str
    stream: bool
    prompt_tokens: int
    idempotency_key: str | None
    client_request_id: str | None
    authorization: str | None
    behaviour: str
    received_at: float = field(default_factory=time.time)
    cached_tokens: int = 0
    status: int | None = None
    planned_tokens: int = 0
    """What the whole answer would have been, over all its choices."""
    completion_tokens: int = 0
    """Really sent: what a cut, a hang or a leaving peer prevented is not in it."""
    outcome: str = "open"
    """open, complete, refused, cut, hung, left (the peer went away before the end)."""
    left_after_tokens: int | None = None
    finish_reason: str | None = None
    reported_usage: Any = None
    body: Any = None

    @property
    def caller_key(self) -> str | None:
        """Return the caller's own key of this request, by whichever header it sent it."""
        return self.idempotency_key or self.client_request_id


class Ledger:
    """Every request that arrived, in order of arrival."""

    def __init__(self, *, keep_bodies: bool = True) -> None:
        self.keep_bodies = keep_bodies
        self.entries: list[Entry] = []
        self._ids = itertools.count(1)

    def new_id(self, prefix: str) -> str:
        """Make an id of the upstream's own, easily found where it should not be."""
        return f"{prefix}-upstream-{next(self._ids):08d}"

    def add(self, entry: Entry) -> Entry:
        """Remember a request and return it, for its outcome to be filled in."""
        self.entries.append(entry)
        return entry

    def clear(self) -> None:
        """Forget every request."""
        self.entries.clear()

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self.entries))

    def repeated_keys(self) -> list[str]:
        """List callers' keys under which work was done more than once."""
        served: dict[str, int] = {}
        for entry in self.entries:
            if entry.caller_key and entry.completion_tokens:
                served[entry.caller_key] = served.get(entry.caller_key, 0) + 1
        return [key for key, times in served.items() if times > 1]

    def render(self, *, after: int = 0) -> bytes:
        """Serialise the entries from index `after` on, with totals over all of them."""
        totals = {
            "requests": len(self.entries),
            "prompt_tokens": sum(entry.prompt_tokens for entry in self.entries),
            "completion_tokens": sum(entry.completion_tokens for entry in self.entries),
        }
        data = [asdict(entry) for entry in self.entries[after:]]
        return dumps({"totals": totals, "data": data})
