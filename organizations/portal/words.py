"""Error codes, roles and audit entries in plain words."""

from collections.abc import Mapping
from typing import Any

from gateway.core.contract.amounts import usd
from gateway.core.contract.errors import ApiError
from organizations.models import AuditEntry
from organizations.rules.roles import Role

ERRORS = {
    "last_owner": "An organization needs at least one owner. Make somebody else an owner first.",
    "product_disabled": "This product is switched off here. An owner or a billing member can enable it.",
    "seat_cap_reached": "All seats of this product are taken. Free one first, or have the limit raised.",
    "billing_past_due": "A bill of this organization is past due. Seats can be given again once it is paid.",
    "forbidden": "Your role does not allow this.",
    "not_member": "You are not a member of this organization.",
    "no_seat": "You have no seat for this product.",
    "not_found": "What you wanted to change is no longer there.",
    "external_mapping_unverified": "The provider does not confirm that this account bills for your organization. Check the "
    "three points above, and that you named the right account.",
    "integration_unavailable": "The payment provider is not responding. Nothing was changed and nothing was charged. "
    "Try again in a minute.",
    "idempotency_key_reused": "This form was already sent with different details. Check it and send it again.",
    "org_report_limit": "There is more history here than one page can show.",
}

ROLES = {
    Role.OWNER: "Everything. Only owners can make or remove owners.",
    Role.ADMIN: "Invite and remove people, change their roles, and give out seats.",
    Role.BILLING: "Enable products, limit their seats, and look after money and budgets.",
    Role.MEMBER: "Use the products that you have a seat for.",
}

REASONS = {
    "allowed": "You can use it.",
    "no_seat": "You have no seat. An owner or admin can give you one.",
    "product_disabled": "It is switched off for this organization. An owner or a billing member can enable it.",
    "not_member": "You are not a member of this organization.",
}

ACTIONS = {
    "organization.create": "founded the organization",
    "invitation.create": "invited a new {role}",
    "invitation.revoke": "took an invitation back",
    "invitation.accept": "joined as {role}",
    "member.role": "changed {subject} from {before} to {after}",
    "member.remove": "removed {subject} ({role})",
    "product.enable": "enabled {subject}",
    "product.disable": "disabled {subject}",
    "product.cap": "changed the seats of {subject} from {before} to {after}",
    "seat.assign": "gave {subject} a seat for {product}",
    "seat.revoke": "took the seat for {product} from {subject}",
    "budget.set": "set a budget of {limitMicrousd} a month for {scope}",
    "top_up.begin": "began a top-up of {amountMicrousd}",
    "payment_method.begin": "began to leave a payment method",
    "budget.disable": "switched off a budget for {scope}",
    "external_mapping.set": "left the seats of {subject} to be billed by {externalOrgId} ({mode})",
}
SCOPES = {
    "org": "everything",
    "product": "a product",
    "member": "a member",
    "member_product": "a member's use of a product",
}
UNLIMITED = "no limit"


def of_error(error: ApiError) -> str:
    """Say what went wrong."""
    return ERRORS.get(error.code, error.message)


def of_role(role: str) -> str:
    """Say what a role is for."""
    return ROLES[Role(role)]


def of_entry(entry: AuditEntry, names: Mapping[str, str]) -> str:
    """Say what somebody did; `names` has those of memberships and products."""
    detail = {name: _of_detail(name, value, names) for name, value in entry.detail.items()}
    sentence = ACTIONS.get(entry.action, entry.action)
    return sentence.format(subject=names.get(entry.subject, entry.subject), **detail)


def _of_detail(name: str, value: Any, names: Mapping[str, str]) -> str:
    match name:
        case "limitMicrousd" | "amountMicrousd":
            return usd(value)
        case "product":
            return names.get(value, value)
        case "scope":
            return SCOPES[value]
    return UNLIMITED if value is None else str(value)
