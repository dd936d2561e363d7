"""Query for a project's execution configuration."""

from django.utils import timezone

from integrations.models import ExecutionConfig, Project


def of_project(project: Project) -> ExecutionConfig:
    """Return a project's configuration or, before the first PUT, the defaults as version 0 with the project's date."""
    stored = ExecutionConfig.objects.filter(project=project).first()
    return stored or ExecutionConfig(project=project, updated_at=project.created_at or timezone.now())
