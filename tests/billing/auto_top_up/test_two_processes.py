"""Many calls of two processes that take a wallet below its threshold at once: one charge."""

import os
import sys
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from billing.operations import auto_top_up_charges
from billing.queries import audit
from tests.billing.auto_top_up.crossing import COST
from tests.billing.auto_top_up.saver import INTENTS, USD, Saver
from tests.support.concurrency import at_once
from tests.support.database import database_url
from tests.support.forked import run
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db(transaction=True)

CALLS = 25


def environment(provider: FakeStripe) -> dict[str, Any]:
    """Return what a process needs to reach the test's database and provider."""
    return {
        **os.environ,
        "DATABASE_URL": database_url(),
        "STRIPE_SECRET_KEY": provider.secret_key,
        "STRIPE_API_BASE": provider.origin,
    }


def test_fifty_crossings_at_once_are_one_charge(provider: FakeStripe) -> None:
    saver = Saver(provider)
    saver.save_method()
    saver.enable(threshold_microusd=10 * USD)
    calls = [saver.purse.call(COST) for _ in range(2 * CALLS)]
    command = [sys.executable, "-m", "tests.billing.auto_top_up.crossing"]
    at_once(
        *(
            partial(run, [*command, *part], env=environment(provider), check=True, timeout=300)
            for part in (calls[:CALLS], calls[CALLS:])
        )
    )
    saver.run()
    assert len([one for one in provider.requests if (one.method, one.path) == ("POST", INTENTS)]) == 1
    assert (saver.paid, saver.booked, saver.events) == ([20], [20], ["charged"])
    assert saver.purse.wallet.balance_microusd == 30 * USD - 2 * CALLS * COST
    assert audit.findings() == []


def test_the_job_eight_times_at_once_charges_once(provider: FakeStripe) -> None:
    savers = [Saver(provider) for _ in range(3)]
    for saver in savers:
        saver.save_method()
        saver.spend(6 * USD)
        saver.enable()
    now = timezone.now()
    at_once(*[partial(auto_top_up_charges.send_all, now=now)] * 8)
    for saver in savers:
        saver.run()
        assert (saver.paid, saver.booked, saver.balance, saver.events) == ([20], [20], 24, ["charged"])
    assert audit.findings() == []
