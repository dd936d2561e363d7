"""/v1/sandbox/runs."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from gateway.core.api.access import requires
from gateway.core.api.pagination import AFTER, LIMIT, page_of
from gateway.core.api.parsers import StrictJSONParser
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import check_no_members, read
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import (
    Forbidden,
    IdempotencyKeyReused,
    IntegrationUnavailable,
    NotFound,
    RateLimited,
)
from gateway.core.contract.limits import SANDBOX_BODY_MAX_BYTES
from integrations.operations import sandbox_runs as operations
from integrations.queries import sandbox_runs
from integrations.serializers.sandbox_runs import SandboxRunList, SandboxRunRequest, SandboxRunResponse
from organizations.rules.roles import ANY


class SandboxParser(StrictJSONParser):
    """Parses bodies that contain a run's files."""

    max_bytes = SANDBOX_BODY_MAX_BYTES


class SandboxRunViewSet(ApiViewSet):
    """Single executions of programs in the sandbox."""

    parser_classes = (SandboxParser,)

    @extend_schema(
        operation_id="list_sandbox_runs",
        summary="List sandbox runs",
        parameters=[LIMIT, AFTER],
        responses=SandboxRunList,
    )
    @refuses(IntegrationUnavailable)
    @requires(Capability.SANDBOX_READ, roles=ANY)
    def list(self, request: Request) -> Response:
        """List the runs of the caller's projects, newest first."""
        return Response(SandboxRunList(page_of(request, sandbox_runs.visible_to(caller(request)))).data)

    @extend_schema(
        operation_id="create_sandbox_run",
        summary="Run a program in the sandbox",
        request=SandboxRunRequest,
        responses={202: SandboxRunResponse},
    )
    @refuses(IntegrationUnavailable, NotFound, IdempotencyKeyReused, RateLimited)
    @requires(Capability.SANDBOX_RUN, roles=ANY)
    def create(self, request: Request) -> Response:
        """Queue a run. Repeating the request with the same `idempotencyKey` returns the same run."""
        sandbox_runs.visible_to(caller(request))
        body = read(SandboxRunRequest, request.data)
        run, is_new = operations.create(caller(request), body)
        if is_new:
            from integrations import tasks  # it imports Celery, which a server of model routes does without

            tasks.begin(tasks.execute_run, run.id)
        return Response(SandboxRunResponse(run).data, status=202)

    @extend_schema(operation_id="get_sandbox_run", summary="Get a sandbox run", responses=SandboxRunResponse)
    @refuses(IntegrationUnavailable)
    @requires(Capability.SANDBOX_READ, roles=ANY)
    def retrieve(self, request: Request, run_id: str) -> Response:
        """Return a run with its output so far."""
        return Response(SandboxRunResponse(sandbox_runs.one_of(caller(request), run_id)).data)

    @extend_schema(
        operation_id="cancel_sandbox_run",
        summary="Cancel a sandbox run",
        request=None,
        responses={202: SandboxRunResponse},
    )
    @refuses(IntegrationUnavailable, Forbidden)
    @requires(Capability.SANDBOX_CANCEL, roles=ANY)
    def cancel(self, request: Request, run_id: str) -> Response:
        """End a run and all of its processes within seconds. Repeating, or cancelling a finished run, changes nothing.

        In an organization, members can cancel their own runs, owners and admins all runs.
        """
        sandbox_runs.visible_to(caller(request))
        check_no_members(request)
        run = operations.cancel(caller(request), run_id)
        from integrations import tasks  # as above

        tasks.pass_on_cancel(run)
        return Response(SandboxRunResponse(run).data, status=202)
