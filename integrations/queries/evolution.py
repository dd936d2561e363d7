"""Queries for an owner's artifacts, evidence and revisions."""

from collections.abc import Sequence
from typing import TypeVar

from django.db.models import QuerySet

from accounts.rules.principal import Principal
from gateway.core.contract.errors import NotFound
from integrations.models import EvolutionArtifact, EvolutionEvidence, EvolutionJob, EvolutionRevision, IntegrationSwitch
from integrations.models.evolution import Owned
from integrations.queries import switches

Record = TypeVar("Record", bound=Owned)


def owned(model: type[Record], principal: Principal) -> QuerySet[Record]:
    """Return the caller's records of a model. Raises IntegrationUnavailable if evolution is not configured."""
    switches.require(IntegrationSwitch.Name.EVOLUTION)
    return owned_by(model, principal.owner)


def owned_by(model: type[Record], owner: tuple[str, str]) -> QuerySet[Record]:
    """Return an owner's records of a model."""
    kind, key = owner
    return model._default_manager.filter(owner_kind=kind, owner_key=key)  # noqa: SLF001 (documented)


def artifacts(principal: Principal) -> QuerySet[EvolutionArtifact]:
    """Return the caller's artifacts without their contents."""
    return owned(EvolutionArtifact, principal).defer("content")


def artifact(principal: Principal, artifact_id: str, *, param: str | None = None) -> EvolutionArtifact:
    """Return one of the caller's artifacts. Raises NotFound; `param` is the request member that names it."""
    found = owned(EvolutionArtifact, principal).filter(id=artifact_id).first()
    if found is None:
        raise NotFound("You have no such artifact.", param=param)
    return found


def evidence(principal: Principal) -> QuerySet[EvolutionEvidence]:
    """Return the caller's evidence."""
    return owned(EvolutionEvidence, principal)


def revisions(principal: Principal) -> QuerySet[EvolutionRevision]:
    """Return the caller's revisions, the active one first."""
    return owned(EvolutionRevision, principal).order_by("-revision")


def require_all(principal: Principal, model: type[Owned], ids: Sequence[str], *, param: str) -> None:
    """Raise NotFound unless every id is a record of the caller; `param` is the request member."""
    if owned(model, principal).filter(pk__in=ids).count() != len(ids):
        raise NotFound("You do not have all of these.", param=param)


def jobs(principal: Principal) -> QuerySet[EvolutionJob]:
    """Return the caller's jobs."""
    return owned(EvolutionJob, principal).defer("inputs")


def job(principal: Principal, job_id: str) -> EvolutionJob:
    """Return one of the caller's jobs. Raises NotFound."""
    found = jobs(principal).filter(id=job_id).first()
    if found is None:
        raise NotFound("You have no such job.")
    return found


def is_awaited(artifact_id: str) -> bool:
    """Return whether an unfinished job reads an artifact or its evidence."""
    evidence = EvolutionEvidence.objects.filter(artifact=artifact_id).values_list("id", flat=True)
    active = EvolutionJob.objects.filter(status__in=EvolutionJob.ACTIVE)
    named = {each for ids in active.values_list("artifact_ids", "evidence_ids") for one in ids for each in one}
    return artifact_id in named or evidence.filter(id__in=named).exists()
