"""GET /v1/ci/runs and /v1/ci/runs/<run_id>."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from gateway.core.api.access import requires
from gateway.core.api.pagination import AFTER, LIMIT, page_of
from gateway.core.api.schema import refuses
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import IntegrationUnavailable
from integrations.queries import ci_runs
from integrations.serializers.ci_runs import CIRunList, CIRunResponse
from organizations.rules.roles import ANY


class CIRunViewSet(ApiViewSet):
    """CI runs of the caller's projects."""

    @extend_schema(operation_id="list_ci_runs", summary="List CI runs", parameters=[LIMIT, AFTER], responses=CIRunList)
    @refuses(IntegrationUnavailable)
    @requires(Capability.CI_READ, roles=ANY)
    def list(self, request: Request) -> Response:
        """List CI runs, newest first."""
        return Response(CIRunList(page_of(request, ci_runs.visible_to(caller(request)))).data)

    @extend_schema(operation_id="get_ci_run", summary="Get a CI run", responses=CIRunResponse)
    @refuses(IntegrationUnavailable)
    @requires(Capability.CI_READ, roles=ANY)
    def retrieve(self, request: Request, run_id: str) -> Response:
        """Return a CI run with its steps."""
        return Response(CIRunResponse(ci_runs.one_of(caller(request), run_id)).data)
