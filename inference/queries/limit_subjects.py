"""Finds what is wrong with the subject of a rate limit."""

from accounts.models import Integration
from accounts.rules import dids, public_clients
from billing.rules.limits import NEEDS_SUBJECT, LimitScope
from gateway.core.contract.aliases import ALIAS_ROUTES
from inference.models import Alias, RawModel
from inference.queries import catalogue
from organizations.models import Membership, Organization


def fault_of(scope: LimitScope, subject: str | None) -> str | None:
    """Return why a limit of this scope cannot be for this subject, None if it can. An account need not exist yet."""
    if subject is None:
        return f"is required where the scope is {scope}" if scope in NEEDS_SUBJECT else None
    match scope:
        case LimitScope.ACCOUNT:
            return None if dids.is_did(subject) else "this is not a DID"
        case LimitScope.ORGANIZATION:
            is_known = Organization.objects.filter(pk=subject).exists()
            return None if is_known else f"there is no organization {subject!r}"
        case LimitScope.MEMBER:
            is_known = Membership.objects.filter(pk=subject, removed_at=None).exists()
            return None if is_known else f"there is no membership {subject!r}"
        case LimitScope.CLIENT:
            is_client = public_clients.is_client_id(subject) or Integration.objects.filter(issuer=subject).exists()
            return None if is_client else "this is neither a client's id, an origin, nor an integration's issuer"
        case LimitScope.ALIAS:
            return _fault_of_model(subject)


def _fault_of_model(name: str) -> str | None:
    if name in catalogue.selecting_names():
        return f"{name} selects another alias: limit that one"
    is_known = name in ALIAS_ROUTES or any(
        model.objects.filter(**{column: name}).exists() for model, column in ((Alias, "name"), (RawModel, "model"))
    )
    return None if is_known else f"there is no alias or raw model {name!r}"
