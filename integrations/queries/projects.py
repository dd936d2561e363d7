"""Queries for the caller's projects."""

from django.db.models import QuerySet

from accounts.rules.principal import Principal
from gateway.core.contract.errors import IntegrationUnavailable, NotFound
from integrations.models import Project


def visible_to(principal: Principal) -> QuerySet[Project]:
    """Return the projects of the token's organization or, without one, of its account. If the token has a product, only
    that product's. Raises IntegrationUnavailable if the gateway has no projects.
    """
    kind, key = principal.owner
    found = Project.objects.filter(owner_kind=kind, owner_key=key)
    if principal.product is not None:
        found = found.filter(product_id=principal.product)
    if not found.exists() and not Project.objects.exists():
        raise IntegrationUnavailable("No projects are configured on this gateway.")
    return found


def one_of(principal: Principal, project_id: str, *, param: str | None = None) -> Project:
    """Return one of the caller's projects. Raises NotFound; `param` is the request member that names it."""
    project = visible_to(principal).filter(id=project_id).first()
    if project is None:
        raise NotFound("You have no such project.", param=param)
    return project
