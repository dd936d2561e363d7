"""Decides when a process that ended is started again."""

import signal
from dataclasses import dataclass

PAUSES_SECONDS = (0.0, 0.5, 1.0, 2.0, 4.0)
SETTLED_SECONDS = 20.0


@dataclass(slots=True)
class Restarts:
    """The starts of one process. Times are those of `time.monotonic`."""

    started_at: float = 0.0
    due_at: float = 0.0
    failures: int = 0

    def ended(self, code: int, now: float) -> bool:
        """Set when the next start is due after an exit code; return False if the process keeps failing.

        A process that was killed from outside is always restarted; one that repeatedly exits by itself soon after its
        start is not.
        """
        is_excused = code == -signal.SIGKILL or now - self.started_at > SETTLED_SECONDS
        self.failures = 0 if is_excused else self.failures + 1
        if self.failures >= len(PAUSES_SECONDS):
            return False
        self.due_at = now + PAUSES_SECONDS[self.failures]
        return True


def describe(code: int) -> str:
    """Describe how a process ended."""
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
