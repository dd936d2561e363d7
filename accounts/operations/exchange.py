"""Exchanges a product assertion for an access token. SPEC: Trusted server exchange; RFC 7523."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.contrib.auth.hashers import make_password
from django.db import connection, transaction

from accounts.models import Account, ConsumedAssertion, Integration
from accounts.operations import idle_scopes, refusals, tokens
from accounts.operations.keyring import keyring
from accounts.rules import assertion as assertions
from accounts.rules import scopes
from accounts.rules.assertion import CHECKS, Assertion, AssertionRefused
from gateway.core.contract.errors import InvalidGrant, InvalidScope
from gateway.core.database.purge import purge

RETENTION_AFTER_EXPIRY = timedelta(minutes=5)  # more than the maximum clock skew between two machines


def exchange(*, assertion: object, jkt: str, scope: str | None, now: datetime) -> tokens.MintedToken:
    """Mint a token for the account that a single-use assertion names, bound to the proof key `jkt`.

    The first exchange creates the account. Without `scope`, all of the assertion's capabilities are granted. Raises
    InvalidGrant, with one message for every cause, or InvalidScope; then nothing is consumed.
    """
    keyring.current_sync()  # the first keys must not be created in a transaction that may roll back
    of = _Origin()
    try:
        return _exchange(assertion, jkt, scope, now, of)
    except AssertionRefused as refused:
        _record(of, refused.cause, str(refused), now)
        raise InvalidGrant(private=_named(of, refused)) from None
    except InvalidScope as refused:
        _record(of, "scope", refused.message, now)
        raise


def purge_expired(*, now: datetime) -> int:
    """Delete the records of assertions that have expired on every clock; return how many."""
    return purge(ConsumedAssertion.objects.filter(expires_at__lt=now).order_by("expires_at"))


@dataclass(slots=True)
class _Origin:
    """The integration whose assertion it claims to be, once it is known."""

    integration: Integration | None = None


def _record(of: _Origin, cause: str, reason: str, now: datetime) -> None:
    if of.integration is not None:
        refusals.record(of.integration.pk, cause, reason, now=now)


def _named(of: _Origin, refused: AssertionRefused) -> str:
    """Return the reason for the log, with the integration if the assertion names an enabled one."""
    return (
        f"assertion of {of.integration.issuer}: {refused}"
        if of.integration and refused.cause in CHECKS
        else str(refused)
    )


@transaction.atomic
def _exchange(token: object, jkt: str, scope: str | None, now: datetime, of: _Origin) -> tokens.MintedToken:
    assertion = _verify(token, now, of)
    if assertion.jkt not in (None, jkt):
        raise AssertionRefused("cnf.jkt is the thumbprint of another key", "client_key")
    granted = _grant(assertion.capabilities, scope)
    _consume(assertion)
    account = _account(assertion.did)
    if not account.is_live:
        raise AssertionRefused("the account is suspended", "account")
    idle_scopes.warn(issuer=assertion.issuer, excess=assertion.excess, granted=granted)
    return tokens.mint(
        did=account.did,
        client_id=assertion.issuer,
        scopes=granted,
        jkt=jkt,
        product=assertion.product,
        consents=assertion.consents,
        now=now,
    )


def _verify(token: object, now: datetime, of: _Origin) -> Assertion:
    jws, issuer = assertions.parse(token)
    of.integration = Integration.objects.filter(issuer=issuer).first()
    if of.integration is None:
        raise AssertionRefused("no integration has this issuer")
    if not of.integration.enabled:
        raise AssertionRefused(f"the integration {issuer} is disabled", "disabled")
    return assertions.check(jws, of.integration.as_issuer(), now.timestamp())


def _grant(capabilities: Iterable[str], scope: str | None) -> list[str]:
    capabilities = list(capabilities)
    if scope is None:
        return capabilities
    try:
        requested = scopes.parse(scope)
    except ValueError:
        raise InvalidScope("The scope must be a list of scopes separated by spaces.", param="scope") from None
    if beyond := scopes.missing(requested, capabilities):
        raise InvalidScope(f"The scope {beyond[0]} cannot be granted.", param="scope")
    return requested


def _consume(assertion: Assertion) -> None:
    """Record the assertion as used. Of several concurrent exchanges, one inserts the row; the others wait for it and
    are refused.
    """
    expires_at = datetime.fromtimestamp(assertion.expires_at, UTC) + RETENTION_AFTER_EXPIRY
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_consumed_assertion (issuer, jti, expires_at) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            [assertion.issuer, assertion.jti, expires_at],
        )
        if cursor.rowcount != 1:
            raise AssertionRefused("used before", "replayed")


def _account(did: str) -> Account:
    return Account.objects.get_or_create(did=did, defaults={"password": make_password(None)})[0]
