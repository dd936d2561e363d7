"""A gateway that dies by SIGKILL at a named moment of its first metered call: `python -m tests.faults.crashing_server`.

MOMENT names the moment; without it the server keeps running. CALLS_SECONDS is how long a stop waits for calls that were sent. The
gateway's own code is not aware of this.
"""

import os
import signal
from collections.abc import Callable
from functools import wraps
from itertools import count
from typing import Any

import uvicorn


def die(*args: Any, **kwargs: Any) -> Any:
    """Die as by `kill -9`: no handler runs, nothing is flushed or closed."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_before(owner: Any, name: str) -> None:
    """Die when a function is called."""
    setattr(owner, name, die)


def die_after(owner: Any, name: str) -> None:
    """Die after a coroutine function has finished."""
    original = getattr(owner, name)

    @wraps(original)
    async def run_and_die(*args: Any, **kwargs: Any) -> Any:
        await original(*args, **kwargs)
        die()

    setattr(owner, name, run_and_die)


def die_at_second(owner: Any, name: str) -> None:
    """Die when a coroutine function is called for the second time."""
    original, calls = getattr(owner, name), count()

    @wraps(original)
    async def run_once(*args: Any, **kwargs: Any) -> Any:
        return die() if next(calls) else await original(*args, **kwargs)

    setattr(owner, name, run_once)


def die_when_marked(entry: Any) -> None:
    """Die when a call is marked as sent."""
    mark = entry.sent

    def mark_and_die(self: Any) -> None:
        mark(self)
        die()

    entry.sent = mark_and_die


def die_when_held(hold: Any) -> None:
    """Die when the ledger has placed a hold, not when it has only tried one."""
    read = hold._read

    def read_and_die(answer: dict[str, Any], body: bytes | None) -> Any:
        return die() if answer.get("outcome") == "reserved" else read(answer, body)

    hold._read = read_and_die


def die_when_falling_back(call: Any, entry: Any) -> None:
    """Die when a call is marked as sent to its fallback model."""
    fall_back, mark, fallen_back = call.fall_back, entry.sent, list[Any]()

    def fall_back_and_note(self: Any) -> Any:
        fallen_back.append(self)
        return fall_back(self)

    def mark_and_die(self: Any) -> None:
        mark(self)
        if fallen_back:
            die()

    call.fall_back, entry.sent = fall_back_and_note, mark_and_die


def moments() -> dict[str, Callable[[], None]]:
    """Return all moments between hold and answer, in order."""
    from billing.operations import closings
    from inference.adapters import http_endpoint
    from inference.adapters.representation import conversation
    from inference.metering import closing, hold, journal, opening, sending, serving, streaming, whole_answers
    from inference.metering.call import Call

    run = streaming.StreamRun
    return {
        "before the hold": lambda: die_before(opening, "hold_element"),
        "held": lambda: die_when_held(hold),
        "before sending": lambda: die_before(sending, "send"),
        "about to send": lambda: die_before(http_endpoint, "post"),
        "sending": lambda: die_when_marked(journal.Entry),
        "about to send the first of several": lambda: die_before(conversation, "post"),
        "first of several answered": lambda: die_before(conversation.Conversation, "count"),
        "about to send the second": lambda: die_at_second(conversation, "post"),
        "about to fall back": lambda: die_before(Call, "fall_back"),
        "sending to the fallback": lambda: die_when_falling_back(Call, journal.Entry),
        "answered": lambda: die_before(serving, "conclude"),
        "before the charge": lambda: die_before(closings, "settle"),
        "about to charge": lambda: die_before(closing, "_attempt"),
        "charged": lambda: die_after(closing, "_attempt"),
        "before the release": lambda: die_before(closing, "deliver"),
        "about to release": lambda: die_before(closing, "_attempt"),
        "before the review": lambda: die_before(closing, "deliver"),
        "in review": lambda: die_after(closing, "_attempt"),
        "before opening a stream": lambda: die_before(sending, "open_stream"),
        "stream opened": lambda: die_before(run, "_take"),
        "stream done": lambda: die_before(run, "_finish"),
        "stream charged": lambda: die_after(run, "_charge"),
        "stream broken": lambda: die_before(run, "_break_off"),
        "answer rendered": lambda: die_before(whole_answers, "replay_of"),
    }


def main() -> None:
    """Serve until the moment comes."""
    from gateway.asgi import application
    from gateway.server import lifespan

    lifespan.CALLS_SECONDS = float(os.environ.get("CALLS_SECONDS", lifespan.CALLS_SECONDS))
    if moment := os.environ.get("MOMENT"):
        moments()[moment]()
    uvicorn.run(application, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
