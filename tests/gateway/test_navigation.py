"""The navigation of the console: what it leads to, for whom, and what it marks."""

import re

import pytest
from django.test import Client

from gateway.navigation import GROUPS
from tests.factories.payments import top_up
from tests.gateway.console import ALICE, make_review
from tests.gateway.operators import clerk

pytestmark = pytest.mark.django_db


def sidebar(operator: Client, page: str = "/admin/") -> str:
    text = operator.get(page).content.decode()
    start = text.index('id="nav-sidebar-apps"')
    return text[start : text.index("</nav>", start)]


def links(text: str) -> list[str]:
    return re.findall(r'<a href="([^"]*)" class="flex h-', text)


def test_an_operator_is_led_to_the_tables_that_they_may_view() -> None:
    shown = sidebar(clerk("view_wallet", "add_account"))
    assert links(shown) == ["/admin/", "/admin/billing/wallet/"]
    assert re.findall(r"<h2[^>]*>([^<]*)</h2>", shown) == ["Money"]


def test_every_row_and_group_is_shown_to_whoever_has_every_right(operator: Client) -> None:
    shown = sidebar(operator)
    assert links(shown) == [row.path + row.query for rows in GROUPS.values() for row in rows]
    assert re.findall(r"<h2[^>]*>([^<]*)</h2>", shown) == [title for title in GROUPS if title]


def test_the_overview_is_marked_only_on_its_own_page(operator: Client) -> None:
    assert ' active"' in sidebar(operator)
    assert ' active"' not in sidebar(operator, "/admin/billing/wallet/")


def test_a_row_shows_how_many_are_pending_unless_none_are() -> None:
    reviewer = clerk("view_call")
    assert badges(sidebar(reviewer)) == []
    top_up(("account", ALICE), 1_000_000)
    make_review()
    make_review()
    assert badges(sidebar(reviewer)) == ["2"]


def badges(text: str) -> list[str]:
    return re.findall(r'<span class="[^"]*bg-red-100[^"]*">([^<]*)</span>', text)
