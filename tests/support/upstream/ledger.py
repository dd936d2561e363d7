"""The fake upstream's own record of every request and the work done for it."""

import itertools
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.support.upstream.stream import dumps


@dataclass(slots=True)
class Entry:
    """One request in the upstream's records. Token counts are the truth, whatever usage reported."""

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
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    service_tier: Any = None
    status: int | None = None
    planned_tokens: int = 0
    """The tokens of the complete output, over all its choices."""
    completion_tokens: int = 0
    """The tokens really sent, without those prevented by a cut, a hang or a disconnected peer."""
    outcome: str = "open"
    """open, complete, refused, cut, hung, left (the peer went away before the end)."""
    left_after_tokens: int | None = None
    finish_reason: str | None = None
    reported_usage: Any = None
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    """The request's headers of the vendor of the Messages API."""

    @property
    def caller_key(self) -> str | None:
        """Return the caller's own key of this request, from whichever header it was sent in."""
        return self.idempotency_key or self.client_request_id


class Ledger:
    """Every received request, in order."""

    def __init__(self, *, keep_bodies: bool = True) -> None:
        self.keep_bodies = keep_bodies
        self.entries: list[Entry] = []
        self._ids = itertools.count(1)

    def new_id(self, prefix: str) -> str:
        """Create an id that is easy to find if it leaks."""
        return f"{prefix}-upstream-{next(self._ids):08d}"

    def add(self, entry: Entry) -> Entry:
        """Add a request and return it, so that its outcome can be filled in."""
        self.entries.append(entry)
        return entry

    def clear(self) -> None:
        """Remove every request."""
        self.entries.clear()

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self.entries))

    def repeated_keys(self) -> list[str]:
        """List callers' keys for which work was done more than once."""
        served: dict[str, int] = {}
        for entry in self.entries:
            if entry.caller_key and entry.completion_tokens:
                served[entry.caller_key] = served.get(entry.caller_key, 0) + 1
        return [key for key, times in served.items() if times > 1]

    def render(self, *, after: int = 0) -> bytes:
        """Serialize the entries from index `after` on, with totals over all of them."""
        totals = {
            "requests": len(self.entries),
            "prompt_tokens": sum(entry.prompt_tokens for entry in self.entries),
            "completion_tokens": sum(entry.completion_tokens for entry in self.entries),
        }
        data = [asdict(entry) for entry in self.entries[after:]]
        return dumps({"totals": totals, "data": data})
