"""Common types and parsers for the formats of CI webhooks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

STATUSES = ("queued", "running", "succeeded", "failed", "cancelled")
STEP_STATUSES = (*STATUSES, "skipped")
FINISHED = frozenset(STATUSES[2:])
STEPS_MAX = 1000
TEXT_MAX_CHARACTERS = 255
COMMIT_MAX_CHARACTERS = 64
URL_MAX_CHARACTERS = 2000
SEQUENCE_MAX = 2**63 - 1

_RANKS = {"queued": 0, "running": 1, **dict.fromkeys((*FINISHED, "skipped"), 2)}


class UnreadableCIReport(ValueError):
    """A signed delivery does not conform to its format. The text names the invalid member."""


@dataclass(frozen=True, slots=True)
class CIReport:
    """A run as a delivery describes it. `position` is the delivery's position among the attempt's, and `is_numbered` says
    whether no two share one. Times are aware. `steps` is None if the delivery does not contain them.
    """

    repository: str
    external_id: str
    ref: str
    commit: str
    status: str
    url: str
    steps: list[dict[str, Any]] | None
    attempt: int
    position: int
    created_at: datetime | None
    finished_at: datetime | None
    is_numbered: bool = False

    def is_later(self, attempt: int, position: int, status: str) -> bool:
        """Return whether it comes after the stored delivery. Of two with the same number, the first one stands. Within one
        second, the order is that of statuses.
        """
        if self.is_numbered or (self.attempt, self.position) != (attempt, position):
            return (self.attempt, self.position) > (attempt, position)
        return _RANKS[self.status] > _RANKS[status]


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step of a run. `run` is the delivery's description of the run, used if no earlier delivery described it."""

    run: CIReport
    step: dict[str, Any]


def with_step(steps: Sequence[dict[str, Any]], step: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a run's steps with a reported one inserted or replaced by name. An older report, or a step beyond the
    limit, is ignored.

    The result does not depend on the order of deliveries; steps are sorted by start time.
    """
    known = {each["name"]: each for each in steps}
    before = known.get(step["name"])
    if before is None and len(known) >= STEPS_MAX:
        return list(steps)
    if before is None or _step_order(before) < _step_order(step):
        known[step["name"]] = step
    return sorted(known.values(), key=lambda each: (each["startedAt"] is None, each["startedAt"], each["name"]))


def _step_order(step: Mapping[str, Any]) -> tuple[int, int]:
    return (step["attempt"], _RANKS[step["status"]])


@contextmanager
def inside(name: str) -> Iterator[None]:
    """Prefix the names of invalid members with their path, such as `steps.0.name`."""
    try:
        yield
    except UnreadableCIReport as error:
        raise UnreadableCIReport(f"{name}.{error}") from None


def object_of(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object, or raise UnreadableCIReport."""
    value = body.get(name)
    if not isinstance(value, dict):
        raise UnreadableCIReport(name)
    return value


def text_of(body: Mapping[str, Any], name: str, *, default: str | None = None, most: int = TEXT_MAX_CHARACTERS) -> str:
    """Return a text of at most `most` characters, or raise UnreadableCIReport."""
    value = body.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or not (value or default is not None) or len(value) > most or "\0" in value:
        raise UnreadableCIReport(name)
    return value


def count_of(body: Mapping[str, Any], name: str, *, default: int | None = None, most: int = SEQUENCE_MAX) -> int:
    """Return a whole number from 0 to `most`, or raise UnreadableCIReport."""
    value = body.get(name, default)
    if type(value) is not int or not 0 <= value <= most:
        raise UnreadableCIReport(name)
    return value


def url_of(body: Mapping[str, Any], name: str) -> str:
    """Return a web URL, or an empty string if there is none. Raises UnreadableCIReport."""
    value = text_of(body, name, default="", most=URL_MAX_CHARACTERS)
    try:
        is_web = not value or urlsplit(value).scheme in ("https", "http")
    except ValueError:
        is_web = False
    if not is_web:
        raise UnreadableCIReport(name)
    return value


def time_of(body: Mapping[str, Any], name: str) -> datetime | None:
    """Return an aware time, or None if there is none. Raises UnreadableCIReport."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise UnreadableCIReport(name)
    return moment_of(value, name)


def moment_of(value: str, name: str = "time") -> datetime:
    """Parse an ISO 8601 time with an offset. Raises UnreadableCIReport with `name`."""
    try:
        moment = datetime.fromisoformat(value)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise UnreadableCIReport(name) from None
    if moment.tzinfo is None:
        raise UnreadableCIReport(name)
    return moment
