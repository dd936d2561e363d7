"""Pages of long tables, whose rows are estimated and never counted.

Counting reads every row: seconds at ten million. The planner of the database knows about how many rows a query finds, by its
statistics, and says so in a millisecond.
"""

import json
from typing import Any

from django.core.paginator import Page
from django.db.models import QuerySet
from django.utils.functional import cached_property
from unfold.paginator import InfinitePaginator

PAGES_MAX = 200
"""The last page that opens: the database reads every row of the pages before it."""


def estimate(rows: QuerySet[Any]) -> int:
    """Return about how many rows a query finds, by the planner's statistics; no row is read."""
    explained = rows.order_by().explain(format="json")
    if not explained:  # its own conditions exclude each other, so there is no statement
        return 0
    [plan] = json.loads(explained)
    return int(plan["Plan"]["Plan Rows"])


def rounded(count: int) -> int:
    """Round an estimate to two digits: it is not more exact than that."""
    unit = 10 ** max(len(str(count)) - 2, 0)
    return (count + unit // 2) // unit * unit


class EstimatedPaginator(InfinitePaginator):
    """Pages with the number of rows in words: exact on the last page, else about how many there are.

    `count` is no count: Django only uses it to decide that there is more than one page.
    """

    template_name = "console/estimated_pagination.html"
    opened: Page[Any] | None = None

    @cached_property
    def num_pages(self) -> int:
        return PAGES_MAX

    def page(self, number: int | str) -> Page[Any]:
        """Return a page, and remember it: it says how many rows there are at least."""
        self.opened = super().page(number)
        return self.opened

    @property
    def is_last(self) -> bool:
        """Return whether the opened page has no page after it."""
        return self.opened is None or len(self.opened.object_list) < self.per_page or self.opened.number == PAGES_MAX

    @cached_property
    def total(self) -> str:
        """Return how many rows there are, such as `7` or `about 9,900,000`."""
        if self.opened is None:
            return "0"
        shown = len(self.opened.object_list)
        before = (self.opened.number - 1) * self.per_page
        if shown < self.per_page and (shown or not before):
            return f"{before + shown:,}"
        at_least = before + shown
        return f"about {max(rounded(estimate(self.object_list)), at_least):,}"
