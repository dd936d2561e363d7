"""A circuit breaker per deployment. Times are seconds of a monotonic clock."""

from dataclasses import dataclass

FAILURES_MAX = 3
"""The number of consecutive failures that open the breaker; a success resets the count."""

ASIDE_MIN_SECONDS = 1.0
ASIDE_MAX_SECONDS = 60.0
PROBE_SECONDS = 30.0
"""The time after which an unfinished probe no longer prevents others."""


@dataclass(slots=True)
class Breaker:
    """One deployment's breaker in one process: closed, open, or half open with one probe in progress."""

    failures: int = 0
    times_aside: int = 0
    aside_until: float = 0.0
    probing_until: float = 0.0

    def is_open(self, now: float) -> bool:
        """Return whether the breaker is open, or another call is probing the deployment."""
        return now < self.aside_until or now < self.probing_until

    def available_at(self) -> float:
        """Return when the deployment may be tried again."""
        return max(self.aside_until, self.probing_until)

    def chosen(self, now: float) -> None:
        """Record that a call uses the deployment: the first one after the open time is the only probe."""
        if self.times_aside and not self.is_open(now):
            self.probing_until = now + PROBE_SECONDS

    def succeeded(self) -> None:
        """Reset the failures."""
        self.failures = self.times_aside = 0
        self.aside_until = self.probing_until = 0.0

    def failed(self, now: float, wait_seconds: float | None = None) -> None:
        """Count a failure. One with its own wait time, and every failed probe, opens the breaker at once."""
        self.failures += 1
        self.probing_until = 0.0
        if wait_seconds or self.times_aside or self.failures >= FAILURES_MAX:
            self._set_aside(now, wait_seconds or 0.0)

    def probed(self) -> None:
        """Allow the next call to probe: this one is still running, or was given up without a result."""
        self.probing_until = 0.0

    def _set_aside(self, now: float, wait_seconds: float) -> None:
        backoff = ASIDE_MIN_SECONDS * 2 ** min(self.times_aside, 10)
        self.aside_until = now + min(max(backoff, wait_seconds), ASIDE_MAX_SECONDS)
        self.times_aside += 1
