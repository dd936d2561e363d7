"""Queries for the sandbox runs of the caller's projects."""

from django.db.models import QuerySet

from accounts.rules.principal import Principal
from gateway.core.contract.errors import NotFound
from integrations.models import SandboxRun
from integrations.queries import projects, sandbox


def visible_to(principal: Principal) -> QuerySet[SandboxRun]:
    """Return the runs of the caller's projects. Raises IntegrationUnavailable if there is no sandbox."""
    sandbox.settings()
    return SandboxRun.objects.filter(project__in=projects.visible_to(principal)).defer("inputs")


def one_of(principal: Principal, run_id: str) -> SandboxRun:
    """Return one of the caller's runs. Raises NotFound."""
    run = visible_to(principal).filter(id=run_id).first()
    if run is None:
        raise NotFound("You have no such run.")
    return run
