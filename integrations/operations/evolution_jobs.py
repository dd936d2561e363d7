"""Evolution jobs: an operator's program creates an artifact from others in the sandbox."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.db import transaction

from accounts.rules.principal import Principal
from gateway.core.contract.errors import ApiError, InvalidRequest, NotFound
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import ARTIFACT_MAX_BYTES
from integrations.adapters import bubblewrap
from integrations.adapters.programs import Ending, Outcome, Output, Program
from integrations.models import EvolutionArtifact, EvolutionEvidence, EvolutionJob, EvolutionProgram, IntegrationSwitch
from integrations.models.execution import Execution
from integrations.operations import evolution, executions, heartbeats
from integrations.queries import evolution as queries
from integrations.queries import switches

EVIDENCE_FILE = "evidence.json"
SHOWN_MAX_CHARACTERS = 500
DELETED = "An artifact that the job reads was deleted."


class _JobFailed(Exception):
    """A job has no result: a code, and a message for its owner."""


def create(principal: Principal, values: Mapping[str, Any]) -> tuple[EvolutionJob, bool]:
    """Queue a job; return it, and whether it is new.

    Raises NotFound for an unknown program, artifact or evidence, RateLimited, and IdempotencyKeyReused if the key was
    used with another body.
    """
    program = _program_named(values["program"])
    queries.require_all(principal, EvolutionArtifact, values["inputs"], param="inputs")
    queries.require_all(principal, EvolutionEvidence, values["evidence"], param="evidence")
    with transaction.atomic():
        switches.require(IntegrationSwitch.Name.EVOLUTION, locked=True)
        mine = queries.owned(EvolutionJob, principal)
        known = executions.requested_before(mine, principal, values)
        if known is not None:
            return known, False
        executions.check_room(mine, principal.owner[0], "of your jobs")
        return _queued(principal, program, values), True


def execute(job_id: str) -> bool:
    """Execute a queued job on this machine; return False if this worker cannot take it."""
    job = executions.take(EvolutionJob, job_id)
    if job is None:
        return False
    try:
        switches.require(IntegrationSwitch.Name.EVOLUTION)
    except ApiError as refusal:
        return executions.finish(job, Execution.Status.FAILED, error_code=refusal.code, reason=refusal.message)
    if len(artifacts := _artifacts(job)) < len(set(job.artifact_ids)):
        return executions.finish(job, Execution.Status.FAILED, error_code=InvalidRequest.code, reason=DELETED)
    heartbeat = heartbeats.Heartbeat(job)
    outcome, output = bubblewrap.run(_program(job, artifacts), heartbeat)
    return heartbeats.retry_while_unavailable(lambda: _finished(job, heartbeat.explained(outcome), output))


def _finished(job: EvolutionJob, outcome: Outcome, output: Output) -> bool:
    """Store a job's result, or record why it failed; return False if the job was abandoned meanwhile."""
    try:
        with transaction.atomic():
            artifact = _stored(job, _result(outcome, output))
            return executions.finish(job, Execution.Status.SUCCEEDED, result_artifact=artifact)
    except _JobFailed as failure:
        code, reason = failure.args
    except ApiError as refusal:
        code, reason = refusal.code, refusal.message
    return executions.finish(job, Execution.Status.FAILED, error_code=code, reason=reason)


def _program_named(name: str) -> EvolutionProgram:
    program = EvolutionProgram.objects.filter(name=name).first()
    if program is None:
        raise NotFound("There is no such program.", param="program")
    return program


def _queued(principal: Principal, program: EvolutionProgram, values: Mapping[str, Any]) -> EvolutionJob:
    owner_kind, owner_key = principal.owner
    inputs = {
        "command": program.command,
        "timeoutSeconds": program.timeout_seconds,
        "memoryMb": program.memory_mb,
        "resultKind": program.result_kind,
    }
    return EvolutionJob.objects.create(
        id=new_id("job"),
        owner_kind=owner_kind,
        owner_key=owner_key,
        program=program.name,
        artifact_ids=values["inputs"],
        evidence_ids=values["evidence"],
        inputs=orjson.dumps(inputs).decode(),
        **executions.request_columns(principal, values),
    )


def _artifacts(job: EvolutionJob) -> list[EvolutionArtifact]:
    """Return the job's inputs that still exist."""
    return list(EvolutionArtifact.objects.filter(id__in=job.artifact_ids))


def _program(job: EvolutionJob, artifacts: Sequence[EvolutionArtifact]) -> Program:
    inputs = orjson.loads(job.inputs)
    files = {f"inputs/{artifact.id}": bytes(artifact.content) for artifact in artifacts}
    return Program(
        command=tuple(inputs["command"]),
        files={**files, EVIDENCE_FILE: _evidence(job)},
        timeout_seconds=inputs["timeoutSeconds"],
        memory_mb=inputs["memoryMb"],
        output_max_bytes=ARTIFACT_MAX_BYTES,
    )


def _evidence(job: EvolutionJob) -> bytes:
    """Return the evidence as JSON, in the job's order."""
    found = EvolutionEvidence.objects.in_bulk(job.evidence_ids)
    rows = [found[evidence_id] for evidence_id in job.evidence_ids if evidence_id in found]
    return orjson.dumps(
        [
            {"evidenceId": row.id, "artifactId": row.artifact_id, "kind": row.kind, "payload": row.payload}
            for row in rows
        ]
    )


def _result(outcome: Outcome, output: Output) -> bytes:
    """Return a program's result. Raises _JobFailed."""
    if outcome.ending is not Ending.EXITED:
        raise _JobFailed(str(outcome.ending), outcome.reason or "The program was stopped.")
    if outcome.exit_code != 0:
        shown = output.stderr.decode("utf-8", "replace").replace("\0", "\ufffd").strip()[-SHOWN_MAX_CHARACTERS:]
        raise _JobFailed("program_failed", f"The program ended with exit code {outcome.exit_code}. {shown}".strip())
    if output.truncated and len(output.stdout) >= ARTIFACT_MAX_BYTES:
        raise _JobFailed("result_too_large", "The result is larger than 1 MiB.")
    return bytes(output.stdout)


def _stored(job: EvolutionJob, content: bytes) -> EvolutionArtifact:
    kind = orjson.loads(job.inputs)["resultKind"]
    first = EvolutionArtifact.objects.only("kind").filter(id=job.artifact_ids[0]).first()
    if first is None:
        raise _JobFailed(InvalidRequest.code, DELETED)
    metadata = {"jobId": job.id, "program": job.program}
    owner = (job.owner_kind, job.owner_key)
    return evolution.keep(owner, kind=kind or first.kind, content=content, metadata=metadata)[0]
