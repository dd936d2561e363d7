"""The gateway's own format of CI webhooks. See docs/ci.md."""

from collections.abc import Mapping
from typing import Any

from gateway.core.api.times import rfc3339_or_none
from integrations.rules.ci_reports import (
    COMMIT_MAX_CHARACTERS,
    FINISHED,
    STATUSES,
    STEP_STATUSES,
    STEPS_MAX,
    CIReport,
    UnreadableCIReport,
    count_of,
    inside,
    moment_of,
    text_of,
    time_of,
    url_of,
)


def read_generic(body: Mapping[str, Any]) -> CIReport:
    """Parse a delivery, or raise UnreadableCIReport."""
    status = body.get("status")
    if status not in STATUSES:
        raise UnreadableCIReport("status")
    steps = [_step(f"steps.{number}", step) for number, step in enumerate(_steps(body))]
    finished = [step["finishedAt"] for step in steps if step["finishedAt"]]
    return CIReport(
        repository=text_of(body, "repository"),
        external_id=text_of(body, "externalId"),
        ref=text_of(body, "ref"),
        commit=text_of(body, "commit", most=COMMIT_MAX_CHARACTERS),
        status=status,
        url=url_of(body, "url"),
        steps=steps,
        attempt=1,
        position=count_of(body, "sequence"),
        created_at=None,
        finished_at=max(map(moment_of, finished), default=None) if status in FINISHED else None,
        is_numbered=True,
    )


def _steps(body: Mapping[str, Any]) -> list[Any]:
    steps = body.get("steps", [])
    if not isinstance(steps, list) or len(steps) > STEPS_MAX:
        raise UnreadableCIReport("steps")
    return steps


def _step(where: str, sent: Any) -> dict[str, Any]:
    if not isinstance(sent, dict):
        raise UnreadableCIReport(where)
    with inside(where):
        if sent.get("status") not in STEP_STATUSES:
            raise UnreadableCIReport("status")
        times = {name: time_of(sent, name) for name in ("startedAt", "finishedAt")}
        stated = {name: rfc3339_or_none(moment) for name, moment in times.items()}
        return {"name": text_of(sent, "name"), "status": sent["status"], **stated}
