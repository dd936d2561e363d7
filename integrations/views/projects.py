"""GET /v1/projects, and /v1/projects/<project_id>/execution-config."""

import re

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from gateway.core.api.access import requires
from gateway.core.api.pagination import AFTER, LIMIT, page_of
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import IntegrationUnavailable, InvalidRequest, RevisionConflict
from integrations.models import ExecutionConfig
from integrations.operations import execution_configs as operations
from integrations.queries import execution_configs, projects
from integrations.serializers.projects import (
    ExecutionConfigRequest,
    ExecutionConfigResponse,
    ProjectList,
)
from organizations.rules.roles import ANY, PEOPLE_MANAGERS

IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="The version to replace, with or without quotes."
)
_VERSION = re.compile(r'(?P<quote>"?)(?P<version>[0-9]{1,9})(?P=quote)')


class ProjectViewSet(ApiViewSet):
    """The caller's projects."""

    @extend_schema(
        operation_id="list_projects", summary="List projects", parameters=[LIMIT, AFTER], responses=ProjectList
    )
    @refuses(IntegrationUnavailable)
    @requires(Capability.PROJECTS_READ, roles=ANY)
    def list(self, request: Request) -> Response:
        """List the projects of the account or, under an organization's token, of the organization."""
        return Response(ProjectList(page_of(request, projects.visible_to(caller(request)))).data)


class ExecutionConfigViewSet(ApiViewSet):
    """A project's execution configuration."""

    @extend_schema(
        operation_id="get_execution_config", summary="Get an execution configuration", responses=ExecutionConfigResponse
    )
    @refuses(IntegrationUnavailable)
    @requires(Capability.PROJECTS_READ, roles=ANY)
    def retrieve(self, request: Request, project_id: str) -> Response:
        """Return the configuration; before the first PUT, the defaults as version 0."""
        return _answer(execution_configs.of_project(projects.one_of(caller(request), project_id)))

    @extend_schema(
        operation_id="replace_execution_config",
        summary="Replace an execution configuration",
        parameters=[IF_MATCH],
        request=ExecutionConfigRequest,
        responses=ExecutionConfigResponse,
    )
    @refuses(IntegrationUnavailable, RevisionConflict)
    @requires(Capability.PROJECTS_CONFIGURE, roles=PEOPLE_MANAGERS)
    def update(self, request: Request, project_id: str) -> Response:
        """Replace the whole configuration. Omitted members get their defaults."""
        project = projects.one_of(caller(request), project_id)
        body = read(ExecutionConfigRequest, request.data)
        return _answer(operations.replace(project, body, expected_version=_expected_version(request)))


def _expected_version(request: Request) -> int | None:
    sent = request.headers.get("If-Match")
    if sent is None:
        return None
    parts = _VERSION.fullmatch(sent.strip())
    if parts is None:
        raise InvalidRequest("If-Match must be the version to replace.", param="If-Match")
    return int(parts["version"])


def _answer(config: ExecutionConfig) -> Response:
    return Response(ExecutionConfigResponse(config).data, headers={"ETag": f'"{config.version}"'})
