"""Wire format of evolution jobs."""

from typing import Any

from rest_framework import serializers

from gateway.core.api.serializers import IdempotencyKeyField, StrictSerializer, StrictStringField, paged_listing
from integrations.models.execution import Execution
from integrations.serializers.executions import ExecutionErrorResponse

INPUTS_MAX = 20
EVIDENCE_MAX = 100
STATUSES = [
    status.value
    for status in Execution.Status
    if status not in (Execution.Status.TIMED_OUT, Execution.Status.CANCELLING)
]


class IdsField(serializers.ListField):
    """A list of distinct ids."""

    child = StrictStringField(max_length=64)

    def to_internal_value(self, data: Any) -> list[str]:
        ids: list[str] = super().to_internal_value(data)
        if len(set(ids)) != len(ids):
            raise serializers.ValidationError("Name each id once.")
        return ids


class EvolutionJobRequest(StrictSerializer):
    """The body of POST /v1/evolution/jobs."""

    program = StrictStringField(max_length=64, help_text="One of the operator's programs.")
    inputs = IdsField(min_length=1, max_length=INPUTS_MAX, help_text="Ids of artifacts.")
    evidence = IdsField(default=list, max_length=EVIDENCE_MAX, help_text="Ids of evidence.")
    idempotencyKey = IdempotencyKeyField(required=False)


class EvolutionJobResponse(serializers.Serializer[Any]):
    """A job. Its result is an artifact."""

    jobId = serializers.CharField(source="id")
    program = serializers.CharField()
    status = serializers.ChoiceField(STATUSES)
    inputs = serializers.ListField(source="artifact_ids", child=serializers.CharField())
    evidence = serializers.ListField(source="evidence_ids", child=serializers.CharField())
    resultArtifactId = serializers.CharField(source="result_artifact_id", allow_null=True)
    error = ExecutionErrorResponse(allow_null=True)
    createdAt = serializers.DateTimeField(source="created_at")
    finishedAt = serializers.DateTimeField(source="finished_at", allow_null=True)


EvolutionJobList = paged_listing(EvolutionJobResponse)
