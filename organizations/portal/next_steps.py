"""Suggests next steps on the home page, the most urgent first."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from accounts.models import Account
from accounts.queries import app_names, devices, second_factors
from accounts.rules.passkey_hosts import can_have_passkeys
from billing.queries import budgets, payment_pages
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


def of(account: Account, wallet: WalletBalance, host: str, *, now: datetime, has_used: bool) -> list[Step]:
    """Return the suggestions for a person, which may be none. Each can be followed at once at the portal's `host`. `has_used`
    says that the person has made calls this month."""
    joined, apps = list(memberships.of_person(account.did)), devices.live_of(account, now).exists()
    return [
        *_of_wallet(wallet),
        *_of_suspensions(joined),
        *_of_bills(joined),
        *_of_budgets(account, now, has_apps=apps),
        *_of_sign_in(account, host),
        *_of_developers(is_new=not (apps or has_used)),
        *_of_teams(joined),
    ]


def _of_wallet(wallet: WalletBalance) -> Iterator[Step]:
    if not payment_pages.are_configured():
        return
    path = reverse("portal_wallet")
    if wallet.debt_microusd:
        yield Step(f"You owe {usd(wallet.debt_microusd)}. Nothing can be spent until it is repaid.", "Add money", path)
    elif not wallet.available_microusd:
        yield Step("Your wallet is empty. Calls by apps that you allow are paid from it.", "Add money", path)


def _of_suspensions(joined: list[Membership]) -> Iterator[Step]:
    for one in joined:
        if one.organization.suspended_at:
            path = reverse("organization", args=[one.organization_id])
            yield Step(f"{one.organization.name} is suspended. Apps cannot make calls for it.", "See why", path)


def _of_bills(joined: list[Membership]) -> Iterator[Step]:
    for one in joined:
        if one.organization.is_past_due and one.role in MONEY_MANAGERS:
            path = reverse("organization_invoices", args=[one.organization_id])
            yield Step(f"{one.organization.name} has an overdue bill.", "Open its invoices", path)


def _of_budgets(account: Account, now: datetime, *, has_apps: bool) -> Iterator[Step]:
    owner, path = ("account", account.did), reverse("portal_apps")
    nearly = budgets.nearly_used(owner, now)
    names = app_names.of(budget.client_id for budget, _ in nearly if budget.client_id)
    for budget, bar in nearly:
        whose = f" for {names[budget.client_id]}" if budget.client_id else ""
        used = "is used up, so calls are refused" if bar.is_full else f"is {bar.used_percent}% used"
        reason = f"Your budget of {usd(budget.limit_at(now))} a {budget.period}{whose} {used}."
        yield Step(reason, "Change the budget", f"{path}?{urlencode({'app': budget.client_id or ''})}#set")
    if has_apps and not nearly and not budgets.of_owner(owner).filter(disabled_at=None).exists():
        reason = "Your apps can spend everything in your wallet. A budget limits what they spend in a day, a week or a month."
        yield Step(reason, "Set a budget", f"{path}#set")


def _of_developers(*, is_new: bool) -> Iterator[Step]:
    if is_new:
        reason = "Do you write programs? Send your first request, from a shell, Python or TypeScript."
        yield Step(reason, "See how", reverse("portal_developers"))


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
