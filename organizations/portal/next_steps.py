"""Suggests next steps on the home page, the most urgent first."""

from collections.abc import Iterator
from typing import NamedTuple

from django.urls import reverse

from accounts.models import Account
from accounts.queries import second_factors
from accounts.rules.passkey_hosts import can_have_passkeys
from billing.queries import payment_pages
from billing.queries.wallets import WalletBalance
from gateway.core.contract.amounts import usd
from organizations.models import Membership
from organizations.queries import memberships
from organizations.rules.roles import MONEY_MANAGERS


class Step(NamedTuple):
    """One suggestion: a reason, and the link for the action."""

    reason: str
    action: str
    path: str


def of(account: Account, wallet: WalletBalance, host: str) -> list[Step]:
    """Return the suggestions for a person, which may be none. Each can be followed at once at the portal's `host`."""
    joined = list(memberships.of_person(account.did))
    return [*_of_wallet(wallet), *_of_bills(joined), *_of_sign_in(account, host), *_of_teams(joined)]


def _of_wallet(wallet: WalletBalance) -> Iterator[Step]:
    if not payment_pages.are_configured():
        return
    path = reverse("portal_wallet")
    if wallet.debt_microusd:
        yield Step(f"You owe {usd(wallet.debt_microusd)}. Nothing can be spent until it is repaid.", "Add money", path)
    elif not wallet.available_microusd:
        yield Step("Your wallet is empty. Calls by apps that you allow are paid from it.", "Add money", path)


def _of_bills(joined: list[Membership]) -> Iterator[Step]:
    for one in joined:
        if one.organization.is_past_due and one.role in MONEY_MANAGERS:
            path = reverse("organization_invoices", args=[one.organization_id])
            yield Step(f"{one.organization.name} has an overdue bill.", "Open its invoices", path)


def _of_sign_in(account: Account, host: str) -> Iterator[Step]:
    if second_factors.await_verification(account):
        reason = "Verify your email address. You can then reset a forgotten password and add a passkey."
        yield Step(reason, "Verify your email address", reverse("account_email"))
    elif can_have_passkeys(host) and not second_factors.has_passkey(account):
        reason = "A passkey lets you sign in with your fingerprint, face or PIN instead of a password."
        yield Step(reason, "Add a passkey", reverse("mfa_add_webauthn"))


def _of_teams(joined: list[Membership]) -> Iterator[Step]:
    if not joined:
        reason = "Work in a team? An organization shares products, seats and one wallet."
        yield Step(reason, "Create an organization", reverse("organizations"))
