"""A gateway that dies by SIGKILL at a named moment of its first metered call: `python -m tests.faults.mortal_server`.

MOMENT names the moment; without it the server lives on. Nothing in the gateway knows of this.
"""

import os
import signal
from collections.abc import Callable
from functools import wraps
from typing import Any

import uvicorn


def die(*args: Any, **kwargs: Any) -> Any:
    """Die as under `kill -9`: no handler runs, nothing is flushed or closed."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_before(owner: Any, name: str) -> None:
    """Die when a function is called."""
    setattr(owner, name, die)


def die_after(owner: Any, name: str) -> None:
    """Die when a coroutine function has done its work."""
    original = getattr(owner, name)

    @wraps(original)
    async def run_and_die(*args: Any, **kwargs: Any) -> Any:
        await original(*args, **kwargs)
        die()

    setattr(owner, name, run_and_die)


def share_the_wallet() -> None:
    """Do as if others waited for the wallet, so that every trip is of two statements."""
    from inference.operations import ledger_trips

    ledger_trips.shares_flush = lambda: True


def die_between_statements_of_closing() -> None:
    """Die when a charge is committed and not yet flushed."""
    from billing.operations import ledger

    share_the_wallet()

    die_before(ledger, "_read_settlement")  # called with the row, before the flush was waited for


def die_with_the_hold_alone() -> None:
    """Die when the hold is committed and not yet flushed."""
    from inference.operations import ledger_trips

    share_the_wallet()

    async def only_the_first(owner: Any, statement: Any) -> Any:
        await ledger_trips.alone(statement)
        die()

    ledger_trips.then_flush = only_the_first


def moments() -> dict[str, Callable[[], None]]:
    """Every moment between hold and answer, in order."""
    from inference.operations import attempts, calls, closing, conclusions, opening, stream_runs

    run = stream_runs.StreamRun
    return {
        "before the hold": lambda: die_before(opening, "_trip"),
        "held, not flushed": die_with_the_hold_alone,
        "held": lambda: die_after(opening, "_trip"),
        "before sending": lambda: die_before(attempts, "send"),
        "answered": lambda: die_before(calls, "conclude"),
        "before the charge": lambda: die_before(closing, "_settlement"),
        "charged, not flushed": die_between_statements_of_closing,
        "charged": lambda: die_after(closing, "_attempt"),
        "before the release": lambda: die_before(closing, "close"),
        "before the review": lambda: die_before(closing, "_review"),
        "in review": lambda: die_after(closing, "_attempt"),
        "before opening a stream": lambda: die_before(attempts, "open_stream"),
        "stream opened": lambda: die_before(run, "_take"),
        "stream done": lambda: die_before(run, "_finish"),
        "stream charged": lambda: die_after(run, "_settle"),
        "stream broken": lambda: die_before(run, "_break_off"),
        "answer rendered": lambda: die_before(conclusions, "kept"),
    }


def main() -> None:
    """Serve until the moment comes."""
    from gateway.asgi import application

    if moment := os.environ.get("MOMENT"):
        moments()[moment]()
    uvicorn.run(application, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
