"""When a deployment that fails is left alone, and when it is tried again. Times are seconds of one steady clock."""

from dataclasses import dataclass

FAILURES_MAX = 3
"""This many failures in a row set a deployment aside; a success in between resets the count."""

ASIDE_MIN_SECONDS = 1.0
ASIDE_MAX_SECONDS = 60.0
PROBE_SECONDS = 30.0
"""A probe that has not come back by then no longer keeps others from trying."""


@dataclass(slots=True)
class Breaker:
    """One deployment's recent history in one process: closed, set aside, or half open with one probe in progress."""

    failures: int = 0
    times_aside: int = 0
    aside_until: float = 0.0
    probing_until: float = 0.0

    def is_open(self, now: float) -> bool:
        """Return whether the deployment is set aside, or being probed by somebody else."""
        return now < self.aside_until or now < self.probing_until

    def comes_back_at(self) -> float:
        """Return when the deployment may be tried again."""
        return max(self.aside_until, self.probing_until)

    def chosen(self, now: float) -> None:
        """Note that a call goes there: the first one after a time aside is a probe, and alone."""
        if self.times_aside and not self.is_open(now):
            self.probing_until = now + PROBE_SECONDS

    def succeeded(self) -> None:
        """Forget every failure."""
        self.failures = self.times_aside = 0
        self.aside_until = self.probing_until = 0.0

    def failed(self, now: float, wait_seconds: float | None = None) -> None:
        """Count a failure. One that names its own wait, and every failed probe, sets the deployment aside at once."""
        self.failures += 1
        self.probing_until = 0.0
        if wait_seconds or self.times_aside or self.failures >= FAILURES_MAX:
            self._set_aside(now, wait_seconds or 0.0)

    def probed(self) -> None:
        """Allow the next call to probe: this one is not over yet, or was given up before anything was learned."""
        self.probing_until = 0.0

    def _set_aside(self, now: float, wait_seconds: float) -> None:
        backoff = ASIDE_MIN_SECONDS * 2 ** min(self.times_aside, 10)
        self.aside_until = now + min(max(backoff, wait_seconds), ASIDE_MAX_SECONDS)
        self.times_aside += 1
