"""Evolution: artifacts by their content, evidence about them, jobs that make new ones, and which one is active."""

import base64
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from account_gateway_client.executions import POLL_SECONDS, finished
from account_gateway_client.integration_types import (
    ActiveRevision,
    Artifact,
    ArtifactContent,
    Evidence,
    EvolutionJob,
    Revision,
)
from account_gateway_client.routes import Page, Routes, given, segment

_ARTIFACTS, _EVIDENCE, _JOBS = (f"/v1/evolution/{noun}" for noun in ("artifacts", "evidence", "jobs"))
_ACTIVE_REVISION = "/v1/evolution/active-revision"


class Evolution(Routes):
    """The routes of evolution. Reading needs `evolution:read`, keeping and activating `evolution:write`, jobs
    `evolution:execute`."""

    def artifacts(self, limit: int = 20, *, after: str | None = None) -> Page[Artifact]:
        """Return the latest artifacts without their contents, newest first, 1 to 100 of them; with `after`, those behind the one of that id."""
        return self._page(_ARTIFACTS, limit, after)

    def keep_artifact(self, kind: str, content: str | bytes, *, metadata: Mapping[str, Any] | None = None) -> Artifact:
        """Keep a text or bytes of at most 1 MiB; the same kind and content is the same artifact."""
        is_text = isinstance(content, str)
        body = given(
            kind=kind,
            content=content if isinstance(content, str) else base64.b64encode(content).decode(),
            encoding="utf-8" if is_text else "base64",
            metadata=None if metadata is None else dict(metadata),
        )
        artifact: Artifact = self._send("POST", _ARTIFACTS, json=body)
        return artifact

    def artifact(self, artifact_id: str) -> ArtifactContent:
        """Return an artifact with its content, written as `encoding` says."""
        artifact: ArtifactContent = self._send("GET", f"{_ARTIFACTS}/{segment(artifact_id)}")
        return artifact

    def content(self, artifact_id: str) -> bytes:
        """Return an artifact's bytes."""
        artifact = self.artifact(artifact_id)
        content = artifact["content"]
        return base64.b64decode(content) if artifact["encoding"] == "base64" else content.encode()

    def evidence(self, limit: int = 20, *, after: str | None = None) -> Page[Evidence]:
        """Return the latest evidence, newest first, 1 to 100 pieces; with `after`, those behind the one of that id."""
        return self._page(_EVIDENCE, limit, after)

    def keep_evidence(self, artifact_id: str, kind: str, payload: Mapping[str, Any]) -> Evidence:
        """Keep what was observed of an artifact, at most 16 KiB of JSON."""
        body = {"artifactId": artifact_id, "kind": kind, "payload": dict(payload)}
        evidence: Evidence = self._send("POST", _EVIDENCE, json=body)
        return evidence

    def jobs(self, limit: int = 20, *, after: str | None = None) -> Page[EvolutionJob]:
        """Return the latest jobs, newest first, 1 to 100 of them; with `after`, those behind the one of that id."""
        return self._page(_JOBS, limit, after)

    def start_job(
        self,
        program: str,
        inputs: Sequence[str],
        *,
        evidence: Sequence[str] = (),
        idempotency_key: str | None = None,
    ) -> EvolutionJob:
        """Queue one of the operator's programs over artifacts and evidence, named by their ids. The same key names the
        same job."""
        body = {
            "program": program,
            "inputs": list(inputs),
            "evidence": list(evidence),
            "idempotencyKey": idempotency_key or uuid.uuid4().hex,
        }
        job: EvolutionJob = self._send("POST", _JOBS, json=body)
        return job

    def job(self, job_id: str) -> EvolutionJob:
        """Return a job, with the artifact that it made."""
        job: EvolutionJob = self._send("GET", f"{_JOBS}/{segment(job_id)}")
        return job

    def wait_for_job(self, job_id: str, *, poll_seconds: float = POLL_SECONDS) -> EvolutionJob:
        """Wait until a job is over, and return it."""
        return finished(lambda: self.job(job_id), poll_seconds)

    def active_revision(self, limit: int = 20, *, after: int | None = None) -> ActiveRevision:
        """Return the active revision, and 1 to 100 of those before it; with `after`, those before that revision."""
        params = {"limit": limit} if after is None else {"limit": limit, "after": after}
        revision: ActiveRevision = self._send("GET", _ACTIVE_REVISION, params=params)
        return revision

    def activate(self, artifact_id: str, *, expected_revision: int) -> Revision:
        """Activate an artifact if `expected_revision` is the active one, 0 before the first; an earlier artifact is a
        rollback. A GatewayError with the code `revision_conflict` says that somebody was faster."""
        body = {"artifactId": artifact_id, "expectedRevision": expected_revision}
        revision: Revision = self._send("PUT", _ACTIVE_REVISION, json=body)
        return revision
