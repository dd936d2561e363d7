"""List columns and page fields that render money, quantities and links."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from gateway.core.contract.amounts import usd


def money(title: str, field: str, *, is_sortable: bool = False) -> Any:
    """Build a column or page field that renders an amount in micro-USD."""

    @display(description=title, ordering=field if is_sortable else None)
    def show(admin: Any, row: Any) -> str:
        return usd(getattr(row, field))

    return show


def quantity(title: str, field: str, unit: str) -> Any:
    """Build a column or page field that renders a number with its unit."""

    @display(description=title)
    def show(admin: Any, row: Any) -> str:
        return f"{getattr(row, field)} {unit}"

    return show


def links(pages: Iterable[tuple[str, str, str]]) -> SafeString:
    """Render links to lists, each given as a title, a table ("billing_wallet") and a search text."""
    found = [(reverse(f"admin:{table}_changelist", query={"q": text}), title) for title, table, text in pages]
    return format_html_join(", ", '<a class="underline" href="{}">{}</a>', found)
