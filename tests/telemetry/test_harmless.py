"""Nothing that goes wrong in an observation, or in one who looks at it, changes a call."""

from typing import Any

import pytest

from billing.queries import audit
from gateway.core.telemetry import observation as module
from gateway.core.telemetry import observers
from gateway.core.telemetry.observation import Observation
from tests.support.observed import Observed
from tests.support.stage import Stage, chat


class Hostile(list[Any]):
    """A list that takes nothing and shows nothing."""

    def append(self, item: Any) -> None:
        raise RuntimeError("no room")

    def __getitem__(self, at: Any) -> Any:
        raise RuntimeError("nothing here")

    def __iter__(self) -> Any:
        raise RuntimeError("nothing here")

    def __bool__(self) -> bool:
        raise RuntimeError("neither")


def fail(observation: Observation) -> None:
    raise RuntimeError("an observer that fails")


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every mark and every attempt of all observations fail."""
    begin = Observation.__init__

    def broken(self: Observation, *args: Any, **named: Any) -> None:
        begin(self, *args, **named)
        self.marks, self.attempts = Hostile(), Hostile()

    monkeypatch.setattr(Observation, "__init__", broken)
    monkeypatch.setattr(module, "faults", [])


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("model", ["small-1", "unauthorized", "usage-negative"])
def test_a_call_whose_marks_all_fail(
    stage: Stage, observed: Observed, hostile: None, model: str, streams: bool
) -> None:
    observers.subscribe(fail)
    try:
        alias, caller = stage.model(model, max_output_tokens=20), stage.caller(balance=5000)
        answer = caller.post(chat(alias, stream=streams))
        seen = observed.only(caller.did)
    finally:
        observers.unsubscribe(fail)
    call = caller.only_call
    state = {"small-1": "settled", "unauthorized": "released", "usage-negative": "review"}[model]
    assert (call.state, answer.is_success) == (state, state == "settled" or (streams and state == "review"))
    charge = call.charge_microusd or 0
    held = call.hold_microusd if call.state == "review" else 0
    assert caller.wallet == {"balance": 5000 - charge, "held": held, "debt": 0}
    assert len(module.faults) > 1
    assert all(type(fault) is str for fault in module.faults)  # an exception would keep the request's body
    assert module.faults[0].startswith("RuntimeError in line ")
    assert module.faults[0].endswith("test_harmless.py")
    assert seen.ended_ns
    assert audit.findings() == []


def test_one_observer_that_fails_keeps_no_other_from_its_observation() -> None:
    got: list[Observation] = []
    observers.subscribe(fail)
    observers.subscribe(got.append)
    try:
        seen = Observation("chat.completions", "req_1")
        observers.finish(seen)
        observers.finish(seen)
    finally:
        observers.unsubscribe(fail)
        observers.unsubscribe(got.append)
    assert got == [seen]
