"""Wire formats of projects and their execution configurations."""

import re
from typing import Any

import orjson
from rest_framework import serializers

from gateway.core.api.serializers import StrictIntegerField, StrictSerializer, StrictStringField, paged_listing
from integrations.models import ExecutionConfig

ARGUMENTS_MAX = 100
ARGUMENT_MAX_CHARACTERS = 16 * 1024
VARIABLES_MAX = 100
VARIABLE_MAX_CHARACTERS = 8 * 1024
MEMORY_MIN_MB = 16

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


class ProjectResponse(serializers.Serializer[Any]):
    """A project."""

    projectId = serializers.CharField(source="id")
    name = serializers.CharField()
    product = serializers.CharField(source="product_id")
    createdAt = serializers.DateTimeField(source="created_at")


ProjectList = paged_listing(ProjectResponse)


class CommandField(serializers.ListField):
    """A program and its arguments."""

    child = StrictStringField(allow_blank=True, trim_whitespace=False, max_length=ARGUMENT_MAX_CHARACTERS)

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=ARGUMENTS_MAX, **options)


class EnvironmentField(serializers.DictField):
    """Environment variables by name."""

    child = StrictStringField(allow_blank=True, trim_whitespace=False, max_length=VARIABLE_MAX_CHARACTERS)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        """Also check the names."""
        values = super().to_internal_value(data)
        if len(values) > VARIABLES_MAX:
            raise serializers.ValidationError(f"At most {VARIABLES_MAX} variables.")
        if not all(_VARIABLE.fullmatch(name) for name in values):
            raise serializers.ValidationError("A variable's name is letters, digits and _, and begins with no digit.")
        return values


class ExecutionConfigRequest(StrictSerializer):
    """The whole configuration. Omitted members get their defaults."""

    runtime = StrictStringField(default="default", max_length=64)
    command = CommandField(default=list)
    environment = EnvironmentField(default=dict)
    timeoutSeconds = StrictIntegerField(
        required=False, min_value=1, help_text="Default: 30, or the operator's maximum if that is less."
    )
    memoryMb = StrictIntegerField(
        required=False, min_value=MEMORY_MIN_MB, help_text="Default: 256, or the operator's maximum if that is less."
    )
    network = serializers.ChoiceField(ExecutionConfig.Network.values, default=ExecutionConfig.Network.NONE.value)


class ExecutionConfigResponse(serializers.Serializer[Any]):
    """A project's execution configuration."""

    projectId = serializers.CharField(source="project_id")
    runtime = serializers.CharField()
    command = serializers.ListField(child=serializers.CharField())
    environment = serializers.SerializerMethodField()
    timeoutSeconds = serializers.IntegerField(source="timeout_seconds")
    memoryMb = serializers.IntegerField(source="memory_mb")
    network = serializers.ChoiceField(ExecutionConfig.Network.values)
    version = serializers.IntegerField()
    updatedAt = serializers.DateTimeField(source="updated_at")

    def get_environment(self, config: ExecutionConfig) -> dict[str, str]:
        """Return the variables."""
        return orjson.loads(config.environment or "{}")
