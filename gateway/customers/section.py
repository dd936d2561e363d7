"""The parts of a customer's page: a table of a few rows, and links to all of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db.models import Model
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from gateway.customers.customer import Customer

ROWS = 8
"""The most rows of a section; its list has all of them."""

Cell = str | SafeString


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its title, what is said without rows, links (title and address) to all rows, and what to do with them."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    empty: str
    links: Sequence[tuple[str, str]] = field(default=())
    hint: str = ""

    @property
    def table(self) -> dict[str, Any]:
        """Return the table as the console's component takes it."""
        return {"headers": self.headers, "rows": self.rows}

    @property
    def anchor(self) -> str:
        """Return the name that links within the page use."""
        return self.title.lower().replace(" ", "-")


@dataclass(frozen=True, slots=True)
class Part:
    """How a section is made, of which kinds of customers, and the table that an operator must be allowed to view for it."""

    model: type[Model]
    make: Callable[[HttpRequest, Customer, datetime], Section]
    kinds: Sequence[str] = ("account", "organization")


def when(at: datetime | None) -> str:
    """Render a time in UTC, to the minute."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}" if at else ""


def label(text: str, colour: str = "") -> SafeString:
    """Render a state in a colour: "success", "info", "warning", "danger", or none."""
    return SafeString(render_to_string("unfold/helpers/label.html", {"text": text, "type": colour}))


def link(page: str, text: object, *arguments: object) -> SafeString:
    """Render a link to a page of the console."""
    return format_html('<a class="underline" href="{}">{}</a>', reverse(f"admin:{page}", args=arguments), text)


def list_of(table: str, customer: Customer) -> tuple[str, str]:
    """Return the link to the rows of a table that belong to the customer."""
    return "All", reverse(f"admin:{table}_changelist", query={"q": customer.key})


def dialog_link(page: str, text: str, *arguments: object) -> SafeString:
    """Render a link that opens a dialog of an action."""
    address = reverse(f"admin:{page}", args=arguments)
    return SafeString(render_to_string("admin/customers/dialog_link.html", {"address": address, "text": text}))


def joined(parts: Iterable[Cell]) -> SafeString:
    """Render parts one after the other."""
    return format_html_join(" ", "{}", ((part,) for part in parts if part))
