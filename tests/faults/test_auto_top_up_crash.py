"""A process that is killed before any line of an automatic charge leaves one that is made and booked once."""

import sys

import pytest

from billing.queries import audit
from tests.billing.auto_top_up.saver import USD, Saver
from tests.billing.auto_top_up.test_two_processes import environment
from tests.support.forked import run
from tests.support.stripe import FakeStripe
from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_charge_killed_before_each_of_its_lines_is_made_and_booked_once(provider: FakeStripe) -> None:  # noqa: F811
    saver = Saver(provider)
    saver.purse.pay(10 * USD)
    saver.save_method()
    saver.enable(monthly_limit_microusd=100_000 * USD)
    command = [sys.executable, "-m", "tests.faults.crashing_top_up", saver.did]
    done = run(command, env=environment(provider), check=True, timeout=600)
    lines = int(done.stdout)
    assert lines > 80
    assert saver.paid == saver.booked == [20] * lines
    assert saver.events == ["charged"] * lines
    assert audit.findings() == []
