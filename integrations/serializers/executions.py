"""Wire formats that executions share."""

from typing import Any

from rest_framework import serializers


class ExecutionErrorResponse(serializers.Serializer[Any]):
    """Why an execution failed, unless the program's own exit code says so."""

    code = serializers.CharField()
    message = serializers.CharField()
