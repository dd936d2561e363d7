"""Processes CI providers' webhooks. A delivery that is repeated, older or about an unknown repository has no effect."""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gateway.core.contract.errors import InvalidJson, InvalidRequest, InvalidToken, NotFound
from gateway.core.contract.ids import new_id
from gateway.core.database.purge import purge as purge_rows
from gateway.core.json.strict import strict_loads
from integrations.models import CIProvider, CIRepository, CIRun
from integrations.queries import ci_runs
from integrations.rules.ci_generic import read_generic
from integrations.rules.ci_reports import FINISHED, CIReport, StepReport, UnreadableCIReport, with_step
from integrations.rules.ci_workflow import read_workflow_job, read_workflow_run

SIGNATURE_PREFIX = "sha256="
VALUES_MAX = 100_000
READERS: dict[str, Callable[[Mapping[str, Any]], CIReport | StepReport | None]] = {
    "workflow_run": read_workflow_run,
    "workflow_job": read_workflow_job,
}
"""Parsers of the `workflow_run` format, by event."""
BATCH = 100
"""Small batches, because the steps in a row can take megabytes."""


def receive(name: str, body: bytes, signature: str, event: str | None) -> None:
    """Process one delivery. `signature` and `event` are the headers X-Hub-Signature-256 and X-GitHub-Event.

    Raises IntegrationUnavailable if no provider is configured, NotFound for an unknown one, InvalidToken for a bad
    signature, and InvalidRequest or InvalidJson for a signed body that is malformed.
    """
    provider = ci_runs.providers().filter(name=name).first()
    if provider is None:
        raise NotFound
    _verify(provider, body, signature)
    is_generic = provider.format == CIProvider.Format.GENERIC
    reader = read_generic if is_generic else READERS.get(event or "workflow_run")
    if reader is None:
        return
    report = _read(reader, body)
    if report is None:
        return
    run = report.run if isinstance(report, StepReport) else report
    repository = provider.repositories.filter(name=run.repository).first()
    if repository is not None:
        _record(repository, report)


def purge(*, now: datetime) -> int:
    """Delete the runs whose last report is older than `CI_RUN_DAYS`; return how many."""
    before = now - timedelta(days=settings.CI_RUN_DAYS)
    return purge_rows(CIRun.objects.filter(updated_at__lt=before).order_by("updated_at"), batch=BATCH)


def _verify(provider: CIProvider, body: bytes, signature: str) -> None:
    sent = signature.encode("utf-8", "replace")
    if not any(hmac.compare_digest(_signature(secret, body), sent) for secret in provider.secrets):
        raise InvalidToken("The signature does not match the body.")


def _signature(secret: str, body: bytes) -> bytes:
    return (SIGNATURE_PREFIX + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()).encode()


def _read(
    reader: Callable[[Mapping[str, Any]], CIReport | StepReport | None], body: bytes
) -> CIReport | StepReport | None:
    try:
        return reader(strict_loads(body, VALUES_MAX))
    except UnreadableCIReport as error:
        raise InvalidRequest(f"{error} is missing or malformed.", param=str(error)) from None
    except RecursionError as error:
        raise InvalidJson(private=str(error)) from None


@transaction.atomic
def _record(repository: CIRepository, report: CIReport | StepReport) -> None:
    """Update a run if this is its latest delivery, or the latest of one of its steps."""
    now = timezone.now()
    if isinstance(report, StepReport):
        run = _run(repository, report.run, now)
        run.steps = with_step(run.steps, report.step)
    else:
        run = _run(repository, report, now)
        if not report.is_later(run.attempt, int(run.position), run.status):
            return
        for name, value in _columns(report).items():
            setattr(run, name, value)
        run.finished_at = _finished_at(report, now)
    run.updated_at = now
    run.save()


def _run(repository: CIRepository, report: CIReport, now: datetime) -> CIRun:
    """Return the run, locked; create it at its first delivery."""
    fresh = CIRun(
        id=new_id("ci"),
        project_id=repository.project_id,
        provider_id=repository.provider_id,
        external_id=report.external_id,
        created_at=report.created_at or now,
        updated_at=now,
        finished_at=_finished_at(report, now),
        **_columns(report),
    )
    CIRun.objects.bulk_create([fresh], ignore_conflicts=True)
    return CIRun.objects.select_for_update(no_key=True).get(
        provider_id=repository.provider_id, project_id=repository.project_id, external_id=report.external_id
    )


def _columns(report: CIReport) -> dict[str, Any]:
    names = ("ref", "commit", "status", "url", "attempt", "position")
    steps = {} if report.steps is None else {"steps": report.steps}
    return {**{name: getattr(report, name) for name in names}, **steps}


def _finished_at(report: CIReport, now: datetime) -> datetime | None:
    return (report.finished_at or now) if report.status in FINISHED else None
