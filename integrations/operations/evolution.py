"""Stores artifacts and evidence, and activates revisions."""

import hashlib
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.rules.principal import Principal
from gateway.core.contract.errors import InvalidRequest, RevisionConflict
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import ARTIFACTS_MAX, EVIDENCE_MAX, REVISIONS_MAX
from gateway.core.database.turns import take_turn
from integrations.models import EvolutionArtifact, EvolutionEvidence, EvolutionRevision
from integrations.queries import evolution as queries

ASK_OPERATOR = "The operator of the gateway can delete artifacts, with their evidence."


def keep_artifact(
    principal: Principal, *, kind: str, content: bytes, metadata: dict[str, Any]
) -> tuple[EvolutionArtifact, bool]:
    """Store an artifact of the caller, as `keep` does. Also raises IntegrationUnavailable."""
    queries.artifacts(principal)
    return keep(principal.owner, kind=kind, content=content, metadata=metadata)


@transaction.atomic
def keep(
    owner: tuple[str, str], *, kind: str, content: bytes, metadata: dict[str, Any]
) -> tuple[EvolutionArtifact, bool]:
    """Store an owner's artifact if it is new; return it and whether it is new. The metadata of a known one does not
    change.

    Raises InvalidRequest if the owner has the maximum number of artifacts.
    """
    _take_turn(owner)
    theirs = queries.owned_by(EvolutionArtifact, owner)
    digest = hashlib.sha256(content).hexdigest()
    known = theirs.filter(kind=kind, sha256=digest).first()
    if known is not None:
        return known, False
    if theirs.count() >= ARTIFACTS_MAX:
        raise InvalidRequest(f"You have {ARTIFACTS_MAX:,} artifacts, which is the limit. {ASK_OPERATOR}")
    made = EvolutionArtifact.objects.create(
        id=new_id("art"),
        owner_kind=owner[0],
        owner_key=owner[1],
        kind=kind,
        sha256=digest,
        size=len(content),
        content=content,
        metadata=metadata,
        created_at=timezone.now(),
    )
    return made, True


@transaction.atomic
def keep_evidence(principal: Principal, *, artifact_id: str, kind: str, payload: Any) -> EvolutionEvidence:
    """Store evidence about one of the caller's artifacts. Raises NotFound, and InvalidRequest beyond the limit."""
    artifact = queries.artifact(principal, artifact_id, param="artifactId")
    _take_turn(principal.owner)
    if queries.evidence(principal).count() >= EVIDENCE_MAX:
        raise InvalidRequest(f"You have {EVIDENCE_MAX:,} pieces of evidence, which is the limit. {ASK_OPERATOR}")
    return EvolutionEvidence.objects.create(
        id=new_id("evd"),
        owner_kind=artifact.owner_kind,
        owner_key=artifact.owner_key,
        artifact=artifact,
        kind=kind,
        payload=payload,
        created_at=timezone.now(),
    )


def activate(principal: Principal, *, artifact_id: str, expected_revision: int) -> EvolutionRevision:
    """Activate an artifact if `expected_revision` is the active revision (0 before the first).

    An artifact can be activated again. Only the latest REVISIONS_MAX revisions are stored. Raises NotFound and
    RevisionConflict.
    """
    artifact = queries.artifact(principal, artifact_id, param="artifactId")
    current = queries.revisions(principal).first()
    active = current.revision if current else 0
    if expected_revision != active:
        raise RevisionConflict(details={"revision": active})
    try:
        with transaction.atomic():
            revision = EvolutionRevision.objects.create(
                owner_kind=artifact.owner_kind,
                owner_key=artifact.owner_key,
                revision=active + 1,
                artifact=artifact,
                activated_at=timezone.now(),
            )
            queries.revisions(principal).filter(revision__lte=active + 1 - REVISIONS_MAX).delete()
    except IntegrityError:  # a concurrent request was faster
        raise RevisionConflict(details={"revision": active + 1}) from None
    return revision


def _take_turn(owner: tuple[str, str]) -> None:
    """Serialize changes to an owner's records, so that a count is still correct at the insert."""
    take_turn("evolution of " + "/".join(owner))
