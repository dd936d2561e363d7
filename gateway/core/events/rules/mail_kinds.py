"""The kinds of mails: what a person can turn off, and what always arrives."""

from typing import NamedTuple


class MailKind(NamedTuple):
    """A kind of mails. `title` is its switch, `description` says when they are sent.

    Only what a person may do without can be turned off: not what concerns the security of the account, and not what a person
    needs for the books.
    """

    name: str
    title: str
    description: str
    can_unsubscribe: bool = False
    for_account: bool = False
    for_money_managers: bool = False
    for_members: bool = False


WALLET = MailKind(
    "wallet",
    "Low balance",
    "When there is less in the wallet than you chose, and when it is empty.",
    can_unsubscribe=True,
    for_account=True,
    for_money_managers=True,
)
BUDGET = MailKind(
    "budget",
    "Budgets",
    "When 80% and 100% of a budget are spent.",
    can_unsubscribe=True,
    for_account=True,
    for_money_managers=True,
)
MEMBER_BUDGET = MailKind(
    "member_budget",
    "Budgets of single members",
    "When 80% and 100% of a member's budget are spent.",
    can_unsubscribe=True,
    for_money_managers=True,
)
OWN_BUDGET = MailKind(
    "own_budget",
    "Your own budget",
    "When you have spent 80% and 100% of your budget in the organization.",
    can_unsubscribe=True,
    for_members=True,
)
MODEL = MailKind(
    "model",
    "Retired models",
    "When a model that was used in the last 30 days is no longer offered.",
    can_unsubscribe=True,
    for_account=True,
    for_money_managers=True,
)
INVITATION = MailKind("invitation", "Invitations", "When you are invited to an organization.", can_unsubscribe=True)
PAYMENT = MailKind("payment", "Payments", "When a payment was received or failed, and what automatic top-up did.")
INVOICE = MailKind("invoice", "Invoices", "When an invoice is issued, charged or past due.")
SECURITY = MailKind("security", "Security", "When a second factor is added, or an app is signed in.")
SUSPENSION = MailKind("suspension", "Suspension", "When an account or an organization is suspended.")

KINDS = {
    kind.name: kind
    for kind in (
        WALLET,
        BUDGET,
        MEMBER_BUDGET,
        OWN_BUDGET,
        MODEL,
        INVITATION,
        PAYMENT,
        INVOICE,
        SECURITY,
        SUSPENSION,
    )
}


def switches_of_account() -> list[MailKind]:
    """Return what a person can turn off about their own account."""
    return [kind for kind in KINDS.values() if kind.can_unsubscribe and kind.for_account]


def switches_in_organization(*, manages_money: bool) -> list[MailKind]:
    """Return what a member can turn off about an organization."""
    return [
        kind
        for kind in KINDS.values()
        if kind.can_unsubscribe and (kind.for_members or (manages_money and kind.for_money_managers))
    ]
