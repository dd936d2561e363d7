"""/v1/evolution/jobs."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from gateway.core.api.access import requires
from gateway.core.api.pagination import AFTER, LIMIT, page_of
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import IdempotencyKeyReused, IntegrationUnavailable, NotFound, RateLimited
from integrations.operations import evolution_jobs as operations
from integrations.queries import evolution
from integrations.serializers.evolution_jobs import EvolutionJobList, EvolutionJobRequest, EvolutionJobResponse
from organizations.rules.roles import ANY


class EvolutionJobViewSet(ApiViewSet):
    """Programs that create artifacts from others."""

    @extend_schema(
        operation_id="list_evolution_jobs", summary="List jobs", parameters=[LIMIT, AFTER], responses=EvolutionJobList
    )
    @refuses(IntegrationUnavailable)
    @requires(Capability.EVOLUTION_READ, roles=ANY)
    def list(self, request: Request) -> Response:
        """List the owner's jobs, newest first."""
        return Response(EvolutionJobList(page_of(request, evolution.jobs(caller(request)))).data)

    @extend_schema(
        operation_id="create_evolution_job",
        summary="Run a program over artifacts",
        request=EvolutionJobRequest,
        responses={202: EvolutionJobResponse},
    )
    @refuses(IntegrationUnavailable, NotFound, IdempotencyKeyReused, RateLimited)
    @requires(Capability.EVOLUTION_EXECUTE, roles=ANY)
    def create(self, request: Request) -> Response:
        """Queue a job. The program starts in a folder with `inputs/<artifact_id>` and `evidence.json`; its standard
        output becomes an artifact. Repeating the request with the same `idempotencyKey` returns the same job.
        """
        evolution.jobs(caller(request))
        body = read(EvolutionJobRequest, request.data)
        job, is_new = operations.create(caller(request), body)
        if is_new:
            from integrations import tasks  # it imports Celery, which a server of model routes does without

            tasks.begin(tasks.execute_job, job.id)
        return Response(EvolutionJobResponse(job).data, status=202)

    @extend_schema(operation_id="get_evolution_job", summary="Get a job", responses=EvolutionJobResponse)
    @refuses(IntegrationUnavailable)
    @requires(Capability.EVOLUTION_READ, roles=ANY)
    def retrieve(self, request: Request, job_id: str) -> Response:
        """Return a job, with the id of its result."""
        return Response(EvolutionJobResponse(evolution.job(caller(request), job_id)).data)
