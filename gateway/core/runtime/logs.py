"""Limits log records that untrusted clients can cause, or cause often."""

import logging
import re
import time
from collections.abc import Callable
from threading import Lock

REPEATED_AFTER_SECONDS = 60.0
CAUSES_MAX = 1000
"""The number of causes that one logger reports per minute; more are dropped, because clients can invent causes."""

LINE_MAX_CHARACTERS = 500

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class OneLine(logging.Filter):
    """Turns a record into a one-line warning without a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record, without its traceback."""
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class RecurringLog:
    """Writes one line per cause and minute. The next line says how many were left out. Thread-safe."""

    def __init__(self, name: str, level: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self._level, self._clock = logging.getLogger(name), level, clock
        self._logged: dict[str, tuple[float, int]] = {}
        self._lock = Lock()
        _all.append(self)

    def write(self, cause: str, text: str) -> None:
        """Write `text`, cut to one line, unless this cause was logged within the last minute."""
        with self._lock:
            left_out = self._left_out(cause, self._clock())
        if left_out is None:
            return
        line = _CONTROL.sub(" ", text)[:LINE_MAX_CHARACTERS]
        self._log.log(self._level, "%s%s", line, f" ({left_out} more since the last such line)" if left_out else "")

    def forget(self) -> None:
        """Forget all causes, as in a new process."""
        with self._lock:
            self._logged.clear()

    def _left_out(self, cause: str, now: float) -> int | None:
        """Return how often the cause was left out since it was last logged; None if it must not be logged yet."""
        logged_at, left_out = self._logged.get(cause, (None, 0))
        if logged_at is not None and now - logged_at < REPEATED_AFTER_SECONDS:
            self._logged[cause] = logged_at, left_out + 1
            return None
        if logged_at is None and len(self._logged) >= CAUSES_MAX:
            self._drop_old(now)
            if len(self._logged) >= CAUSES_MAX:
                return None
        self._logged[cause] = now, 0
        return left_out

    def _drop_old(self, now: float) -> None:
        self._logged = {
            cause: logged for cause, logged in self._logged.items() if now - logged[0] < REPEATED_AFTER_SECONDS
        }


_all: list[RecurringLog] = []


def forget() -> None:
    """Allow every cause to be logged again."""
    for each in _all:
        each.forget()
