"""The apps (public clients) that a person has allowed."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from accounts.models import Account, AuthorizationCode, Consent, DeviceSession
from accounts.queries import app_names, consents, devices
from accounts.rules.public_scopes import descriptions_of

CODES_READ = 1_000


class App(NamedTuple):
    """An app of a person. `sessions` are where it is signed in, newest first, and `consent` is the one to live sessions, if it is
    in force. `scopes` are those of its sessions or, without any, those that were allowed last."""

    client_id: str
    name: str
    allowed_at: datetime
    sessions: Sequence[DeviceSession]
    scopes: Sequence[str]
    consent: Consent | None

    @property
    def abilities(self) -> list[str]:
        """Return what the scopes allow, in words."""
        return descriptions_of(self.scopes)


def of_person(account: Account, now: datetime) -> list[App]:
    """List a person's apps, the one allowed last first: those that are signed in, that may open live sessions, or that were
    allowed within the last 30 days and not revoked since."""
    found = AuthorizationCode.objects.filter(account=account).exclude(scopes=[]).order_by("-created_at")
    codes = list(found.values_list("client_id", "created_at", "scopes")[:CODES_READ])
    signed_in = list(devices.live_of(account, now))
    consented = {consent.client_id: consent for consent in consents.active_of(account)}
    allowed = [(client_id, at) for client_id, at, _ in codes]
    allowed += [(each.client_id, each.created_at) for each in signed_in]
    allowed += [(each.client_id, each.given_at) for each in consented.values()]
    seen: dict[str, datetime] = {}
    for client_id, at in allowed:
        seen[client_id] = max(at, seen.get(client_id, at))
    names, scopes = app_names.of(seen), {client_id: granted for client_id, _, granted in reversed(codes)}
    apps = []
    for client_id, at in seen.items():
        sessions = [each for each in signed_in if each.client_id == client_id]
        may = sorted({scope for each in sessions for scope in each.scopes}) or scopes.get(client_id, [])
        apps.append(App(client_id, names[client_id], at, sessions, may, consented.get(client_id)))
    return sorted(apps, key=lambda app: app.allowed_at, reverse=True)
