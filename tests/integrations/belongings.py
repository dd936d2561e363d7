"""An owner with one record of each kind, and all routes of the integrations."""

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from gateway.core.contract.capabilities import Capability
from integrations.models import (
    CIProvider,
    CIRun,
    EvolutionArtifact,
    EvolutionEvidence,
    EvolutionJob,
    EvolutionProgram,
    EvolutionRevision,
    ExecutionConfig,
    IntegrationSwitch,
    Project,
    SandboxRun,
    SandboxSettings,
)
from tests.contract.routes import mapped_routes
from tests.integrations.test_projects import project

PREFIXES = ("/v1/projects", "/v1/sandbox/", "/v1/ci/", "/v1/evolution/", "/v1/sync/")
ROUTES = [route for route in mapped_routes() if route.path.startswith(PREFIXES)]
NAMES = [f"{route.method} {route.path}" for route in ROUTES]
SCOPES = tuple(Capability)
SHA256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # of "x"


def switch_on() -> None:
    """Configure every integration."""
    SandboxSettings.objects.create(runner="bubblewrap")
    CIProvider.objects.create(name="forge", format="generic", secret="s")
    EvolutionProgram.objects.create(name="refine", command=["true"])
    for name in IntegrationSwitch.Name.values:
        IntegrationSwitch.objects.create(name=name, enabled=True)


def switch_off() -> None:
    """Remove the integrations' configuration, but not their records."""
    for model in (SandboxSettings, CIProvider, IntegrationSwitch, Project):
        model.objects.all().delete()


@dataclass(frozen=True)
class Belongings:
    """Ids of an owner's rows, by the names of path parameters."""

    ids: dict[str, str]

    def path(self, template: str) -> str:
        """Return a path with its parameters."""
        for name, value in self.ids.items():
            template = template.replace(f"<{name}>", value)
        return template

    def body(self, method: str, template: str) -> dict[str, Any] | None:
        """Return a valid body for a route, or None if it has no body."""
        artifact = self.ids["artifact_id"]
        bodies: dict[tuple[str, str], dict[str, Any]] = {
            ("PUT", "/v1/projects/<project_id>/execution-config"): {
                "runtime": "default",
                "command": ["true"],
                "environment": {"A": "b"},
                "timeoutSeconds": 30,
                "memoryMb": 64,
                "network": "none",
            },
            ("POST", "/v1/sandbox/runs"): {
                "projectId": self.ids["project_id"],
                "command": ["true"],
                "files": {"a.txt": "b"},
                "stdin": "",
                "timeoutSeconds": 5,
                "idempotencyKey": "k",
            },
            ("POST", "/v1/evolution/artifacts"): {
                "kind": "prompt",
                "content": "y",
                "encoding": "utf-8",
                "metadata": {},
            },
            ("POST", "/v1/evolution/evidence"): {"artifactId": artifact, "kind": "score", "payload": {}},
            ("POST", "/v1/evolution/jobs"): {
                "program": "refine",
                "inputs": [artifact],
                "evidence": [self.ids["evidence_id"]],
                "idempotencyKey": "k",
            },
            ("PUT", "/v1/evolution/active-revision"): {"artifactId": artifact, "expectedRevision": 1},
            ("POST", "/v1/sync/account-key"): {},
        }
        return bodies.get((method, template))


NOBODYS = Belongings(dict.fromkeys(("project_id", "artifact_id", "evidence_id", "job_id", "run_id"), "unknown"))
"""Ids that do not exist."""


def belongings(
    owner_key: str, kind: str = "account", *, requested_by: str = "did:web:studio.example:alice"
) -> Belongings:
    """Create one row of each kind."""
    now, owner = timezone.now(), {"owner_kind": kind, "owner_key": owner_key}
    one = project(owner_key, kind=kind)
    ExecutionConfig.objects.create(project=one, version=1, updated_at=now)
    number = Project.objects.count()
    common = {"requested_by": requested_by, "fingerprint": "", "inputs": "", "created_at": now}
    run = SandboxRun.objects.create(id=f"run_{number}", project=one, runner="bubblewrap", stdout="secret", **common)
    provider = CIProvider.objects.get_or_create(name="forge", defaults={"format": "generic", "secret": "s"})[0]
    CIRun.objects.create(
        id=run.id, project=one, provider=provider, external_id="1", status="queued", created_at=now, updated_at=now
    )
    artifact = EvolutionArtifact.objects.create(
        id=f"art_{number}", kind="prompt", sha256=SHA256, size=1, content=b"x", created_at=now, **owner
    )
    evidence = EvolutionEvidence.objects.create(
        id=f"evd_{number}", artifact=artifact, kind="score", payload={}, created_at=now, **owner
    )
    job = EvolutionJob.objects.create(
        id=f"job_{number}", program="refine", artifact_ids=[artifact.id], **common, **owner
    )
    EvolutionRevision.objects.create(revision=1, artifact=artifact, activated_at=now, **owner)
    ids = {"project_id": one.id, "artifact_id": artifact.id, "evidence_id": evidence.id, "job_id": job.id}
    return Belongings({**ids, "run_id": run.id})
