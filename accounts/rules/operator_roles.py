"""What operators' ready roles may do, as `app.codename` rights beside seeing every table.

SUPPORT acts on customers, within limits; FINANCE on money. A role that sees a table may look at all that no page hides from
everybody.
"""

VIEWER, SUPPORT, FINANCE, ADMIN = NAMES = ("viewer", "support", "finance", "admin")

DESCRIPTIONS = {
    VIEWER: "sees everything, changes nothing",
    SUPPORT: "acts on customers: writes notes, suspends, ends sessions, sends again, grants small credits",
    FINANCE: "acts on money: prices, credits, refunds, invoices, reviews, differences",
    ADMIN: "everything, except what only an operator with every right does",
}

GIVEN = {
    VIEWER: frozenset[str](),
    SUPPORT: frozenset(
        {
            "accounts.add_note",
            "accounts.suspend_account",
            "accounts.change_devicesession",
            "organizations.suspend_organization",
            "billing.grant_small_creditlot",
            "billing.change_budget",
            "events.change_delivery",
            "events.change_mail",
        }
    ),
    FINANCE: frozenset(
        {
            "billing.add_creditlot",
            "billing.add_priceversion",
            "billing.change_autotopup",
            "billing.change_autotopupcharge",
            "billing.change_budget",
            "billing.change_call",
            "billing.change_checkout",
            "billing.change_invoice",
            "billing.change_lostreceipt",
            "billing.change_paymentdifference",
            "inference.change_journalfolder",
            "inference.change_priceproposal",
        }
    ),
}

SUPERUSERS_OWN = frozenset({"auth.add_group", "auth.change_group", "auth.delete_group", "mfa.delete_authenticator"})
"""Rights that help nobody without every right, so that no role has them."""


def rights_of(role: str, shown: frozenset[str]) -> frozenset[str]:
    """Return a role's rights, of those that the console's tables have (`shown`)."""
    if role == ADMIN:
        return shown - SUPERUSERS_OWN
    seen = frozenset(right for right in shown if right.partition(".")[2].startswith("view_"))
    return seen | (GIVEN[role] & shown)
