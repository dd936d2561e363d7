"""The operator is told of a counter without a price once a day, whichever process sees it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from inference.metering import alarms, unpriced
from inference.metering.notes import Note
from inference.metering.unpriced import Counter
from inference.models import UnpricedCounter, Upstream
from tests.support.concurrency import at_once, eventually
from tests.support.stage import CHAT, MESSAGE, RESPONSES, Stage, ask, chat, message

AT = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
PLAIN = {"input_token": "2", "output_token": "8"}
BODIES = {CHAT: chat, MESSAGE: message, RESPONSES: ask}


def tell(upstream: Any, name: str = "odd_tokens", model: str = "fast", at: datetime = AT) -> None:
    counter = Counter(upstream.name, model, name)
    unpriced.write(counter, Note(counter.text, at, 1))


def told(upstream: Any) -> int:
    return Upstream.objects.get(pk=upstream.pk).alarms


def test_fifty_at_once_tell_once(stage: Stage) -> None:
    upstream = stage.upstream_row()
    at_once(*[lambda: tell(upstream)] * 50)
    assert told(upstream) == 1
    assert UnpricedCounter.objects.filter(upstream=upstream).count() == 1


def test_each_day_model_counter_and_upstream_is_told_of(stage: Stage) -> None:
    upstream, other = stage.upstream_row(), stage.upstream_row()
    for _ in range(2):
        tell(upstream)
        tell(upstream, name="other_tokens")
        tell(upstream, model="slow")
        tell(upstream, at=AT + timedelta(minutes=1))
        tell(other)
    assert (told(upstream), told(other)) == (4, 1)


def test_a_process_whose_clock_is_behind_does_not_tell_again(stage: Stage) -> None:
    upstream = stage.upstream_row()
    tell(upstream, at=AT + timedelta(minutes=1))
    tell(upstream, at=AT)
    assert told(upstream) == 1


def test_an_upstream_that_invents_counters_fills_no_table(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpriced, "COUNTERS_MAX", 3)
    upstream = stage.upstream_row()
    for number in range(6):
        tell(upstream, name=f"odd{number}_tokens")
    assert told(upstream) == 3
    tell(upstream, name="odd0_tokens", at=AT + timedelta(days=1))
    assert (told(upstream), UnpricedCounter.objects.filter(upstream=upstream).count()) == (4, 3)


def test_an_upstream_that_was_deleted_is_no_error() -> None:
    counter = Counter("gone", "fast", "odd_tokens")
    unpriced.write(counter, Note(counter.text, AT, 1))


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("options", [{}, {"routes": ["chat.completions"]}], ids=["own", "as-chat"])
def test_a_call_is_charged_and_told_of(stage: Stage, path: str, streams: bool, options: Any) -> None:
    is_message = path == MESSAGE and not options
    group = "input_tokens_details" if path == RESPONSES and not options else "prompt_tokens_details"
    counted = quote(json.dumps({"odd_input_tokens": 3} if is_message else {group: {"odd_tokens": 3}}))
    upstream = stage.upstream_row(options=options, adapter="anthropic" if is_message else "openai")
    alias = stage.model(
        f"small-1?tokens=5&cache_write_tokens=4&counted={counted}", upstream=upstream, price=PLAIN, max_output_tokens=20
    )
    caller = stage.caller()
    for _ in range(3):
        answer = caller.post(BODIES[path](alias, stream=streams), path=path)
        assert answer.status_code == 200
    record = caller.calls[0].usage_record
    assert caller.calls[0].charge_microusd == 2 * record.input_tokens + 8 * 5
    alarms.finish()
    counters = UnpricedCounter.objects.filter(upstream=upstream, model=alias).values_list("counter", flat=True)
    assert set(counters) == {"cache_write_tokens", "odd_input_tokens" if is_message else "odd_tokens"}
    eventually(lambda: told(upstream) == 2)
    assert "charged as plain ones" in Upstream.objects.get(pk=upstream.pk).last_alarm


def test_nothing_is_told_of_where_everything_has_a_price(stage: Stage) -> None:
    upstream = stage.upstream_row()
    price = {**PLAIN, "cache_write_token": "3"}
    alias = stage.model("small-1?cache_write_tokens=4&cached_tokens=2", upstream=upstream, price=price)
    assert stage.caller().post(chat(alias, max_tokens=20)).status_code == 200
    alarms.finish()
    assert told(upstream) == 0
