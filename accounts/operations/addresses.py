"""Decides which account owns an email address: the one that has verified it. If the gateway sends no mail, it is the
first to sign up with the address.

An unverified address is only a claim. Several accounts may claim an address, and no claim locks out its owner.
"""

from collections.abc import Collection

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import Account


def is_open(email: str) -> bool:
    """Return whether a person may sign up with an address because other accounts have at most a claim to it."""
    if settings.ACCOUNT_EMAIL_VERIFICATION != "mandatory":
        return False
    is_proven = EmailAddress.objects.filter(email=email.lower(), verified=True).exists()
    return not is_proven and not _assigned_by_operator(email).exists()


def holder(email: str) -> Account | None:
    """Return the account that owns an address: the one that verified it or, if no mail is sent, the first to sign up
    with it. If addresses are verified, a claim does not prove ownership.
    """
    proven = verified_holder(email)
    if proven is not None or settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory":
        return proven
    return Account.objects.filter(email__iexact=email).first()


def verified_holder(email: str) -> Account | None:
    """Return the account that verified an address, or else the one that an operator assigned it to."""
    proven = EmailAddress.objects.filter(email=email.lower(), verified=True).first()
    return Account.objects.get(pk=proven.user_id) if proven else _assigned_by_operator(email).first()


def addresses_of(account: Account) -> set[str]:
    """Return every address that an account has or claims, in lower case."""
    claimed = EmailAddress.objects.filter(user=account).values_list("email", flat=True)
    return {email.lower() for email in (account.email, *claimed) if email}


def clear_account_emails(email: str) -> None:
    """Make room for a new claim: earlier claims remain, but the address is removed from their accounts' `email`."""
    Account.objects.filter(email__iexact=email).update(email=None)


def release(email: str, *, keep: Account | None) -> None:
    """End all claims to an address except that of `keep`, unless another account has verified it already."""
    if not is_open(email):
        return
    others = EmailAddress.objects.filter(email=email.lower(), verified=False)
    others.exclude(user=keep).delete() if keep else others.delete()
    named = Account.objects.filter(email__iexact=email)
    (named.exclude(pk=keep.pk) if keep else named).update(email=None)


def settle(address: EmailAddress) -> bool:
    """Set the account's `email` to an address that it has just verified, if the address is its primary one."""
    if address.primary:
        Account.objects.filter(pk=address.user_id).update(email=address.email)
    return True


def may_reset(account: Account, email: str) -> bool:
    """Return whether mail to an address may change an account's password.

    If addresses are verified, only a verified address may, or one that an operator assigned: with a mere claim, the
    address's owner could take over an account that somebody else created. Otherwise any address may, unless the account
    has verified another.
    """
    if EmailAddress.objects.filter(user=account, email=email.lower(), verified=True).exists():
        return True
    if settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory":
        return _assigned_by_operator(email).filter(pk=account.pk).exists()
    return not EmailAddress.objects.filter(user=account, verified=True).exists()


def mailboxes_of(accounts: Collection[Account]) -> dict[int, str]:
    """Return the address that each account gets its mail at, by the account's key: the verified one (the primary one of
    several), or else one that an operator assigned. Accounts without either are left out.
    """
    known = EmailAddress.objects.filter(user__in=accounts).order_by("primary", "pk")
    verified = {one.user_id: one.email for one in known if one.verified}
    claimed = {(one.user_id, one.email.lower()) for one in known if one.primary}
    assigned = {
        account.pk: account.email
        for account in accounts
        if account.email and (account.is_staff or (account.pk, account.email.lower()) not in claimed)
    }
    return {**assigned, **verified}


def _assigned_by_operator(email: str) -> QuerySet[Account]:
    """Select the accounts that an operator assigned the address to, and operators' own accounts.

    A person's own claim is the account's primary address; django-allauth records one that an operator assigned as
    secondary.
    """
    claimed = EmailAddress.objects.filter(user=OuterRef("pk"), email=email.lower(), primary=True)
    return Account.objects.filter(Q(is_staff=True) | ~Exists(claimed), email__iexact=email)
