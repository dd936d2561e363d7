"""Lists everything that is exported of a person's data. Apps that this app must not import register their tables at start-up."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from accounts.models import Account
from accounts.operations import limits, operator_log
from gateway.core.contract.route_limits import EXPORTS
from gateway.core.portal.csv_files import Row, csv_pieces
from gateway.core.portal.zip_files import ArchivedFile


class Table(NamedTuple):
    """A table of an export: its file's name without the ending, what it holds, its columns, and the rows of an account."""

    name: str
    description: str
    header: Row
    rows: Callable[[Account], Iterable[Row]]


class TextFile(NamedTuple):
    """A file of an export that is no table; `pieces` returns its text for an account."""

    name: str
    description: str
    pieces: Callable[[Account], Iterable[str]]


_registered: dict[str, Table | TextFile] = {}


def register(*parts: Table | TextFile) -> None:
    """Register parts of an export, each once by its name."""
    _registered.update({part.name: part for part in parts})


def begin(*, account: Account, now: datetime) -> Iterator[ArchivedFile]:
    """Count an export, write it into the log, and return its files. Raises RateLimited after too many within an hour."""
    limits.take(EXPORTS, account.did, now=now)
    operator_log.record_own(account, "Downloaded an export of all data of the account.", now=now)
    return files(account)


def files(account: Account) -> Iterator[ArchivedFile]:
    """Return the files of an account's export, a description of them first."""
    yield ArchivedFile("README.txt", _described())
    for part in _registered.values():
        if isinstance(part, Table):
            yield ArchivedFile(f"{part.name}.csv", csv_pieces(part.header, part.rows(account)))
        else:
            yield ArchivedFile(part.name, part.pieces(account))


def _described() -> Iterator[str]:
    yield (
        "Everything that is stored about this account. Times are UTC (RFC 3339), amounts whole micro-USD\n"
        "(1 USD is 1,000,000). Passwords, keys and codes are not included. What the operator noted is given on request.\n\n"
    )
    for part in _registered.values():
        name = f"{part.name}.csv" if isinstance(part, Table) else part.name
        yield f"{name}: {part.description}\n"
