"""Base class of the routes below one organization, which checks the caller's membership first."""

from typing import Any

from rest_framework.request import Request

from accounts.authentication import caller
from accounts.models import Account
from gateway.core.api.access import declared_access
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.errors import Forbidden, NotFound
from organizations.models import Membership
from organizations.queries import memberships
from organizations.rules.roles import ANY


class OrganizationViewSet(ApiViewSet):
    """A viewset below /v1/organizations/<org_id>; `self.membership` is the caller's, with a role that the action
    allows.
    """

    membership: Membership

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the token and its capability, then that an organization's token is used only for that organization,
        then the role.
        """
        super().initial(request, *args, **kwargs)
        if not self.action:
            return
        if caller(request).org_id not in (None, kwargs["org_id"]):
            raise Forbidden("A token for one organization cannot manage another.")
        access = declared_access(type(self), self.action)
        roles = (access.roles if access else ()) or ANY
        self.membership = memberships.with_role(kwargs["org_id"], caller(request).did, roles)


def actor(request: Request) -> str:
    """Return the caller's DID, from the token or the portal's session, never from the body."""
    return caller(request).did


def account_of(request: Request) -> Account:
    """Load the caller's account."""
    account = Account.objects.filter(did=actor(request)).first()
    if account is None:
        raise NotFound
    return account


def product_of(request: Request) -> str | None:
    """Return the optional query parameter `product`, or None if it is empty."""
    return request.query_params.get("product") or None
