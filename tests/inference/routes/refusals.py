"""What a refused call leaves behind: an error, and nothing else."""

from typing import Any

from tests.support.stage import Caller, Stage


def assert_refused(stage: Stage, caller: Caller, answer: Any, status: int, code: str, param: str | None) -> None:
    """Check the error, and that nothing was held and nothing sent."""
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    assert caller.calls == []
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}
    assert len(stage.upstream.ledger) == 0
