"""Revokes apps: ends all that a person has allowed an app."""

from datetime import datetime

from django.db import transaction

from accounts.models import Account, AuthorizationCode, Consent, DeviceSession
from accounts.operations import session_ends


@transaction.atomic
def revoke(*, account: Account, client_id: str, now: datetime) -> bool:
    """End an app's sessions and tokens, its codes that are not redeemed yet, and its consents; return False if it had none.

    The person's budgets for the app stay. A code that is being redeemed meanwhile is waited for, so that its session ends, too.
    """
    codes = AuthorizationCode.objects.filter(account=account, client_id=client_id)
    list(codes.select_for_update().order_by("pk").values_list("pk", flat=True))
    codes.filter(spent_at=None).update(spent_at=now)
    forgotten = codes.exclude(scopes=[]).update(scopes=[])
    sessions = DeviceSession.objects.filter(account=account, client_id=client_id, revoked_at=None)
    consents = Consent.objects.filter(account=account, client_id=client_id, withdrawn_at=None)
    withdrawn = consents.update(withdrawn_at=now)
    return bool(forgotten + withdrawn + session_ends.end(sessions, now))
