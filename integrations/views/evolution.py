"""/v1/evolution: artifacts, evidence and the active revision."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from gateway.core.api.access import requires
from gateway.core.api.pagination import AFTER, LIMIT, after_of, limit_of, page_of, unknown_after
from gateway.core.api.parsers import StrictJSONParser
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import IntegrationUnavailable, NotFound, RevisionConflict
from gateway.core.contract.limits import EVOLUTION_BODY_MAX_BYTES
from integrations.models import EvolutionRevision
from integrations.operations import evolution as operations
from integrations.queries import evolution
from integrations.serializers.evolution import (
    ActiveRevisionResponse,
    ArtifactContentResponse,
    ArtifactList,
    ArtifactRequest,
    ArtifactResponse,
    EvidenceList,
    EvidenceRequest,
    EvidenceResponse,
    RevisionRequest,
    RevisionResponse,
)
from organizations.rules.roles import ANY, PEOPLE_MANAGERS

NEVER_ACTIVATED = EvolutionRevision(revision=0)
AFTER_REVISION = OpenApiParameter(
    "after", {"type": "integer", "minimum": 1}, description="A revision; the history begins with the one before it."
)


class EvolutionParser(StrictJSONParser):
    """Parses bodies that contain an artifact."""

    max_bytes = EVOLUTION_BODY_MAX_BYTES


class EvolutionViewSet(ApiViewSet):
    """Base class of the evolution routes."""

    parser_classes = (EvolutionParser,)


class ArtifactViewSet(EvolutionViewSet):
    """Artifacts by content."""

    @extend_schema(
        operation_id="list_artifacts", summary="List artifacts", parameters=[LIMIT, AFTER], responses=ArtifactList
    )
    @refuses(IntegrationUnavailable)
    @requires(Capability.EVOLUTION_READ, roles=ANY)
    def list(self, request: Request) -> Response:
        """List the owner's artifacts, newest first, without their contents."""
        return Response(ArtifactList(page_of(request, evolution.artifacts(caller(request)))).data)

    @extend_schema(
        operation_id="create_artifact",
        summary="Store an artifact",
        request=ArtifactRequest,
        responses={200: ArtifactResponse, 201: ArtifactResponse},
    )
    @refuses(IntegrationUnavailable)
    @requires(Capability.EVOLUTION_WRITE, roles=ANY)
    def create(self, request: Request) -> Response:
        """Store an artifact. The status is 201, or 200 with the existing artifact if kind and content are the same."""
        evolution.artifacts(caller(request))
        values = read(ArtifactRequest, request.data)
        artifact, is_new = operations.keep_artifact(
            caller(request), kind=values["kind"], content=values["content"], metadata=values["metadata"]
        )
        return Response(ArtifactResponse(artifact).data, status=201 if is_new else 200)

    @extend_schema(operation_id="get_artifact", summary="Get an artifact", responses=ArtifactContentResponse)
    @refuses(IntegrationUnavailable)
    @requires(Capability.EVOLUTION_READ, roles=ANY)
    def retrieve(self, request: Request, artifact_id: str) -> Response:
        """Return an artifact with its content."""
        return Response(ArtifactContentResponse(evolution.artifact(caller(request), artifact_id)).data)


class EvidenceViewSet(EvolutionViewSet):
    """Evidence about artifacts."""

    @extend_schema(
        operation_id="list_evidence", summary="List evidence", parameters=[LIMIT, AFTER], responses=EvidenceList
    )
    @refuses(IntegrationUnavailable)
    @requires(Capability.EVOLUTION_READ, roles=ANY)
    def list(self, request: Request) -> Response:
        """List the owner's evidence, newest first."""
        return Response(EvidenceList(page_of(request, evolution.evidence(caller(request)))).data)

    @extend_schema(
        operation_id="create_evidence",
        summary="Store evidence about an artifact",
        request=EvidenceRequest,
        responses={201: EvidenceResponse},
    )
    @refuses(IntegrationUnavailable, NotFound)
    @requires(Capability.EVOLUTION_WRITE, roles=ANY)
    def create(self, request: Request) -> Response:
        """Store evidence about an artifact."""
        evolution.evidence(caller(request))
        values = read(EvidenceRequest, request.data)
        evidence = operations.keep_evidence(
            caller(request), artifact_id=values["artifactId"], kind=values["kind"], payload=values["payload"]
        )
        return Response(EvidenceResponse(evidence).data, status=201)


class ActiveRevisionViewSet(EvolutionViewSet):
    """The active revision."""

    @extend_schema(
        operation_id="get_active_revision",
        summary="Get the active revision",
        parameters=[LIMIT, AFTER_REVISION],
        responses=ActiveRevisionResponse,
    )
    @refuses(IntegrationUnavailable)
    @requires(Capability.EVOLUTION_READ, roles=ANY)
    def retrieve(self, request: Request) -> Response:
        """Return the active revision, and up to `limit` revisions before it or before `after`."""
        limit, revisions = limit_of(request), evolution.revisions(caller(request))
        active = revisions.first()
        after = _revision_after(request, active)
        found = list(revisions.filter(revision__lt=after)[: limit + 1])
        return Response(
            {
                **RevisionResponse(active or NEVER_ACTIVATED).data,
                "history": RevisionResponse(found[:limit], many=True).data,
                "hasMore": len(found) > limit,
            }
        )

    @extend_schema(
        operation_id="activate_revision",
        summary="Activate an artifact",
        request=RevisionRequest,
        responses=RevisionResponse,
    )
    @refuses(IntegrationUnavailable, NotFound, RevisionConflict)
    @requires(Capability.EVOLUTION_WRITE, roles=PEOPLE_MANAGERS)
    def update(self, request: Request) -> Response:
        """Activate an artifact if `expectedRevision` is the active revision. Earlier artifacts may be activated
        again.
        """
        evolution.revisions(caller(request))
        values = read(RevisionRequest, request.data)
        revision = operations.activate(
            caller(request), artifact_id=values["artifactId"], expected_revision=values["expectedRevision"]
        )
        return Response(RevisionResponse(revision).data)


def _revision_after(request: Request, active: EvolutionRevision | None) -> int:
    """Return the revision after which the listed history begins: `after`, or else the active one.

    Raises InvalidRequest if the owner never had the revision `after`.
    """
    last, sent = active.revision if active else 0, after_of(request)
    if sent is None:
        return last
    if sent.isascii() and sent.isdigit() and len(sent) <= len(str(last)) and 1 <= int(sent) <= last:
        return int(sent)
    raise unknown_after()
