"""Owners of money, in lists and on pages of a wallet."""

from gateway.core.console import PartyColumn

OWNER = PartyColumn("Owner", "wallet.owner_key", kind_path="wallet.owner_kind")
SEARCH_HELP = "Part of a name, email address or DID, or a complete ID."
