"""Identifies the owner of money."""

from typing import TypeAlias

# Kind ("account" or "organization") and key: an account's key is its DID, an organization's its id. Opaque to billing.
Owner: TypeAlias = tuple[str, str]

# The organization roles that see its money: the wallet, and the calls of all members.
MONEY_ROLES = ("owner", "billing")
