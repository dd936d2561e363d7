"""Rate limits of live sessions: stated by the handshake, and counted until the session closes."""

from collections.abc import Iterator

import pytest

from billing.models import Limit
from inference.queries import catalogue
from tests.support.concurrency import eventually
from tests.support.sessions import code_of, live_model, opened, refused, talker
from tests.support.stage import Stage


@pytest.fixture(autouse=True)
def no_limits_remain() -> Iterator[None]:
    yield
    Limit.objects.all().delete()
    catalogue.forget()


def test_a_session_counts_until_it_closes(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    Limit.objects.create(scope="account", subject=caller.did, requests_per_minute=10, concurrent=1)
    catalogue.forget()
    policy = '"account-requests";q=10;w=60, "account-concurrent";q=1'
    with opened(caller, alias) as session:
        assert session.headers["RateLimit-Policy"] == policy
        assert session.headers["RateLimit"] == '"account-requests";r=9;t=6, "account-concurrent";r=0'
        answer = refused(caller, alias)
        assert code_of(answer) == (429, "rate_limited")
        assert answer.headers["RateLimit-Policy"] == policy
        assert answer.headers["Retry-After"] == "1"
    eventually(lambda: caller.only_call.closed_at)
    with opened(caller, alias) as session:
        assert session.headers["RateLimit-Policy"] == policy
