"""What the accounts app exports of a person's data: the account, how its person signs in, and what they allowed apps."""

import json
from collections.abc import Iterator

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession

from accounts.models import Account
from gateway.core.api.times import rfc3339, rfc3339_or_none
from gateway.core.events.queries import mails as mail_queries
from gateway.core.portal.csv_files import Row

EMAIL_ADDRESSES = ("email", "is_verified", "is_primary")
SIGN_IN_METHODS = ("kind", "name", "created_at", "last_used_at")
BROWSERS = ("ip", "user_agent", "created_at", "last_seen_at")
DEVICES = ("id", "app", "name", "key_thumbprint", "scopes", "created_at", "last_used_at", "expires_at", "revoked_at")
MAILS = ("happened_at", "kind", "subject", "to", "status", "sent_at")
MAILS_TURNED_OFF = ("about", "kind", "turned_off_at")
CONSENTS = ("app", "kind", "given_at", "withdrawn_at")


def account(who: Account) -> Iterator[str]:
    """Return the account as a JSON object."""
    about = {
        "did": who.did,
        "displayName": who.display_name,
        "email": who.email,
        "createdAt": rfc3339(who.created_at),
        "lastSignedInAt": rfc3339_or_none(who.last_login),
    }
    yield json.dumps(about, indent=2, ensure_ascii=False) + "\n"


def email_addresses(who: Account) -> Iterator[Row]:
    """Return a row of EMAIL_ADDRESSES for each address."""
    for one in EmailAddress.objects.filter(user=who).order_by("pk"):
        yield one.email, str(one.verified).lower(), str(one.primary).lower()


def sign_in_methods(who: Account) -> Iterator[Row]:
    """Return a row of SIGN_IN_METHODS for each second factor, passkey and identity provider, without secrets."""
    for one in Authenticator.objects.filter(user=who).order_by("pk"):
        name = one.data.get("name", "") if isinstance(one.data, dict) else ""
        yield one.type, name, rfc3339(one.created_at), rfc3339_or_none(one.last_used_at)
    for social in SocialAccount.objects.filter(user=who).order_by("pk"):
        yield social.provider, social.uid, rfc3339(social.date_joined), rfc3339_or_none(social.last_login)


def browsers(who: Account) -> Iterator[Row]:
    """Return a row of BROWSERS for each browser in which the person is signed in."""
    for one in UserSession.objects.filter(user=who).order_by("pk"):
        yield one.ip, one.user_agent, rfc3339(one.created_at), rfc3339(one.last_seen_at)


def devices(who: Account) -> Iterator[Row]:
    """Return a row of DEVICES for each sign-in of an app that is stored."""
    for one in who.device_sessions.order_by("created_at", "pk"):
        times = map(rfc3339_or_none, (one.created_at, one.last_used_at, one.expires_at, one.revoked_at))
        yield one.pk, one.client_id, one.name, one.jkt, " ".join(one.scopes), *times


def consents(who: Account) -> Iterator[Row]:
    """Return a row of CONSENTS for each consent."""
    for one in who.consents.order_by("given_at", "pk"):
        yield one.client_id, one.kind, rfc3339(one.given_at), rfc3339_or_none(one.withdrawn_at)


def mails(who: Account) -> Iterator[Row]:
    """Return a row of MAILS for each thing that the person was told."""
    for one in mail_queries.of_recipient(who.did).order_by("pk"):
        sent_at = rfc3339_or_none(one.sent_at)
        yield rfc3339(one.event.created_at), one.kind, one.subject, one.to, one.status, sent_at


def mails_turned_off(who: Account) -> Iterator[Row]:
    """Return a row of MAILS_TURNED_OFF for each kind of mails that the person does not want, with the account or organization."""
    for one in mail_queries.turned_off(who.did):
        yield one.owner_key, one.kind, rfc3339(one.created_at)
