"""The execution configuration of a project."""

from django.utils import timezone

from integrations.models import ExecutionConfig, Project


def of_project(project: Project) -> ExecutionConfig:
    """Return a project's configuration; before the first PUT, the defaults at version 0, dated as the project is."""
    stored = ExecutionConfig.objects.filter(project=project).first()
    return stored or ExecutionConfig(project=project, updated_at=project.created_at or timezone.now())
