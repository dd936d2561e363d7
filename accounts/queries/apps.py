"""The apps (public clients) that a person has allowed."""

from datetime import datetime
from typing import NamedTuple

from accounts.models import Account, AuthorizationCode, Consent
from accounts.operations import public_clients
from accounts.queries import consents, devices

CODES_READ = 1_000


class App(NamedTuple):
    """An app of a person. `name` is empty unless it is built in or the operator registered one, `devices` counts where it is signed in, and
    `consent` is the one to live sessions, if it is in force."""

    client_id: str
    name: str
    allowed_at: datetime
    devices: int
    consent: Consent | None


def of_person(account: Account, now: datetime) -> list[App]:
    """List a person's apps, the one allowed last first: those that are signed in, that may open live sessions, or that were
    allowed within the last 30 days."""
    codes = AuthorizationCode.objects.filter(account=account).order_by("-created_at")
    allowed = list(codes.values_list("client_id", "created_at")[:CODES_READ])
    signed_in = list(devices.live_of(account, now).values_list("client_id", "created_at"))
    consented = {consent.client_id: consent for consent in consents.active_of(account)}
    seen: dict[str, datetime] = {}
    for client_id, at in [*allowed, *signed_in, *((each.client_id, each.given_at) for each in consented.values())]:
        seen[client_id] = max(at, seen.get(client_id, at))
    names = public_clients.names_of(seen)
    count = [client_id for client_id, _ in signed_in].count
    apps = [App(one, names.get(one, ""), at, count(one), consented.get(one)) for one, at in seen.items()]
    return sorted(apps, key=lambda app: app.allowed_at, reverse=True)
