"""Decides who owns an email address: the account that has proven to receive its mail. If no mail is sent, nobody can,
and the first to sign up with an address keeps it.

An unproven address is a claim. Several accounts may claim one, and none of them locks its owner out.
"""

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import Account


def is_open(email: str) -> bool:
    """Return whether a person may sign up with an address because nobody has more than a claim to it."""
    if settings.ACCOUNT_EMAIL_VERIFICATION != "mandatory":
        return False
    is_proven = EmailAddress.objects.filter(email=email.lower(), verified=True).exists()
    return not is_proven and not _vouched_for(email).exists()


def holder(email: str) -> Account | None:
    """Return the account that an address belongs to: its proven holder or, where no mail is sent, the first to sign up with
    it. Where addresses are verified, a mere claim makes nobody the holder.
    """
    proven = proven_holder(email)
    if proven is not None or settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory":
        return proven
    return Account.objects.filter(email__iexact=email).first()


def proven_holder(email: str) -> Account | None:
    """Return the account that has proven an address, or else the one that an operator gave it to."""
    proven = EmailAddress.objects.filter(email=email.lower(), verified=True).first()
    return Account.objects.get(pk=proven.user_id) if proven else _vouched_for(email).first()


def step_back(email: str) -> None:
    """Clear the way for one more claim: the earlier ones stay, but their accounts are no longer named by the address."""
    Account.objects.filter(email__iexact=email).update(email=None)


def release(email: str, *, keep: Account | None) -> None:
    """End every claim to an address but that of the account that proves it, unless another has proven it already."""
    if not is_open(email):
        return
    others = EmailAddress.objects.filter(email=email.lower(), verified=False)
    others.exclude(user=keep).delete() if keep else others.delete()
    named = Account.objects.filter(email__iexact=email)
    (named.exclude(pk=keep.pk) if keep else named).update(email=None)


def settle(address: EmailAddress) -> bool:
    """Name the account by an address that it has just proven, where that is its primary one."""
    if address.primary:
        Account.objects.filter(pk=address.user_id).update(email=address.email)
    return True


def may_reset(account: Account, email: str) -> bool:
    """Return whether mail to an address may change an account's password.

    Where addresses are verified, only a proven one may, or one that an operator wrote into the account: a claim would
    hand its reader an account that somebody else made. Elsewhere any, unless the account has proven another.
    """
    if EmailAddress.objects.filter(user=account, email=email.lower(), verified=True).exists():
        return True
    if settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory":
        return _vouched_for(email).filter(pk=account.pk).exists()
    return not EmailAddress.objects.filter(user=account, verified=True).exists()


def _vouched_for(email: str) -> QuerySet[Account]:
    """Select the accounts that an operator gave the address, and operators themselves.

    A person's own claim is the account's primary address; django-allauth notes an operator's as a secondary one.
    """
    claimed = EmailAddress.objects.filter(user=OuterRef("pk"), email=email.lower(), primary=True)
    return Account.objects.filter(Q(is_staff=True) | ~Exists(claimed), email__iexact=email)
