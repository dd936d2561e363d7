"""Organization tokens live as long as the access that they stand for: every request asks again."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from gateway.api.access import declared_access
from gateway.contract.errors import Forbidden
from organizations.queries import access
from organizations.rules.access import denial


class LiveAccess(BasePermission):
    """Refuses a token of an organization once its membership, product or seat is gone, or its role does not suffice."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return True, or raise the decision's error (403)."""
        declared = declared_access(type(view), getattr(view, "action", None) or "")
        if declared is None or declared.public:
            return True  # asking who calls would demand a proof; a method that the route lacks is answered by 405
        principal: Any = request.user  # a Principal, or None on a public route
        if principal is None or principal.org_id is None:
            return True
        decision = access.decide(principal.org_id, principal.did, principal.product)
        if not decision.allowed:
            raise denial(decision.reason)
        # What routes of other apps show and narrow by.
        request.organization_role = decision.role  # type: ignore[attr-defined]
        request.organization_membership_id = decision.membership_id  # type: ignore[attr-defined]
        if declared.roles and decision.role not in declared.roles:
            raise Forbidden
        return True
