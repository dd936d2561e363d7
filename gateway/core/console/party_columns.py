"""List columns and page fields that show a person or an organization."""

from collections.abc import Collection
from operator import attrgetter
from typing import Any

from django.db.models import Model
from django.utils.html import format_html
from django.utils.safestring import SafeString

from gateway.core.console import parties


class PartyColumn:
    """A column, or a page field, that shows a party.

    `path` leads from the row to the party's own row ("membership.account"), or to its key ("wallet.owner_key"); then
    `kind_path` leads to its kind, or `kind` names it. In the first column of a list, which is a link, the party has
    none.
    """

    def __init__(
        self, title: str, path: str, *, kind: str = "account", kind_path: str = "", is_linked: bool = True
    ) -> None:
        self.short_description = title
        self._path, self._kind = attrgetter(path), attrgetter(kind_path) if kind_path else lambda row: kind
        self._is_linked = is_linked

    def __call__(self, row: Any) -> str:
        """Render the party of a row, or its key if the party is unknown."""
        value = self._value(row)
        party = parties.of_row(value) if isinstance(value, Model) else self._looked_up(row)
        return _rendered(party, self._is_linked) if party else str(value or "")

    def reference(self, row: Any) -> parties.Reference | None:
        """Return the row's reference to a party by kind and key, if it has one."""
        key = self._value(row)
        return (self._kind(row), key) if key and not isinstance(key, Model) else None

    def _looked_up(self, row: Any) -> parties.Party | None:
        reference, known = self.reference(row), row.__dict__.get("_parties")
        if reference is None:
            return None
        return (parties.named([reference]) if known is None else known).get(reference)

    def _value(self, row: Any) -> Any:
        try:
            return self._path(row)
        except AttributeError:  # of None, such as an invitation that is not accepted
            return None


def look_up(rows: Collection[Any], columns: Collection[PartyColumn]) -> None:
    """Look up, all at once, the parties that these columns of the rows refer to by kind and key."""
    references = (column.reference(row) for row in rows for column in columns)
    known = parties.named(filter(None, references))
    for row in rows:
        row.__dict__["_parties"] = known


def _rendered(party: parties.Party, is_linked: bool) -> SafeString:
    label = str(party)
    name = format_html('<a class="underline" href="{}">{}</a>', party.page, label) if is_linked else label
    if label == party.key:
        return format_html("{}", name)
    # One block, which a narrow screen shows beside the column's title; a DID may break anywhere.
    return format_html('<div class="party">{}<br><span class="text-xs opacity-70">{}</span></div>', name, party.key)
