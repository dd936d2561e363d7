"""The models of a run: each alias has one behavior of the fake upstream (`tests/support/upstream/behaviours.py`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.config import INPUT_PRICE, OUTPUT_PRICE


@dataclass(frozen=True, slots=True)
class Model:
    """An alias, the upstream's behavior behind it, and its frequency.

    `is_honest`: a complete response reports its cost. `is_prompt`: the upstream responds, or refuses, well within the
    client's timeout.
    """

    name: str
    behaviour: str
    weight: int
    is_honest: bool = False
    is_prompt: bool = True
    streams: float = 0.4
    """The share of streamed requests."""


QUICK = Model("quick", "small-1", 40, is_honest=True)
MODELS = (
    QUICK,
    Model("thoughtful", "small-1?delay_ms=300", 15, is_honest=True),
    Model("dripping", "small-1?tokens=30&token_delay_ms=15", 12, is_honest=True),
    Model("slow", "small-1?tokens=50&token_delay_ms=60", 4, is_honest=True),
    Model("costly", "usage-over-cap", 3, is_honest=True),
    Model("silent-about-usage", "usage-missing", 3),
    Model("wrong-about-usage", "usage-negative", 1),
    Model("limited", "rate-limited", 3),
    Model("overloaded", "overloaded", 3),
    Model("failing", "secret-error", 3),
    Model("unavailable", "unavailable", 2),
    Model("refusing", "reject-parameter", 2),
    Model("cut-body", "cut-mid-body", 2, streams=0.0),
    Model("cut-stream", "cut-mid-stream", 3, streams=1.0),
    Model("cut-early", "cut-before-headers", 2),
    Model("unfinished", "no-done", 2, streams=1.0),
    Model("broken-by-error", "error-event", 2, streams=1.0),
    Model("garbled", "garbage-json", 1),
    Model("endless", "endless?token_delay_ms=5", 2, streams=1.0),
    Model("hanging", "hang-before-headers", 2, is_prompt=False),
    Model("stalling", "hang-first-event", 1, is_prompt=False, streams=1.0),
)
HONEST_BEHAVIOURS = frozenset(model.behaviour.partition("?")[0] for model in MODELS if model.is_honest)
"""The names in the upstream's ledger."""


def alias(model: Model) -> Mapping[str, Any]:
    """Build the configuration of a model."""
    return {
        "name": model.name,
        "enabled": True,
        "max_output_tokens": 4096,
        "context_tokens": 128000,
        "deployments": [{"upstream": "bench", "model": model.behaviour, "priority": 0, "weight": 1}],
        "price": {"input_token": INPUT_PRICE, "output_token": OUTPUT_PRICE},
    }
