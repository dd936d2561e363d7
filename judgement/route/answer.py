"""Renders answers and refusals, in the same form for all backends."""

import re
import time
from collections.abc import Mapping
from typing import Any

from gateway.core.contract.errors import InputTooLarge
from inference.interface.upstream import Attempt, Outcome, Rejected
from judgement.route.bound import BoundedJudgement
from judgement.rules.answers import MalformedAnswer

_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}", re.ASCII)

_TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length"})


def judgement_of(attempt: Attempt[BoundedJudgement], version: Any, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Render checked answers with the call's id and the backend's identity (alias and version). Raises MalformedAnswer
    if the version is not a valid name.
    """
    request = attempt.request
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise MalformedAnswer("no version")
    return {
        "id": attempt.call.public_id,
        "object": "judgement",
        "model": f"{request.backend}/{version}",
        "answers": answers,
        "fallback": request.used_fallback,
        "created": int(time.time()),
    }


def too_large(outcome: Outcome) -> Outcome:
    """Return an outcome, with `input_too_large` instead of any other code for an input that is too long."""
    if isinstance(outcome, Rejected) and outcome.error.details.get("code") in _TOO_LONG:
        return Rejected(InputTooLarge(private=outcome.error.private), status=outcome.status)
    return outcome
