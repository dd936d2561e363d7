"""Wire format of CI runs."""

from typing import Any

from rest_framework import serializers

from gateway.core.api.serializers import paged_listing
from integrations.models import CIRun
from integrations.rules.ci_reports import STEP_STATUSES


class CIStepResponse(serializers.Serializer[Any]):
    """One step of a run."""

    name = serializers.CharField()
    status = serializers.ChoiceField(STEP_STATUSES)
    startedAt = serializers.DateTimeField(allow_null=True)
    finishedAt = serializers.DateTimeField(allow_null=True)


class CIRunResponse(serializers.Serializer[Any]):
    """A CI run as its provider last reported it."""

    runId = serializers.CharField(source="id")
    projectId = serializers.CharField(source="project_id")
    provider = serializers.CharField(source="provider.name")
    externalId = serializers.CharField(source="external_id")
    ref = serializers.CharField()
    commit = serializers.CharField()
    status = serializers.ChoiceField(CIRun.Status.values)
    steps = CIStepResponse(many=True)
    url = serializers.SerializerMethodField()
    createdAt = serializers.DateTimeField(source="created_at")
    finishedAt = serializers.DateTimeField(source="finished_at", allow_null=True)

    def get_url(self, run: CIRun) -> str | None:
        """Return the provider's page for the run, or null if it is not known."""
        return run.url or None


CIRunList = paged_listing(CIRunResponse)
