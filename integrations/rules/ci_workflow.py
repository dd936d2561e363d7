"""Parses the webhooks `workflow_run` and `workflow_job` of GitHub Actions and compatible forges.

Source: docs.github.com, Webhook events and payloads. A job of the workflow is a step of the run.
"""

from collections.abc import Mapping
from typing import Any

from gateway.core.api.times import rfc3339_or_none
from integrations.rules.ci_reports import (
    COMMIT_MAX_CHARACTERS,
    FINISHED,
    CIReport,
    StepReport,
    UnreadableCIReport,
    count_of,
    inside,
    object_of,
    text_of,
    time_of,
    url_of,
)

ATTEMPT_MAX = 2**31 - 1

_OF_STATUS = {
    **dict.fromkeys(("queued", "requested", "waiting", "pending"), "queued"),
    "in_progress": "running",
}
_OF_CONCLUSION = {
    **dict.fromkeys(("success", "neutral", "skipped"), "succeeded"),
    **dict.fromkeys(("failure", "timed_out", "startup_failure", "action_required"), "failed"),
    **dict.fromkeys(("cancelled", "stale"), "cancelled"),
}


def read_workflow_run(body: Mapping[str, Any]) -> CIReport:
    """Parse a `workflow_run` delivery, or raise UnreadableCIReport."""
    run, repository = object_of(body, "workflow_run"), _repository(body)
    with inside("workflow_run"):
        status, updated_at = _status(run), time_of(run, "updated_at")
        if updated_at is None:
            raise UnreadableCIReport("updated_at")
        return CIReport(
            repository=repository,
            external_id=str(count_of(run, "id")),
            url=url_of(run, "html_url"),
            steps=None,
            status=status,
            position=int(updated_at.timestamp() * 1_000_000),
            finished_at=updated_at if status in FINISHED else None,
            **_source(run),
        )


def read_workflow_job(body: Mapping[str, Any]) -> StepReport | None:
    """Parse a `workflow_job` delivery; return None if it has no job, as for other events. Raises UnreadableCIReport.

    Its description of the run orders before all deliveries about the run itself.
    """
    if "workflow_job" not in body:
        return None
    job, repository = object_of(body, "workflow_job"), _repository(body)
    with inside("workflow_job"):
        status = _status(job)
        run = CIReport(
            repository=repository,
            external_id=str(count_of(job, "run_id")),
            url="",
            steps=None,
            status="queued" if status == "queued" else "running",
            position=0,
            finished_at=None,
            **_source(job),
        )
        return StepReport(run, _step(job, status, run.attempt))


def _step(job: Mapping[str, Any], status: str, attempt: int) -> dict[str, Any]:
    """Convert a job to a step of its run."""
    times = {"startedAt": time_of(job, "started_at"), "finishedAt": time_of(job, "completed_at")}
    return {
        "name": text_of(job, "name"),
        "status": "skipped" if job.get("conclusion") == "skipped" else status,
        **{name: rfc3339_or_none(moment) for name, moment in times.items()},
        "attempt": attempt,
    }


def _repository(body: Mapping[str, Any]) -> str:
    repository = object_of(body, "repository")
    with inside("repository"):
        return text_of(repository, "full_name")


def _source(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that runs and jobs have in common."""
    return {
        "ref": text_of(sent, "head_branch", default=""),
        "commit": text_of(sent, "head_sha", most=COMMIT_MAX_CHARACTERS),
        "attempt": count_of(sent, "run_attempt", default=1, most=ATTEMPT_MAX),
        "created_at": time_of(sent, "created_at"),
    }


def _status(sent: Mapping[str, Any]) -> str:
    status = sent.get("status")
    known = _OF_CONCLUSION.get(str(sent.get("conclusion"))) if status == "completed" else None
    known = known or _OF_STATUS.get(str(status))
    if known is None:
        raise UnreadableCIReport("status")
    return known
