"""Authorization codes: each is redeemed once. Reusing one revokes the grant that it issued.

RFC 6749 section 4.1.2 and 10.5, RFC 7636 section 4.6, RFC 9449 section 10.
"""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from accounts.models import Account, AuthorizationCode, AuthorizationRequest, DeviceSession
from accounts.operations import devices, public_clients, session_ends
from accounts.operations.devices import Grant
from accounts.rules import pkce
from gateway.core.contract.errors import InvalidGrant
from gateway.core.contract.limits import AUTHORIZATION_CODE_SECONDS
from gateway.core.database.purge import purge

CODE_BYTES = 32
RETENTION = timedelta(days=30)  # how long a code challenge and a used code are stored


@dataclass(frozen=True, slots=True)
class Redemption:
    """The parameters of a code's redemption. `device_name` is None if no device session is requested."""

    code: str
    verifier: str
    client_id: str
    redirect_uri: str
    jkt: str
    device_name: str | None = None


def issue(
    request: AuthorizationRequest, *, account: Account, scopes: Sequence[str], consents: Sequence[str], now: datetime
) -> str | None:
    """Issue a code that is valid for 60 seconds; return None if the request's challenge was used for an earlier
    authorization.
    """
    code = secrets.token_urlsafe(CODE_BYTES)
    try:
        with transaction.atomic():
            AuthorizationCode.objects.create(
                code_sha256=_digest(code),
                account=account,
                client_id=request.client_id,
                redirect_uri=request.redirect_uri,
                scopes=list(scopes),
                consents=list(consents),
                code_challenge=request.code_challenge,
                dpop_jkt=request.dpop_jkt,
                created_at=now,
                expires_at=now + timedelta(seconds=AUTHORIZATION_CODE_SECONDS),
            )
    except IntegrityError:
        return None
    return code


def redeem(redemption: Redemption, *, now: datetime) -> Grant:
    """Exchange a code for a token and, if requested, a device session.

    Raises InvalidGrant, with one message for every cause, or InvalidClient for a disabled client. A wrong verifier
    invalidates the code; using a code again revokes what its first use issued.
    """
    public_clients.check_enabled(redemption.client_id)
    with transaction.atomic():
        outcome = _redeem(redemption, now)
    if isinstance(outcome, Grant):
        return outcome
    raise InvalidGrant(private=outcome)


def is_known(*, account: Account, client_id: str) -> bool:
    """Return whether this person has allowed a client within the last 30 days and not revoked it, or is signed in there."""
    code = AuthorizationCode.objects.filter(account=account, client_id=client_id).exclude(scopes=[])
    return code.exists() or DeviceSession.objects.filter(account=account, client_id=client_id).exists()


def purge_expired(*, now: datetime) -> int:
    """Delete codes that expired at least 30 days ago; return how many."""
    return purge(AuthorizationCode.objects.filter(expires_at__lt=now - RETENTION).order_by("expires_at"))


def _redeem(redemption: Redemption, now: datetime) -> Grant | str:
    """Return the grant, or the reason for the refusal. The changes that a refusal makes are committed, too."""
    code = AuthorizationCode.objects.select_for_update().filter(pk=_digest(redemption.code)).first()
    if code is None:
        return "no such code"
    if code.spent_at is not None:
        _revoke_first_use(code, now)
        return "the code was already used"
    if code.expires_at <= now:
        return "the code has expired"
    if (code.client_id, code.redirect_uri) != (redemption.client_id, redemption.redirect_uri):
        return "the code belongs to another client or redirect URI"
    if code.dpop_jkt not in (None, redemption.jkt):
        return "the code is bound to another key"
    return _use(code, redemption, now)


def _use(code: AuthorizationCode, redemption: Redemption, now: datetime) -> Grant | str:
    code.spent_at = now
    code.save(update_fields=["spent_at"])
    if not pkce.is_verifier(redemption.verifier) or not pkce.matches(redemption.verifier, code.code_challenge):
        return "the code verifier is wrong"
    if not code.account.is_live:
        return "the account is suspended"
    grant = devices.open_session(
        account=code.account,
        client_id=code.client_id,
        scopes=code.scopes,
        consents=code.consents,
        jkt=redemption.jkt,
        device_name=redemption.device_name,
        now=now,
    )
    AuthorizationCode.objects.filter(pk=code.pk).update(session=grant.session)
    return grant


def _revoke_first_use(code: AuthorizationCode, now: datetime) -> None:
    session_ends.end(DeviceSession.objects.filter(pk=code.session_id), now)


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).digest()
