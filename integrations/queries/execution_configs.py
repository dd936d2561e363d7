"""Query for a project's execution configuration."""

from django.utils import timezone

from integrations.models import ExecutionConfig, Project
from integrations.queries import sandbox


def of_project(project: Project) -> ExecutionConfig:
    """Return a project's configuration or, before the first PUT, the defaults as version 0 with the project's date."""
    stored = ExecutionConfig.objects.filter(project=project).first()
    if stored is not None:
        return stored
    limits = sandbox.limits()
    return ExecutionConfig(
        project=project,
        timeout_seconds=limits.default_timeout_seconds,
        memory_mb=limits.default_memory_mb,
        updated_at=project.created_at or timezone.now(),
    )
