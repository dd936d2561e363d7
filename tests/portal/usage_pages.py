"""Creates calls for the usage pages, and reads the pages' tables."""

import html
import re
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils import timezone

from billing.rules.months import month_around, month_before
from tests.factories.billing import Purse, settle

TICK = timedelta(microseconds=1)

Month = tuple[datetime, datetime]
Rows = list[list[str]]


class Months(NamedTuple):
    """The current month and the two before it."""

    this: Month
    last: Month
    before: Month


def current_months() -> Months:
    """Read the clock, for one test: a month may end while tests run."""
    this = month_around(timezone.now())
    last = month_before(this[0])
    return Months(this, last, month_before(last[0]))


def used(purse: Purse, cost: int, at: datetime, **fields: Any) -> str:
    """Create a call that began and was charged at that time; return its id."""
    usage_id = purse.call(2_000_000, now=at, **fields)
    settle(usage_id, cost, now=at)
    return usage_id


def tables(answer: Any) -> dict[str, Rows]:
    """Return the page's tables by caption, each row as the texts of its cells."""
    page = answer.content.decode()
    found = {}
    for caption, body in re.findall(r'<caption class="unseen">(.*?)</caption>(.*?)</table>', page, re.DOTALL):
        lines = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
        cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL) for line in lines]
        found[caption] = [[html.unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in line] for line in cells]
    return found


def exact_amounts(answer: Any) -> list[str]:
    """Return the exact amounts behind the page's rounded ones, in order."""
    return re.findall(r'<data value="[\d.]+" title="([^"]+)">', answer.content.decode())
