"""Texts for error codes, roles and audit entries."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gateway.core.contract.amounts import usd
from gateway.core.contract.errors import ApiError
from organizations.models import AuditEntry
from organizations.rules.roles import Role

ERRORS = {
    "last_owner": "An organization needs at least one owner. Make someone else an owner first.",
    "product_disabled": "This product is disabled here. An owner or a billing member can enable it.",
    "seat_cap_reached": "All seats of this product are assigned. Remove one first, or raise the seat cap.",
    "billing_past_due": "This organization has an overdue bill. Seats can be assigned again once it is paid.",
    "forbidden": "Your role does not allow this.",
    "not_member": "You are not a member of this organization.",
    "no_seat": "You have no seat for this product.",
    "not_found": "The item that you wanted to change no longer exists.",
    "external_mapping_unverified": "The payment provider did not confirm that this account bills for your organization. "
    "Check the three points below and make sure that you entered the right account.",
    "integration_unavailable": "The payment provider is not responding. Nothing was changed and nothing was charged. "
    "Try again in a minute.",
    "idempotency_key_reused": "This form was already sent with different details. Check it and send it again.",
    "org_report_limit": "There is more history than one page can show.",
}

ROLES = {
    Role.OWNER: "Everything. Only owners can make or remove owners.",
    Role.ADMIN: "Invite and remove people, change their roles, and assign seats.",
    Role.BILLING: "Enable products, set seat caps, and manage money and budgets.",
    Role.MEMBER: "Use the products that you have a seat for.",
}

ROLE_NEXT = {
    Role.OWNER: "An owner can do everything, and can make or remove owners.",
    Role.ADMIN: "An admin can invite and remove people, change their roles, and assign seats.",
    Role.BILLING: "A billing member can enable products, set seat caps, and manage money and budgets.",
    Role.MEMBER: "A member can use the products that they have a seat for.",
}

REASONS = {
    "allowed": "You can use it.",
    "no_seat": "You have no seat. An owner or admin can assign one to you.",
    "product_disabled": "It is disabled for this organization. An owner or a billing member can enable it.",
    "not_member": "You are not a member of this organization.",
    "organization_suspended": "This organization is suspended.",
}

ACTIONS = {
    "organization.create": "created the organization",
    "organization.rename": "renamed the organization from {before} to {after}",
    "organization.suspend": "suspended the organization",
    "organization.lift": "lifted the organization's suspension",
    "invitation.create": "invited someone as {role}",
    "invitation.revoke": "revoked an invitation",
    "invitation.accept": "joined as {role}",
    "member.role": "changed {subject} from {before} to {after}",
    "member.remove": "removed {subject} ({role})",
    "member.leave": "left ({role})",
    "product.enable": "enabled {subject}",
    "product.disable": "disabled {subject}",
    "product.cap": "changed the seat cap of {subject} from {before} to {after}",
    "seat.assign": "assigned a seat for {product} to {subject}",
    "seat.revoke": "removed the seat for {product} from {subject}",
    "budget.set": "set a budget of {limitMicrousd} per {period} for {scope}",
    "budget.override": "set a limit of {limitMicrousd} per {period} for {scope} until {until}",
    "budget.end_override": "ended the other limit per {period} for {scope}",
    "top_up.begin": "started a top-up of {amountMicrousd}",
    "payment_method.begin": "started to save a payment method",
    "invoice.pay": "had invoice {subject} charged",
    "budget.disable": "turned off a budget per {period} for {scope}",
    "alerts.threshold": "set the balance for alerts from {beforeMicrousd} to {afterMicrousd}",
    "auto_top_up.set": "set automatic top-up to {amountMicrousd} below {thresholdMicrousd}, at most {limitMicrousd} per month",
    "auto_top_up.off": "turned off automatic top-up",
    "payment_method.remove": "removed the payment method",
    "external_mapping.set": "assigned the billing of the seats of {subject} to {externalOrgId} ({mode})",
}
BY_OPERATORS = frozenset({"organization.suspend", "organization.lift"})
SCOPES = {
    "org": "everything",
    "product": "a product",
    "member": "a member",
    "member_product": "a member's use of a product",
}
NO_CAP = "no cap"


def of_error(error: ApiError) -> str:
    """Return the text for an error."""
    return ERRORS.get(error.code, error.message)


def of_role(role: str) -> str:
    """Return a role's description."""
    return ROLES[Role(role)]


def of_new_role(role: str) -> str:
    """Return a message that names a member's new role and what it allows."""
    return f"The role is now {role}. {ROLE_NEXT[Role(role)]}"


def of_entry(entry: AuditEntry, names: Mapping[str, str]) -> str:
    """Describe an audit entry. `names` maps memberships and products to names. Budgets that do not say their period count a
    month."""
    detail = {name: _of_detail(name, value, names) for name, value in entry.detail.items()}
    sentence = ACTIONS.get(entry.action, entry.action)
    return sentence.format(**{"subject": names.get(entry.subject, entry.subject), "period": "month", **detail})


def _of_detail(name: str, value: Any, names: Mapping[str, str]) -> str:
    match name:
        case "limitMicrousd" | "amountMicrousd" | "thresholdMicrousd" | "beforeMicrousd" | "afterMicrousd":
            return usd(value)
        case "product":
            return names.get(value, value)
        case "scope":
            return SCOPES[value]
        case "until":
            return f"{datetime.fromisoformat(value):%-d %B %Y, %H:%M} UTC"
    return NO_CAP if value is None else str(value)
