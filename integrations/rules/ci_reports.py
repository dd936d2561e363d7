"""What a CI provider's webhook says of a run, whatever its format, and how its members are read."""

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
    """A signed delivery that has not the shape of its format; the text names the member at fault."""


@dataclass(frozen=True, slots=True)
class CIReport:
    """A run as a delivery describes it. `order` is where the delivery stands among those of the run; times are aware;
    `steps` is None where the delivery says nothing of them."""

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

    @property
    def order(self) -> tuple[int, int, int]:
        """Return what grows from delivery to delivery; within one second a later status comes after an earlier one."""
        return (self.attempt, self.position, _RANKS[self.status])


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step of a run. `run` is what the delivery says about the run itself; it is used if no earlier delivery
    described the run."""

    run: CIReport
    step: dict[str, Any]


def order_of(attempt: int, position: int, status: str) -> tuple[int, int, int]:
    """Return the order of what is stored, to be compared with a report's."""
    return (attempt, position, _RANKS[status])


def with_step(steps: Sequence[dict[str, Any]], step: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a run's steps with one that was reported, by name; an older report of it, and one too many, change nothing.

    Deliveries in any order give the same steps, in the order in which they started.
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
    """Name what is unreadable in a member by its path from the body, such as `steps.0.name`."""
    try:
        yield
    except UnreadableCIReport as error:
        raise UnreadableCIReport(f"{name}.{error}") from None


def object_of(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a member that is an object, or raise UnreadableCIReport."""
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
    """Return a web address, empty where there is none, or raise UnreadableCIReport."""
    value = text_of(body, name, default="", most=URL_MAX_CHARACTERS)
    try:
        is_web = not value or urlsplit(value).scheme in ("https", "http")
    except ValueError:
        is_web = False
    if not is_web:
        raise UnreadableCIReport(name)
    return value


def time_of(body: Mapping[str, Any], name: str) -> datetime | None:
    """Return an aware time, None where there is none, or raise UnreadableCIReport."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise UnreadableCIReport(name)
    return moment_of(value, name)


def moment_of(value: str, name: str = "time") -> datetime:
    """Return an aware time of ISO 8601, or raise UnreadableCIReport with `name`."""
    try:
        moment = datetime.fromisoformat(value)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise UnreadableCIReport(name) from None
    if moment.tzinfo is None:
        raise UnreadableCIReport(name)
    return moment
