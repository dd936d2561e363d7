"""Origins that have sent something out of turn. Their connections are used for one call each.

HTTP/1.1 does not say which request a response belongs to. If an origin sends one response too many, and it arrives at the moment
of the next request, it is taken for that request's: another customer gets it. On a connection that carries one request only,
there is no other request.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from yarl import URL

DISTRUST_SECONDS = 24 * 3600.0
REPORT_SECONDS = 60.0
"""How often an origin that goes on is reported again, so that its day begins anew."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What all processes know about an origin, in Unix seconds: when it was last out of turn, and when an operator last allowed
    its connections to be reused."""

    seen_at: float
    trusted_at: float = 0.0


_UNKNOWN = Sign(0.0)


class Distrust:
    """What one process knows. What it sees itself counts at once; `learn` adds what the others have seen. `is_any`: an origin may be
    covered, a quick check for each call. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._seen: dict[str, float] = {}
        self._reported: dict[str, float] = {}
        self._signs: Mapping[str, Sign] = {}
        self.is_any = False
        self._report: Callable[[str], None] = lambda origin: None

    def notify(self, report: Callable[[str], None]) -> None:
        """Call `report` with each origin that this process sees out of turn. It must not block."""
        self._report = report

    def see(self, origin: str) -> None:
        """Record that an origin is out of turn now."""
        now, was_covered = self._clock(), self.covers(origin)
        self._seen[origin] = now
        self.is_any = True
        if not was_covered or now - self._reported.get(origin, 0.0) >= REPORT_SECONDS:
            self._reported[origin] = now
            self._report(origin)

    def learn(self, signs: Mapping[str, Sign]) -> None:
        """Replace what all processes know."""
        self._signs = signs
        if signs:  # never reset: another thread may have seen one meanwhile
            self.is_any = True

    def covers(self, origin: str) -> bool:
        """Return whether an origin's connections are used once each: for a day, or until an operator decides otherwise."""
        sign = self._signs.get(origin, _UNKNOWN)
        seen_at = max(self._seen.get(origin, 0.0), sign.seen_at)
        return seen_at > sign.trusted_at and self._clock() - seen_at < DISTRUST_SECONDS

    def forget(self) -> None:
        """Forget everything, as in a new process."""
        self._seen, self._reported, self._signs, self.is_any = {}, {}, {}, False


def origin_of(url: URL) -> str:
    """Return a URL's scheme, host and port: all that decides which pooled connections it may use."""
    return origin(url.scheme, url.raw_host or "", url.port)


def origin(scheme: str, host: str, port: int | None) -> str:
    """Build an origin from its parts. The port is always there, so that an origin has one form."""
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


distrust = Distrust()
"""The process's own."""
