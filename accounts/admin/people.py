"""Accounts as the console names and finds them."""

from accounts.models import Account
from gateway.core.console import parties

PEOPLE = parties.Source(Account, key="did", name="display_name", email="email")
SEARCH_HELP = "Part of a name, email address or DID."

parties.register("account", PEOPLE)


def person_fields(relation: str) -> tuple[str, ...]:
    """Name the columns by which a table with a relation to accounts is searched."""
    return tuple(f"{relation}__{name}" for name in PEOPLE.columns)
