"""Tables that are wider than a phone: they can be scrolled with the keyboard, and say what they are (WCAG 2.2, 2.1.1)."""

import re
from pathlib import Path

import pytest

from tests.portal.organization_browser import OrganizationPages

pytestmark = pytest.mark.django_db

TEMPLATES = [path for path in sorted(Path("templates").rglob("*.html")) if 'class="scroll"' in path.read_text()]
SCROLLED = re.compile(r'<div class="scroll"([^>]*)>\s*<table[^>]*>\s*<caption class="unseen">(.*?)</caption>')


@pytest.mark.parametrize("path", TEMPLATES, ids=str)
def test_a_region_that_scrolls_takes_the_focus_and_has_its_tables_name(path: Path) -> None:
    page = path.read_text()
    found = SCROLLED.findall(page)
    assert len(found) == page.count('class="scroll"')
    assert all(tag == f' tabindex="0" role="region" aria-label="{caption}"' for tag, caption in found)


def test_a_budget_names_its_amounts_where_the_head_is_not_seen(organization_pages: OrganizationPages) -> None:
    organization_pages.post("owner", "budgets", product="", member="", limit="5")
    page = organization_pages.get("owner", "budgets")
    assert re.findall(r'<td class="money" data-label="([^"]+)">([^<]*)<', page) == [
        ("Spent", "$0.00"),
        ("Held", "$0.00"),
        ("Limit", "$5.00"),
    ]
