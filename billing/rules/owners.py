"""How billing identifies the owner of money."""

from typing import TypeAlias

# Kind ("account" or "organization") and key: an account's key is its DID, an organization's its id. Opaque to billing.
Owner: TypeAlias = tuple[str, str]

# The roles of an organization that see its money: its wallet, and everybody's calls.
MONEY_ROLES = ("owner", "billing")
