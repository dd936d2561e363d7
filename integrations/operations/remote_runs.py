"""Sandbox runs on a remote runner: submission, reports, polling and cancellation."""

import contextlib
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gateway.core.contract.errors import InvalidRequest, InvalidToken, NotFound
from gateway.core.json.strict import strict_loads
from integrations.adapters.programs import OUTPUT_MAX_BYTES
from integrations.adapters.remote import RemoteRunner, RunnerRefused, RunnerUnreachable
from integrations.models import SandboxRun, SandboxSettings
from integrations.models.execution import Execution
from integrations.operations import executions
from integrations.rules import runner_reports, signatures
from integrations.rules.signatures import SignedRequest

LOST = "The runner did not report how this ended."
SILENT_MAX = timedelta(minutes=5)
"""How long after a run's timeout an unreachable runner may still report."""
VALUES_MAX = 1000


def start(run: SandboxRun) -> bool:
    """Submit a taken run to the runner. If the runner refuses it or cannot be reached, the run fails."""
    try:
        _runner().start(_body(run))
    except (RunnerRefused, RunnerUnreachable) as error:
        is_refused = isinstance(error, RunnerRefused)
        reason = str(error) if is_refused else "The runner could not be reached."
        failed = executions.finish(run, Execution.Status.FAILED, error_code="not_started", reason=reason)
        if not is_refused:  # it may have accepted the run nevertheless
            _forward_cancel(run.id)
        return failed
    # From here on the runner's reports replace the heartbeat.
    SandboxRun.objects.filter(id=run.id, worker=run.worker).update(heartbeat_at=None)
    return True


def receive(run_id: str, body: bytes, *, timestamp: str, signature: str) -> None:
    """Process a runner's callback. An older one, or one about a finished run, changes nothing.

    Raises InvalidToken for a bad signature, NotFound for an unknown run, InvalidRequest or InvalidJson for a signed
    body that is malformed.
    """
    stored = SandboxSettings.objects.filter(id=SandboxSettings.ONLY).first()
    secrets = (stored.secret, stored.previous_secret) if stored else ()
    # The path is that of the address which the runner got: a proxy in front of the gateway may have shortened it.
    signed = SignedRequest("POST", urlsplit(_callback_url(run_id)).path, body)
    if not signatures.is_genuine(secrets, signed, timestamp=timestamp, signature=signature, now=int(time.time())):
        raise InvalidToken("The signature does not match the time, the method, the path and the body.")
    if not SandboxRun.objects.filter(id=run_id, runner=SandboxSettings.Runner.HTTP).exists():
        raise NotFound
    try:
        apply(run_id, strict_loads(body, VALUES_MAX))
    except runner_reports.UnreadableRunnerReport as error:
        raise InvalidRequest(f"{error} is missing or malformed.", param=str(error)) from None


@transaction.atomic
def apply(run_id: str, body: Mapping[str, Any]) -> None:
    """Update a run from a report. Raises UnreadableRunnerReport."""
    report = runner_reports.read(dict(body), run_id, OUTPUT_MAX_BYTES)
    run = SandboxRun.objects.select_for_update(no_key=True).get(id=run_id)
    if run.status not in Execution.BEGUN or report.sequence <= run.sequence:
        return
    run.sequence, run.truncated, run.exit_code = report.sequence, report.truncated, report.exit_code
    run.stdout, run.stderr = report.stdout, report.stderr
    if report.status in runner_reports.OVER:
        run.status, run.finished_at, run.inputs = report.status, timezone.now(), ""
    run.save()


def ask() -> int:
    """Query the runner for all runs that it executes; return how many there are."""
    begun = SandboxRun.objects.filter(runner=SandboxSettings.Runner.HTTP, status__in=Execution.BEGUN, heartbeat_at=None)
    for run in begun:
        _query(run)
    return len(begun)


def cancel(run_id: str) -> None:
    """Forward a cancellation. If the runner cannot be reached, `ask` forwards it later."""
    run = SandboxRun.objects.get(id=run_id)
    if run.status == Execution.Status.CANCELLING:
        _forward_cancel(run.id)


def _query(run: SandboxRun) -> None:
    cancel(run.id)
    try:
        apply(run.id, {"runId": run.id, **_runner().report(run.id)})  # the request has named the run already
    except RunnerRefused:
        _abandon(run, "The runner does not know this run.")
    except (RunnerUnreachable, runner_reports.UnreadableRunnerReport):
        assert run.started_at is not None
        own_time = timedelta(seconds=orjson.loads(run.inputs)["timeoutSeconds"])
        if timezone.now() > run.started_at + own_time + SILENT_MAX:
            _abandon(run, LOST)


def _forward_cancel(run_id: str) -> None:
    with contextlib.suppress(RunnerRefused, RunnerUnreachable):
        _runner().cancel(run_id)


def _abandon(run: SandboxRun, reason: str) -> None:
    executions.finish(run, Execution.Status.FAILED, error_code="worker_lost", reason=reason)


def _runner() -> RemoteRunner:
    stored = SandboxSettings.objects.filter(id=SandboxSettings.ONLY).first()
    if stored is None or not stored.base_url:
        raise RunnerUnreachable("no runner is configured")
    return RemoteRunner(stored.base_url, stored.secret)


def _body(run: SandboxRun) -> dict[str, Any]:
    return {"runId": run.id, **orjson.loads(run.inputs), "callbackUrl": _callback_url(run.id)}


def _callback_url(run_id: str) -> str:
    return f"{settings.GATEWAY_BASE_URL}/webhooks/sandbox/{run_id}"
