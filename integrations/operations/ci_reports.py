"""Take a CI provider's webhook: verified, ordered, and without effect where it is repeated, older or about nothing here."""

import hashlib
import hmac
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gateway.core.api.json import strict_loads
from gateway.core.contract.errors import InvalidJson, InvalidRequest, InvalidToken, NotFound
from gateway.core.contract.ids import new_id
from gateway.core.database.purge import purge as purge_rows
from integrations.models import CIProvider, CIRepository, CIRun
from integrations.rules.ci_reports import FINISHED, READERS, Report, UnreadableReport, order_of

SIGNATURE_PREFIX = "sha256="
VALUES_MAX = 100_000
OTHER_EVENTS = "workflow_run"
BATCH = 100
"""Rows hold the steps of a run, up to megabytes."""


def receive(name: str, body: bytes, signature: str, event: str | None) -> None:
    """Take one delivery. `signature` and `event` are the headers X-Hub-Signature-256 and X-GitHub-Event.

    Raises NotFound for an unknown provider, InvalidToken for a bad signature, and InvalidRequest or InvalidJson for a
    signed body that cannot be read.
    """
    provider = CIProvider.objects.filter(name=name).first()
    if provider is None:
        raise NotFound
    _verify(provider, body, signature)
    if provider.format == CIProvider.Format.WORKFLOW_RUN and event not in (None, OTHER_EVENTS):
        return
    report = _read(provider, body)
    repository = provider.repositories.filter(name=report.repository).first()
    if repository is not None:
        _record(repository, report)


def purge(*, now: datetime) -> int:
    """Delete the runs whose last report is older than `CI_RUN_DAYS`; return how many."""
    before = now - timedelta(days=settings.CI_RUN_DAYS)
    return purge_rows(CIRun.objects.filter(updated_at__lt=before).order_by("updated_at"), batch=BATCH)


def _verify(provider: CIProvider, body: bytes, signature: str) -> None:
    digest = hmac.new(provider.secret.encode(), body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest((SIGNATURE_PREFIX + digest).encode(), signature.encode("utf-8", "replace")):
        raise InvalidToken("The signature does not match the body.")


def _read(provider: CIProvider, body: bytes) -> Report:
    try:
        return READERS[provider.format](strict_loads(body, VALUES_MAX))
    except UnreadableReport as error:
        raise InvalidRequest(f"{error} is missing or malformed.", param=str(error)) from None
    except RecursionError as error:
        raise InvalidJson(private=str(error)) from None


@transaction.atomic
def _record(repository: CIRepository, report: Report) -> None:
    """Make the run where this is its first delivery, else bring it up to date where this is its latest."""
    now = timezone.now()
    fresh = CIRun(
        id=new_id("ci"),
        project_id=repository.project_id,
        provider_id=repository.provider_id,
        external_id=report.external_id,
        created_at=report.created_at or now,
        updated_at=now,
        **_stated(report),
    )
    fresh.finished_at = _finished_at(report, now)
    CIRun.objects.bulk_create([fresh], ignore_conflicts=True)
    run = CIRun.objects.select_for_update(no_key=True).get(
        provider_id=repository.provider_id, project_id=repository.project_id, external_id=report.external_id
    )
    if report.order <= order_of(run.attempt, int(run.position), run.status):
        return
    for name, value in _stated(report).items():
        setattr(run, name, value)
    run.finished_at, run.updated_at = _finished_at(report, now), now
    run.save()


def _stated(report: Report) -> dict[str, Any]:
    names = ("ref", "commit", "status", "url", "steps", "attempt", "position")
    return {name: getattr(report, name) for name in names}


def _finished_at(report: Report, now: datetime) -> datetime | None:
    return (report.finished_at or now) if report.status in FINISHED else None
