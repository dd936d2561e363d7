"""Wire format of sandbox runs."""

from typing import Any

from rest_framework import serializers

from gateway.core.api.serializers import (
    IdempotencyKeyField,
    StrictIntegerField,
    StrictSerializer,
    StrictStringField,
    paged_listing,
)
from integrations.models.execution import Execution
from integrations.rules.paths import BadPath, check_paths
from integrations.serializers.executions import ExecutionErrorResponse
from integrations.serializers.projects import CommandField


class FilesField(serializers.DictField):
    """Text files by relative path."""

    child = StrictStringField(allow_blank=True, trim_whitespace=False)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        """Check the paths first: they must stay in the run's folder."""
        if isinstance(data, dict):
            try:
                check_paths(data)
            except BadPath as error:
                raise serializers.ValidationError(f"Not usable: {error}.") from None
        values: dict[str, str] = super().to_internal_value(data)
        return values


class SandboxRunRequest(StrictSerializer):
    """The body of POST /v1/sandbox/runs."""

    projectId = StrictStringField(max_length=64)
    command = CommandField(required=False, help_text="Default: the command of the project's execution configuration.")
    files = FilesField(required=False, help_text="Text files by path, relative to the run's working folder.")
    stdin = StrictStringField(required=False, allow_blank=True, trim_whitespace=False)
    timeoutSeconds = StrictIntegerField(required=False, min_value=1)
    idempotencyKey = IdempotencyKeyField(required=False)


class SandboxRunResponse(serializers.Serializer[Any]):
    """A run. stdout and stderr are the output so far."""

    runId = serializers.CharField(source="id")
    projectId = serializers.CharField(source="project_id")
    status = serializers.ChoiceField(Execution.Status.values)
    exitCode = serializers.IntegerField(source="exit_code", allow_null=True)
    stdout = serializers.CharField()
    stderr = serializers.CharField()
    truncated = serializers.BooleanField()
    error = ExecutionErrorResponse(allow_null=True)
    createdAt = serializers.DateTimeField(source="created_at")
    startedAt = serializers.DateTimeField(source="started_at", allow_null=True)
    finishedAt = serializers.DateTimeField(source="finished_at", allow_null=True)


SandboxRunList = paged_listing(SandboxRunResponse)
