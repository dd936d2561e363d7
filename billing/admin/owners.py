"""Whose money it is, in lists and on pages that belong to a wallet."""

from gateway.core.console import PartyColumn

OWNER = PartyColumn("Owner", "wallet.owner_key", kind_path="wallet.owner_kind")
SEARCH_HELP = "A part of a name, an email address or a DID, or a whole id."
