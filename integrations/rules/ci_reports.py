"""What a CI provider's webhook says of a run, in either of two formats.

`workflow_run` is the public webhook of GitHub Actions (docs.github.com, Webhook events and payloads, workflow_run), which
other forges send as well. `generic` is this gateway's own: see docs/ci.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from gateway.core.api.times import rfc3339_or_none

STATUSES = ("queued", "running", "succeeded", "failed", "cancelled")
STEP_STATUSES = (*STATUSES, "skipped")
FINISHED = frozenset(STATUSES[2:])
STEPS_MAX = 1000
TEXT_MAX_CHARACTERS = 255
COMMIT_MAX_CHARACTERS = 64
URL_MAX_CHARACTERS = 2000
SEQUENCE_MAX = 2**63 - 1

_RANKS = {"queued": 0, "running": 1, **dict.fromkeys(FINISHED, 2)}
_OF_WORKFLOW_STATUS = {
    **dict.fromkeys(("queued", "requested", "waiting", "pending"), "queued"),
    "in_progress": "running",
}
_OF_CONCLUSION = {
    **dict.fromkeys(("success", "neutral", "skipped"), "succeeded"),
    **dict.fromkeys(("failure", "timed_out", "startup_failure", "action_required"), "failed"),
    **dict.fromkeys(("cancelled", "stale"), "cancelled"),
}


class UnreadableReport(ValueError):
    """A signed delivery that has not the shape of its format; the text names the member at fault."""


@dataclass(frozen=True, slots=True)
class Report:
    """A run as a delivery describes it. `order` is where the delivery stands among those of the run; times are aware."""

    repository: str
    external_id: str
    ref: str
    commit: str
    status: str
    url: str
    steps: list[dict[str, Any]]
    attempt: int
    position: int
    created_at: datetime | None
    finished_at: datetime | None

    @property
    def order(self) -> tuple[int, int, int]:
        """Return what grows from delivery to delivery; within one second a later status comes after an earlier one."""
        return (self.attempt, self.position, _RANKS[self.status])


def order_of(attempt: int, position: int, status: str) -> tuple[int, int, int]:
    """Return the order of what is stored, to be compared with a report's."""
    return (attempt, position, _RANKS[status])


def read_workflow_run(body: Mapping[str, Any]) -> Report:
    """Read a `workflow_run` delivery, or raise UnreadableReport."""
    run, repository = _object(body, "workflow_run"), _object(body, "repository")
    status, updated_at = _workflow_status(run), _time(run, "updated_at")
    if updated_at is None:
        raise UnreadableReport("workflow_run.updated_at")
    return Report(
        repository=_text(repository, "full_name"),
        external_id=str(_count(run, "id")),
        ref=_text(run, "head_branch", default=""),
        commit=_text(run, "head_sha", most=COMMIT_MAX_CHARACTERS),
        status=status,
        url=_url(run, "html_url"),
        steps=[],
        attempt=_count(run, "run_attempt", default=1, most=2**31 - 1),
        position=int(updated_at.timestamp() * 1_000_000),
        created_at=_time(run, "created_at"),
        finished_at=updated_at if status in FINISHED else None,
    )


def read_generic(body: Mapping[str, Any]) -> Report:
    """Read a delivery of the gateway's own format, or raise UnreadableReport."""
    status = body.get("status")
    if status not in STATUSES:
        raise UnreadableReport("status")
    steps = [_step(step) for step in _steps(body)]
    finished = [step["finishedAt"] for step in steps if step["finishedAt"]]
    return Report(
        repository=_text(body, "repository"),
        external_id=_text(body, "externalId"),
        ref=_text(body, "ref"),
        commit=_text(body, "commit", most=COMMIT_MAX_CHARACTERS),
        status=status,
        url=_url(body, "url"),
        steps=steps,
        attempt=1,
        position=_count(body, "sequence"),
        created_at=None,
        finished_at=max(map(_moment, finished), default=None) if status in FINISHED else None,
    )


READERS = {"workflow_run": read_workflow_run, "generic": read_generic}


def _workflow_status(run: Mapping[str, Any]) -> str:
    status = run.get("status")
    known = _OF_CONCLUSION.get(str(run.get("conclusion"))) if status == "completed" else None
    known = known or _OF_WORKFLOW_STATUS.get(str(status))
    if known is None:
        raise UnreadableReport("workflow_run.status")
    return known


def _steps(body: Mapping[str, Any]) -> list[Any]:
    steps = body.get("steps", [])
    if not isinstance(steps, list) or len(steps) > STEPS_MAX:
        raise UnreadableReport("steps")
    return steps


def _step(sent: Any) -> dict[str, Any]:
    if not isinstance(sent, dict) or sent.get("status") not in STEP_STATUSES:
        raise UnreadableReport("steps")
    times = {name: _time(sent, name) for name in ("startedAt", "finishedAt")}
    stated = {name: rfc3339_or_none(moment) for name, moment in times.items()}
    return {"name": _text(sent, "name"), "status": sent["status"], **stated}


def _object(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = body.get(name)
    if not isinstance(value, dict):
        raise UnreadableReport(name)
    return value


def _text(body: Mapping[str, Any], name: str, *, default: str | None = None, most: int = TEXT_MAX_CHARACTERS) -> str:
    value = body.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or not (value or default is not None) or len(value) > most or "\0" in value:
        raise UnreadableReport(name)
    return value


def _count(body: Mapping[str, Any], name: str, *, default: int | None = None, most: int = SEQUENCE_MAX) -> int:
    value = body.get(name, default)
    if type(value) is not int or not 0 <= value <= most:
        raise UnreadableReport(name)
    return value


def _url(body: Mapping[str, Any], name: str) -> str:
    value = _text(body, name, default="", most=URL_MAX_CHARACTERS)
    try:
        is_web = not value or urlsplit(value).scheme in ("https", "http")
    except ValueError:
        is_web = False
    if not is_web:
        raise UnreadableReport(name)
    return value


def _time(body: Mapping[str, Any], name: str) -> datetime | None:
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise UnreadableReport(name)
    return _moment(value, name)


def _moment(value: str, name: str = "time") -> datetime:
    try:
        moment = datetime.fromisoformat(value)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise UnreadableReport(name) from None
    if moment.tzinfo is None:
        raise UnreadableReport(name)
    return moment
