"""Names and finds accounts in the console."""

from accounts.models import Account
from gateway.core.console import parties

PEOPLE = parties.Source(Account, key="did", name="display_name", email="email")
SEARCH_HELP = "Part of a name, email address or DID."

parties.register("account", PEOPLE)


def person_fields(relation: str) -> tuple[str, ...]:
    """Return the search columns of a table that refers to accounts."""
    return tuple(f"{relation}__{name}" for name in PEOPLE.columns)
