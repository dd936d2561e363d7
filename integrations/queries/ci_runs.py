"""Queries for the CI runs of the caller's projects."""

from django.db.models import QuerySet

from accounts.rules.principal import Principal
from gateway.core.contract.errors import IntegrationUnavailable, NotFound
from integrations.models import CIProvider, CIRun
from integrations.queries import projects


def providers() -> QuerySet[CIProvider]:
    """Return the CI providers. Raises IntegrationUnavailable if there is none."""
    found = CIProvider.objects.all()
    if not found.exists():
        raise IntegrationUnavailable("No CI provider is configured on this gateway.")
    return found


def visible_to(principal: Principal) -> QuerySet[CIRun]:
    """Return the runs of the caller's projects. Raises IntegrationUnavailable if there is no provider."""
    providers()
    return CIRun.objects.filter(project__in=projects.visible_to(principal)).select_related("provider")


def one_of(principal: Principal, run_id: str) -> CIRun:
    """Return one of the caller's runs. Raises NotFound."""
    run = visible_to(principal).filter(id=run_id).first()
    if run is None:
        raise NotFound("You have no such CI run.")
    return run


def secrets_of_others(provider_id: int | None) -> set[str]:
    """Return the secrets, current and previous, of all providers but this one."""
    others = CIProvider.objects.all() if provider_id is None else CIProvider.objects.exclude(pk=provider_id)
    return {secret for provider in others for secret in provider.secrets}
