"""Calls of this month and the one before, booked in the database of a running gateway."""

from tests.browser.app_gateway import AppGateway

# Each is charged (number + 1) x 1,000 micro-USD: in the current month on its first day, so that none lies ahead.
BOOK = """
from datetime import timedelta
from django.utils import timezone
from accounts.models import Account
from billing.models import PriceVersion
from billing.operations import usage_days
from billing.rules.months import month_around, month_before
from organizations.models import Membership
from tests.factories.billing import Purse, release, review, settle
kind, key = {kind!r}, {key!r}
members = list(Membership.objects.filter(organization_id=key)) if kind == "organization" else [None]
did = members[0].account.did if members[0] else key
purse, now = Purse(kind, key).pay(500_000_000), timezone.now()
this, last = month_around(now)[0], month_before(now)[0]
spoken = {{"input_token": "4", "cached_input_token": "0.4", "output_token": "16", "input_audio_token": "32", "output_audio_token": "64"}}
live = PriceVersion.objects.filter(alias="realtime").first() or PriceVersion.objects.create(alias="realtime", components=spoken)
def book(number, at, **more):
    about = dict(product=[None, "studio", "courier"][number % 3], model=["fast", "reasoning"][number % 2], did=did)
    about["membership_id"] = members[number % len(members)].pk if members[0] else None
    return purse.call(2_000_000, now=at, max_cost_microusd=3_000_000, **{{**about, **more}})
for start, count in ((this, 5), (last, 40)):
    for number in range(count):
        at = start + (timedelta(days=number % 27, hours=number % 20) if start == last else timedelta(seconds=number))
        settle(book(number, at), (number + 1) * 1000, now=at)
    release(book(1, start), resolution="rejected", now=start)
sound = dict(input_tokens=1500, cached_input_tokens=200, output_tokens=900, input_audio_tokens=1000, output_audio_tokens=700)
settle(book(1, this, route="realtime", model="realtime", price_version=live.pk), 81_280, quantities=sound, now=this)
review(book(2, this), "timed out")
usage_days.rebuild()  # the job may have added the time of these calls up already
"""


def book_months(gateway: AppGateway, kind: str, key: str) -> None:
    """Book calls of an owner in this month and the one before."""
    done = gateway.manage("shell", "-c", BOOK.format(kind=kind, key=key))
    assert done.returncode == 0, done.stderr
