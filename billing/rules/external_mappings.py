"""Decides whether an account at the payment provider may bill an organization's seats."""

from billing.rules.provider_records import ConnectedAccount

ORGANIZATION = "org_id"
"""The metadata key in which the account's owner names the organization."""


def fault_of(account: ConnectedAccount | None, *, org_id: str, wants_live: bool, key_is_live: bool) -> str | None:
    """Return the missing requirement, only for the log; None if there is none."""
    if wants_live != key_is_live:
        return "the gateway's key is for the other mode (test or live)"
    if account is None:
        return "this account is not connected"
    if account.metadata.get(ORGANIZATION) != org_id:
        return "the account's metadata does not name the organization"
    if not account.details_submitted:
        return "the account's details are not complete"
    if not account.charges_enabled:
        return "charges are not enabled for the account"
    return None
