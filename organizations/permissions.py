"""Checks the current access behind an organization's token on every request."""

from dataclasses import replace
from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.rules.principal import CurrentMembership, Principal
from gateway.core.api.access import declared_access
from gateway.core.contract.errors import Forbidden
from organizations.operations.refusals import refusal
from organizations.queries import access


class LiveAccess(BasePermission):
    """Refuses an organization's token if its membership, product or seat is gone, its role is not sufficient, or it is suspended.

    The principal's `current_membership` then holds the role and the membership.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return True, or raise the decision's error (403; 401 if the organization is suspended)."""
        declared = declared_access(type(view), getattr(view, "action", None) or "")
        if declared is None or declared.public:
            return True  # authentication would require a proof, but an unsupported method must give 405
        principal = request.user
        if not isinstance(principal, Principal) or principal.org_id is None:
            return True
        decision = access.decide(principal.org_id, principal.did, principal.product)
        if not decision.allowed:
            raise refusal(decision.reason, principal.org_id)
        assert decision.role
        assert decision.membership_id
        request.user = replace(principal, current_membership=CurrentMembership(decision.role, decision.membership_id))
        if declared.roles and decision.role not in declared.roles:
            raise Forbidden
        return True
