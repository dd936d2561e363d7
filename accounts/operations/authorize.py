"""Authorization requests: begin, consent, allow or deny. RFC 6749 section 4.1, RFC 9207, RFC 9700."""

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction

from accounts.models import Account, AuthorizationRequest
from accounts.models.consent import REALTIME
from accounts.operations import app_budgets, codes, consents, public_clients
from accounts.operations.public_scopes import grantable
from accounts.rules import authorization
from accounts.rules.authorization import AuthorizationError, Parameters, Target
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import AUTHORIZATION_REQUEST_SECONDS
from gateway.core.database.purge import purge

REALTIME_SCOPE = "realtime:connect"


class RequestGone(Exception):
    """The request is unknown, expired, already answered, or from another browser. The person must start again in the
    app.
    """


class Refused(Exception):
    """The request is refused. `location` redirects to the client with the error."""

    def __init__(self, location: str, client_id: str) -> None:
        self.location = location
        self.client_id = client_id
        super().__init__("refused")


def begin(parameters: Parameters, *, browser_secret: str, now: datetime) -> AuthorizationRequest:
    """Validate a request and store it for this browser. Raises ClientError (an error page) or Refused (a redirect)."""
    target = authorization.read_target(parameters, public_clients.redirects())
    public_clients.check_usable(target.client_id)
    try:
        ask = authorization.read_request(parameters, target, grantable())
    except AuthorizationError as error:
        raise _refused(target, authorization.read_state(parameters), error) from None
    return AuthorizationRequest.objects.create(
        id=new_id("areq"),
        browser_sha256=_digest(browser_secret),
        client_id=target.client_id,
        redirect_uri=target.redirect_uri,
        state=ask.state,
        scopes=list(ask.scopes),
        code_challenge=ask.code_challenge,
        dpop_jkt=ask.dpop_jkt,
        created_at=now,
        expires_at=now + timedelta(seconds=AUTHORIZATION_REQUEST_SECONDS),
    )


def pending(request_id: str, *, browser_secret: str, now: datetime) -> AuthorizationRequest:
    """Return a request that this browser may still answer. Raises RequestGone, or ClientError for a disabled client."""
    found = AuthorizationRequest.objects.filter(
        pk=request_id, browser_sha256=_digest(browser_secret), answered_at__isnull=True, expires_at__gt=now
    ).first()
    if found is None:
        raise RequestGone
    public_clients.check_usable(found.client_id)
    return found


def may_redirect_error(client_id: str, account: Account | None) -> bool:
    """Return whether an error may go back to a client at once: if the client is registered, or if this person has
    allowed it before, as far as codes are kept. Anything else is an open redirect (RFC 9700 section 4.11.2).
    """
    if public_clients.is_registered(client_id):
        return True
    return account is not None and codes.is_known(account=account, client_id=client_id)


def needs_consent(request: AuthorizationRequest) -> bool:
    """Return whether to ask for consent: always, except for a client that the operator marked as trusted."""
    return not public_clients.is_trusted(request.client_id)


def allow(
    request_id: str,
    *,
    browser_secret: str,
    account: Account,
    scopes: Iterable[str],
    monthly_budget_microusd: int | None = None,
    now: datetime,
) -> str:
    """Issue a code for the scopes that the person left selected; return the redirect location.

    Scopes that were not requested are ignored. If none are left, the response is `access_denied`. The app's monthly budget is
    set together with the code; without one, what was set before is kept. Raises RequestGone, or InvalidRequest for one
    budget too many, and the request stays open.
    """
    with transaction.atomic():
        request = _answered(request_id, browser_secret, now)
        granted = [scope for scope in request.scopes if scope in set(scopes)]
        if not granted:
            return _denied(request)
        agreed = [REALTIME] if REALTIME_SCOPE in granted else []
        code = codes.issue(request, account=account, scopes=granted, consents=agreed, now=now)
        for kind in agreed if code else ():
            consents.give(account=account, client_id=request.client_id, kind=kind, now=now)
        if code and monthly_budget_microusd is not None:
            app_budgets.registered().set_monthly(
                did=account.did, client_id=request.client_id, limit_microusd=monthly_budget_microusd
            )
    target = Target(request.client_id, request.redirect_uri)
    if code is None:
        return _answer(
            target, request.state, error="invalid_request", error_description="code_challenge was already used"
        )
    return _answer(target, request.state, code=code)


def deny(request_id: str, *, browser_secret: str, now: datetime) -> str:
    """Answer a request with `access_denied`; return the redirect location. Raises RequestGone."""
    with transaction.atomic():
        return _denied(_answered(request_id, browser_secret, now))


def purge_expired(*, now: datetime) -> int:
    """Delete requests that can no longer be answered; return how many."""
    return purge(AuthorizationRequest.objects.filter(expires_at__lt=now).order_by("expires_at"))


def _answered(request_id: str, browser_secret: str, now: datetime) -> AuthorizationRequest:
    """Record the request's only answer. Of two simultaneous clicks, one wins."""
    request = pending(request_id, browser_secret=browser_secret, now=now)
    if not AuthorizationRequest.objects.filter(pk=request.pk, answered_at__isnull=True).update(answered_at=now):
        raise RequestGone
    return request


def _denied(request: AuthorizationRequest) -> str:
    return _answer(Target(request.client_id, request.redirect_uri), request.state, error="access_denied")


def _answer(target: Target, state: str | None, **parameters: str) -> str:
    """Build the redirect to the client, with the issuer (RFC 9207)."""
    query = parameters | ({"state": state} if state is not None else {}) | {"iss": settings.GATEWAY_BASE_URL}
    separator = "&" if "?" in target.redirect_uri else "?"
    return target.redirect_uri + separator + urlencode(query)


def _refused(target: Target, state: str | None, error: AuthorizationError) -> Refused:
    location = _answer(target, state, error=error.error, error_description=error.description)
    return Refused(location, target.client_id)


def _digest(browser_secret: str) -> bytes:
    return hashlib.sha256(browser_secret.encode()).digest()
