"""Passes each observation on, once, when its request has ended.

Subscribers run on the event loop, after the answer: they must be quick, and must not wait. One that raises is logged.
"""

import logging
from collections.abc import Callable
from time import perf_counter_ns

from gateway.core.runtime.logs import RecurringLog
from gateway.core.telemetry.observation import Observation

Subscriber = Callable[[Observation], None]

_subscribers: list[Subscriber] = []
_failed = RecurringLog("gateway.telemetry", logging.ERROR)


def subscribe(subscriber: Subscriber) -> None:
    """Call a function with every observation that ends from now on. A second subscription of the same function changes nothing."""
    if subscriber not in _subscribers:
        _subscribers.append(subscriber)


def unsubscribe(subscriber: Subscriber) -> None:
    """Stop calling a function."""
    if subscriber in _subscribers:
        _subscribers.remove(subscriber)


def finish(observation: Observation) -> None:
    """End an observation and pass it to every subscriber. Never raises; a second end changes nothing."""
    if observation.ended_ns is not None:
        return
    observation.ended_ns = perf_counter_ns()
    for subscriber in tuple(_subscribers):
        try:
            subscriber(observation)
        except Exception as error:  # noqa: BLE001 - an observer harms nobody
            _failed.write(
                f"{subscriber!r} {type(error).__name__}", f"{subscriber!r} failed: {type(error).__name__}: {error}"
            )


def join(observation: Observation) -> None:
    """Add a part that the observation waits for: a call that may outlive its request."""
    observation.parts += 1


def leave(observation: Observation) -> None:
    """End one part of an observation, and the observation with its last part."""
    observation.parts -= 1
    if observation.parts <= 0:
        finish(observation)
