"""`kill -9` of the server, and of the database, while a session is open: what was reported is charged, once."""

import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from billing.models import UsageRecord
from billing.operations import ledger, reviews
from billing.queries import audit
from inference.metering import recovery
from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.concurrency import eventually
from tests.support.database import database_url
from tests.support.journals import journals_in
from tests.support.processes import gateway_process
from tests.support.sessions import Session, live_model, opened, talker
from tests.support.stage import Stage
from tests.support.unreliable import UnreliableWay


@pytest.fixture(autouse=True)
def journals(tmp_path: Path, settings: Any) -> Path:
    """Keep the journals of the test's servers in a separate folder."""
    settings.CALL_JOURNAL_DIR = tmp_path
    return tmp_path


def recover_and_reconcile() -> None:
    for minutes in (0, 1, 10):
        recovery.recover(now=timezone.now() + timedelta(minutes=minutes))
    assert journals_in(settings.CALL_JOURNAL_DIR) == []
    reviews.reconcile(now=timezone.now())


def send_nothing(session: Session, stage: Stage) -> None:
    """Send nothing at all."""


def get_one_response(session: Session, stage: Stage) -> None:
    """Receive one response, whose usage is known."""
    session.say(HELLO)
    session.until("service.usage")


def get_one_response_and_part_of_the_next(session: Session, stage: Stage) -> None:
    """Receive one response, and part of the next."""
    get_one_response(session, stage)
    stage.upstream.realtime.gate.clear()
    session.send("response.create")
    session.until("response.output_text.delta")


@pytest.mark.parametrize(
    ("say", "charges"),
    [
        (send_nothing, {0}),
        (get_one_response, {cost(4, 0, 8)}),
        (get_one_response_and_part_of_the_next, {cost(4, 0, 8), cost(4, 0, 9)}),
    ],
)
def test_a_killed_server_loses_no_charge_and_makes_none_twice(
    stage: Stage, journals: Path, say: Any, charges: set[int]
) -> None:
    caller, alias = talker(stage), live_model(stage)
    with gateway_process(CALL_JOURNAL_DIR=str(journals)) as (origin, server):
        caller.origin = origin
        with opened(caller, alias, max_cost=500_000) as session:
            say(session, stage)
            os.kill(server.pid, signal.SIGKILL)
            assert session.ending()[0] == 1006
    recover_and_reconcile()
    call = caller.only_call
    assert call.state == "settled"
    assert call.charge_microusd in charges
    assert UsageRecord.objects.filter(call=call).count() == 1
    assert caller.wallet == {"balance": 1_000_000 - call.charge_microusd, "held": 0, "debt": 0}
    recover_and_reconcile()
    assert caller.wallet["balance"] == 1_000_000 - call.charge_microusd
    assert audit.findings() == []


def test_a_session_whose_server_and_journal_are_gone_is_charged_by_its_last_checkpoint(
    stage: Stage, journals: Path
) -> None:
    caller, alias = talker(stage), live_model(stage)
    with gateway_process(CALL_JOURNAL_DIR=str(journals), STREAM_CHECKPOINT_SECONDS="0.05") as (origin, server):
        caller.origin = origin
        with opened(caller, alias, max_cost=500_000) as session:
            get_one_response(session, stage)
            eventually(lambda: (caller.only_call.evidence or {}).get("charge_microusd") == cost(4, 0, 8))
            os.kill(server.pid, signal.SIGKILL)
            assert session.ending()[0] == 1006
    for journal in journals_in(journals):
        journal.unlink()
    ledger.reap(limit=100, now=timezone.now() + timedelta(hours=2)).rows()
    reviews.reconcile(now=timezone.now())
    assert (caller.only_call.state, caller.only_call.charge_microusd) == ("settled", cost(4, 0, 8))
    assert audit.findings() == []


def test_a_database_that_is_away_at_the_end_gets_the_charge_when_it_is_back(stage: Stage, journals: Path) -> None:
    at = connection.settings_dict
    caller, alias = talker(stage), live_model(stage)
    with (
        UnreliableWay(at["HOST"], int(at["PORT"])) as way,
        gateway_process(DATABASE_URL=database_url(way.port), CALL_JOURNAL_DIR=str(journals)) as (origin, _),
    ):
        caller.origin = origin
        with opened(caller, alias, max_cost=500_000) as session:
            get_one_response(session, stage)
            way.cut()
            session.say(HELLO)  # the session continues, because its hold covers this
        assert caller.only_call.state == "dispatched"
        way.mend()
        eventually(lambda: caller.only_call.state == "settled")
    assert caller.only_call.charge_microusd == cost(4 + 16, 4, 16)
    assert caller.wallet == {"balance": 1_000_000 - caller.only_call.charge_microusd, "held": 0, "debt": 0}
    assert audit.findings() == []
