"""What people are mailed about their accounts."""

from datetime import UTC, datetime

from allauth.mfa.models import Authenticator
from django.urls import reverse

from accounts.models import DeviceSession
from accounts.queries import app_names
from accounts.queries.mail_people import of_account
from gateway.core.events.models import Event
from gateway.core.events.registry import MailDraft
from gateway.core.events.rules.mail_kinds import SECURITY, SUSPENSION, MailKind

FACTORS = {"totp": "An authenticator app", "webauthn": "A passkey"}


def of_second_factor(event: Event) -> list[MailDraft]:
    """Return the mail about a new second factor: `{type, factorId}`. Its name is not in the event, which outlives the account."""
    factor = Authenticator.objects.filter(pk=event.data["factorId"], user__did=event.owner_key).first()
    context = {
        "factor": FACTORS.get(event.data["type"], "A second factor"),
        "factor_name": str(factor.data.get("name", "")) if factor else "",
        "at": in_words(event.created_at),
        "security_path": reverse("mfa_index"),
    }
    return _to_the_person(event, "second_factor_added", SECURITY, context)


def of_device_session(event: Event) -> list[MailDraft]:
    """Return the mail about an app that was signed in, unless its session is gone already."""
    session = DeviceSession.objects.filter(pk=event.data["deviceSessionId"], account__did=event.owner_key).first()
    if session is None:
        return []
    context = {
        "app_name": app_names.of([session.client_id])[session.client_id],
        "device_name": session.name,
        "at": in_words(event.created_at),
        "apps_path": reverse("portal_apps"),
    }
    return _to_the_person(event, "device_session_created", SECURITY, context)


def of_suspension(event: Event) -> list[MailDraft]:
    """Return the mail about a suspended account."""
    return _to_the_person(event, "account_suspended", SUSPENSION, {})


def in_words(at: datetime) -> str:
    """Render a time as mails show it."""
    return f"{at.astimezone(UTC):%-d %B %Y, %H:%M} UTC"


def _to_the_person(event: Event, template: str, kind: MailKind, context: dict[str, str]) -> list[MailDraft]:
    return [MailDraft(person, template, kind.name, context) for person in of_account(event.owner_key)]


MAILS = {
    "account.suspended": of_suspension,
    "device_session.created": of_device_session,
    "second_factor.added": of_second_factor,
}
