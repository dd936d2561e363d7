"""A sound file is measured after the look at the wallet, and where its work delays nobody else's."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from inference.routes.transcriptions import route
from tests.factories.audio import wav
from tests.inference.routes.test_transcriptions import PATHS, PRICE, ROUTES, TRANSCRIPTIONS
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.forms import form
from tests.support.stage import MESSAGES, Stage

UNREADABLE = b"ID3\x04\0\0\0\0\0\0" * 20_000


@pytest.fixture
def occupied() -> Iterator[threading.Event]:
    """The thread that measures, which works until this is set."""
    done = threading.Event()
    route._turns._thread.submit(done.wait, PATIENCE_SECONDS)
    yield done
    done.set()


def model_of(stage: Stage) -> str:
    return stage.model(price=PRICE, options=ROUTES)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("balance", [0, 100])
def test_a_file_without_the_money_for_a_second_is_not_measured(
    stage: Stage, occupied: threading.Event, path: str, balance: int
) -> None:
    caller = stage.caller(balance=balance)
    refused = caller.post(form(UNREADABLE, [("model", model_of(stage))]), path=path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (402, "insufficient_funds")
    assert refused.json()["error"]["details"] == {"requiredMicrousd": 101, "availableMicrousd": balance}
    assert (caller.calls, len(stage.upstream.ledger)) == ([], 0)


def test_a_file_that_cannot_be_measured_is_refused_with_nothing_held(stage: Stage) -> None:
    caller = stage.caller()
    refused = caller.post(form(UNREADABLE, [("model", model_of(stage))]), path=TRANSCRIPTIONS)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "file")
    assert (caller.calls, len(stage.upstream.ledger)) == ([], 0)
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}


def test_money_for_a_second_does_not_pay_for_a_minute(stage: Stage) -> None:
    caller = stage.caller(balance=1_000)
    refused = caller.post(form(wav(60), [("model", model_of(stage))]), path=TRANSCRIPTIONS)
    assert refused.json()["error"]["details"] == {"requiredMicrousd": 6030, "availableMicrousd": 1_000}
    assert caller.calls == []


@pytest.mark.parametrize("max_cost", [50, 6029])
def test_the_maximum_is_compared_with_the_whole_files_cost(stage: Stage, max_cost: int) -> None:
    caller = stage.caller()
    refused = caller.post(form(wav(60), [("model", model_of(stage))]), path=TRANSCRIPTIONS, max_cost=max_cost)
    assert (refused.status_code, refused.json()["error"]["code"]) == (402, "max_cost_exceeded")
    assert refused.json()["error"]["details"]["requiredMicrousd"] == 6030
    assert caller.calls == []


def test_while_a_file_is_measured_large_bodies_go_on(stage: Stage, occupied: threading.Event, settings: Any) -> None:
    long = [{"role": "user", "content": "x" * 200_000}]
    body = {"model": stage.model(), "messages": [*long, *MESSAGES], "max_tokens": 16}
    assert stage.caller().post(body).status_code == 200
    settings.LARGE_BODY_WAIT_SECONDS = 0.1
    caller = stage.caller()
    refused = caller.post(form(wav(1), [("model", model_of(stage))]), path=TRANSCRIPTIONS)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")
    assert refused.headers["retry-after"]
    assert caller.calls == []
