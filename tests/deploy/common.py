"""What is tried in the same way on every deployment."""

import uuid
from typing import Protocol

from tests.deploy.customer import Customer
from tests.support.concurrency import eventually

PATIENCE_SECONDS = 600.0
JOBS_DONE = "SELECT count(*) FROM jobs_run WHERE outcome = 'done'"


class Deployment(Protocol):
    """A gateway that was started, with a customer."""

    @property
    def customer(self) -> Customer: ...

    def query(self, statement: str) -> int:
        """Ask the database for a number."""


def a_call_is_charged_once(site: Deployment) -> None:
    before = site.customer.available()
    key = uuid.uuid4().hex
    first, again = site.customer.pay(key=key), site.customer.pay(key=key)
    assert first.charge_microusd > 0
    assert (again.usage_id, again.charge_microusd) == (first.usage_id, first.charge_microusd)
    assert site.customer.available() == before - first.charge_microusd


def the_scheduler_and_the_worker_do_jobs(site: Deployment) -> None:
    done = site.query(JOBS_DONE)
    eventually(lambda: site.query(JOBS_DONE) > done, PATIENCE_SECONDS)
