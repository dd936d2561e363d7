"""Replaces execution configurations of projects."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone

from gateway.core.contract.errors import NotFound, RevisionConflict
from integrations.models import ExecutionConfig, Project
from integrations.queries import execution_configs, sandbox
from integrations.rules.execution import check_config


@transaction.atomic
def replace(project: Project, values: Mapping[str, Any], *, expected_version: int | None) -> ExecutionConfig:
    """Replace the whole configuration. A lock on the project's row serializes changes.

    Raises RevisionConflict if `expected_version` is not the current one, InvalidRequest beyond the operator's limits,
    and NotFound if the operator deleted the project meanwhile.
    """
    if Project.objects.select_for_update(no_key=True).filter(id=project.id).first() is None:
        raise NotFound("You have no such project.")
    current = execution_configs.of_project(project)
    if expected_version is not None and expected_version != current.version:
        raise RevisionConflict(details={"version": current.version})
    limits = sandbox.limits()
    values = {"timeoutSeconds": limits.default_timeout_seconds, "memoryMb": limits.default_memory_mb, **values}
    check_config(values, limits)
    config = ExecutionConfig(
        project=project,
        runtime=values["runtime"],
        command=values["command"],
        environment=orjson.dumps(values["environment"]).decode(),
        timeout_seconds=values["timeoutSeconds"],
        memory_mb=values["memoryMb"],
        network=values["network"],
        version=current.version + 1,
        updated_at=timezone.now(),
    )
    config.save(force_insert=current.version == 0, force_update=current.version > 0)
    return config
