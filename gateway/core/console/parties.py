"""People and organizations in the console: shown by name and email with the key second, found by any of these.

A row refers to a party by a relation, or by its kind ("account", "organization") and key (a DID, an id). The apps that
have parties register their tables.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, Q
from django.urls import reverse

FOUND_MAX = 200

Reference = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Party:
    """A person or an organization; `page` is the address of its own page in the console."""

    key: str
    name: str
    email: str
    page: str

    def __str__(self) -> str:
        name, email = self.name or self.email or self.key, self.email if self.name else ""
        return f"{name} ({email})" if email else name


@dataclass(frozen=True, slots=True)
class Source:
    """A table of parties, with its columns for the key, the name, and the email address if it has one."""

    model: type[Model]
    key: str
    name: str
    email: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns by which a party is shown and found."""
        return tuple(filter(None, (self.name, self.email, self.key)))

    def party(self, row: Any) -> Party:
        """Describe a row of the table."""
        email = getattr(row, self.email) if self.email else None
        opts = self.model._meta  # noqa: SLF001 (documented)
        page = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row.pk])
        return Party(getattr(row, self.key), getattr(row, self.name), email or "", page)

    def named(self, keys: Collection[str]) -> list[Party]:
        """Look parties up by their keys."""
        rows = self.model._default_manager.filter(**{f"{self.key}__in": keys})  # noqa: SLF001 (documented)
        return [self.party(row) for row in rows.only(*self.columns)]

    def found(self, text: str) -> list[str]:
        """List the keys of the first parties whose key, name or email address contains a text."""
        matching = Q(*((f"{column}__icontains", text) for column in self.columns), _connector=Q.OR)
        rows = self.model._default_manager.filter(matching).order_by("pk")  # noqa: SLF001 (documented)
        return list(rows.values_list(self.key, flat=True)[:FOUND_MAX])


_sources: dict[str, Source] = {}


def register(kind: str, source: Source) -> None:
    """Register the table of a kind of parties."""
    _sources[kind] = source


def found(text: str) -> list[str]:
    """List the keys of the matching parties of every kind."""
    return [key for source in _sources.values() for key in source.found(text.strip())]


def named(references: Iterable[Reference]) -> dict[Reference, Party]:
    """Look parties up, with one query per kind; unknown ones are omitted."""
    keys: dict[str, set[str]] = defaultdict(set)
    for kind, key in references:
        keys[kind].add(key)
    return {
        (kind, party.key): party
        for kind, wanted in keys.items()
        if kind in _sources
        for party in _sources[kind].named(wanted)
    }


def one(kind: str, key: str) -> Party | None:
    """Look one party up."""
    return named([(kind, key)]).get((kind, key))


def of_row(row: Model) -> Party | None:
    """Return a row's party, if its table is one of parties."""
    return next((source.party(row) for source in _sources.values() if isinstance(row, source.model)), None)


def label(row: Model) -> str:
    """Describe a row in one line of text, a party by name, email and key."""
    party = of_row(row)
    return str(row) if party is None else " · ".join(dict.fromkeys([str(party), party.key]))
