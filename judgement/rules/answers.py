"""Derives answers from a backend's probabilities, which are checked but never corrected."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from judgement.rules.questions import Kind, Question

SUM_TOLERANCE = 0.01
_ROUNDING = 1e-9
_SCORE_DECIMALS = 9
"""Further digits of a mean would only show rounding errors."""


class MalformedAnswer(ValueError):
    """A backend's response does not answer the questions."""


def read_answers(questions: Sequence[Question], sent: Any) -> dict[str, dict[str, Any]]:
    """Convert `{name: {"probabilities": {label: p}}}` to typed answers in the order of the questions. Raises
    MalformedAnswer.
    """
    if not isinstance(sent, Mapping) or sent.keys() != {question.name for question in questions}:
        raise MalformedAnswer("not exactly one answer per question")
    return {question.name: _read(question, sent[question.name]) for question in questions}


def typed_answer(question: Question, probabilities: Mapping[str, Any]) -> dict[str, Any]:
    """Return the typed answer for probabilities. Raises MalformedAnswer unless there is exactly one probability from 0
    to 1 for each label, and their sum is within 0.01 of 1.
    """
    if probabilities.keys() != set(question.labels):
        raise MalformedAnswer(f"{question.name}: not exactly one probability per label")
    given = {label: _checked(question, probabilities[label]) for label in question.labels}
    if abs(math.fsum(given.values()) - 1) > SUM_TOLERANCE + _ROUNDING:
        raise MalformedAnswer(f"{question.name}: the probabilities do not add up to 1")
    return {"type": question.kind.value, "answer": _answer(question, given), "probabilities": given}


def _read(question: Question, sent: Any) -> dict[str, Any]:
    probabilities = sent.get("probabilities") if isinstance(sent, Mapping) else None
    if not isinstance(probabilities, Mapping):
        raise MalformedAnswer(f"{question.name}: no probabilities")
    return typed_answer(question, probabilities)


def _checked(question: Question, value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:  # a bool is an int to isinstance
        raise MalformedAnswer(f"{question.name}: a probability that is not a number from 0 to 1")
    return float(value) if isinstance(value, float) else value


def _answer(question: Question, given: Mapping[str, float]) -> bool | str | float:
    """Return the typed answer. Of equally likely labels, the first wins. A noul is true only if true is more likely
    than false.
    """
    if question.kind is Kind.NOUL:
        return given["true"] > given["false"]
    if question.kind is Kind.CHOICE:
        return max(question.labels, key=lambda label: given[label])
    weighted = math.fsum(float(label) * given[label] for label in question.labels)
    return round(weighted / math.fsum(given.values()), _SCORE_DECIMALS)
