"""What `agw doctor` looks at: each thing that must be right before a call can be paid, in the order in which they depend on
one another."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import requests

from account_gateway_client.answers import reaching
from account_gateway_client.cli import exit_status
from account_gateway_client.cli.discovery import MODEL, TIMEOUT_SECONDS, Metadata, metadata_of
from account_gateway_client.cli.money import dollars_of
from account_gateway_client.cli.output import sentence_of, utc
from account_gateway_client.cli.session import gateway_of, open_gateway
from account_gateway_client.cli.sessions import Sessions
from account_gateway_client.cli.settings import Settings
from account_gateway_client.errors import ClientError
from account_gateway_client.gateway import Gateway

AHEAD_SECONDS, BEHIND_SECONDS = 10.0, 50.0  # a gateway takes proofs up to 15 s ahead and 60 s old


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found, and the exit status for it: 0 where all is well."""

    check: str
    text: str
    exit_status: int = exit_status.OK

    @property
    def is_ok(self) -> bool:
        """Return whether all is well."""
        return self.exit_status == exit_status.OK


def examine(settings: Settings) -> Iterator[Finding]:
    """Yield a finding for each check, up to the first one that the others cannot do without."""
    try:
        check = "Address"
        address = gateway_of(settings)
        yield from _connection(address)
        metadata = metadata_of(address)
        yield Finding(check, address)
        check = "Sign-in"
        session, gateway = Sessions(settings.config_dir).load(address), open_gateway(settings)
        account = gateway.account()
        yield Finding(check, f"{account['did']}, until {utc(session.expires_at)}")
        scopes = frozenset(account["scopes"])
        yield _scopes(scopes)
        check = "Models"
        yield _models(gateway)
        check = "Wallet"
        yield _wallet(gateway, scopes, metadata)
    except ClientError as error:
        insecure = isinstance(error.__cause__, requests.exceptions.SSLError)
        yield Finding("TLS" if insecure else check, sentence_of(error), exit_status.of_error(error))


def _connection(address: str) -> Iterator[Finding]:
    """Ask for nothing in particular: what counts is that an answer comes, and its date."""
    with reaching(address):
        before = time.time()
        answer = requests.head(f"{address}/livez", timeout=TIMEOUT_SECONDS, allow_redirects=False)
        after = time.time()
    secure = address.startswith("https://")
    yield Finding("TLS", "the certificate is trusted" if secure else "none, and none needed on this computer")
    yield _clock(answer.headers.get("Date"), before, after)


def _clock(date: str | None, before: float, after: float) -> Finding:
    """Compare this clock with the gateway's, whose date is a whole second that began at most one second ago."""
    try:
        theirs = parsedate_to_datetime(date or "").timestamp()
    except ValueError:
        return Finding("Clock", "the gateway does not say its time")
    ahead, behind = before - (theirs + 1), theirs - after
    if ahead > AHEAD_SECONDS or behind > BEHIND_SECONDS:
        wrong = f"{ahead:.0f} s fast" if ahead > 0 else f"{behind:.0f} s slow"
        return Finding("Clock", f"this computer's is {wrong}: set it by the network's time", exit_status.FAILED)
    return Finding("Clock", "agrees with the gateway's")


def _scopes(scopes: frozenset[str]) -> Finding:
    if not any(scope.startswith(MODEL) for scope in scopes):
        return Finding("Scopes", "no model is allowed: sign in again, and leave models ticked", exit_status.REFUSED)
    return Finding("Scopes", " ".join(sorted(scopes)))


def _models(gateway: Gateway) -> Finding:
    models = gateway.models()
    allowed = [model["id"] for model in models if model["authorized"]]
    if not allowed:
        return Finding("Models", f"none of {len(models)} is allowed: sign in again", exit_status.REFUSED)
    return Finding("Models", f"{len(allowed)} of {len(models)} allowed: {' '.join(allowed)}")


def _wallet(gateway: Gateway, scopes: frozenset[str], metadata: Metadata) -> Finding:
    if "wallet:read" not in scopes:
        return Finding("Wallet", "not shown: the sign-in lacks wallet:read")
    wallet: dict[str, Any] = gateway.wallet()
    if wallet["debtMicrousd"]:
        owed = dollars_of(wallet["debtMicrousd"])
        return Finding(
            "Wallet", f"a debt of {owed} blocks calls: pay it on {metadata.portal_url}", exit_status.NO_MONEY
        )
    if not wallet["availableMicrousd"]:
        return Finding("Wallet", f"empty: add money on {metadata.portal_url}", exit_status.NO_MONEY)
    return Finding("Wallet", f"{dollars_of(wallet['availableMicrousd'])} to spend")
