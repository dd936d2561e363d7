"""What executions have in common on the wire."""

from typing import Any

from rest_framework import serializers


class ExecutionErrorResponse(serializers.Serializer[Any]):
    """Why an execution failed, other than by its program's own exit code."""

    code = serializers.CharField()
    message = serializers.CharField()
