"""Answers as a backend's probabilities give them: checked, never corrected."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from judgement.rules.questions import Kind, Question

SUM_TOLERANCE = 0.01
_ROUNDING = 1e-9
_SCORE_DECIMALS = 9
"""Beyond these, a mean shows how floating-point numbers add up, and nothing of the answer."""


class MalformedAnswer(ValueError):
    """What a backend answered is no answer to the questions."""


def read_answers(questions: Sequence[Question], sent: Any) -> dict[str, dict[str, Any]]:
    """Read `{name: {"probabilities": {label: p}}}` as typed answers in the order of the questions. Raises
    MalformedAnswer."""
    if not isinstance(sent, Mapping) or sent.keys() != {question.name for question in questions}:
        raise MalformedAnswer("not exactly one answer per question")
    return {question.name: _read(question, sent[question.name]) for question in questions}


def typed_answer(question: Question, probabilities: Mapping[str, Any]) -> dict[str, Any]:
    """Return the typed answer that probabilities give. Raises MalformedAnswer unless there is one from 0 to 1 for every
    label, and no other, and their sum is within 0.01 of 1."""
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
        raise MalformedAnswer(f"{question.name}: a probability that is none")
    return float(value) if isinstance(value, float) else value


def _answer(question: Question, given: Mapping[str, float]) -> bool | str | float:
    """Return the typed answer. Of equally likely labels, the first one wins; a noul is true only if that is likelier."""
    if question.kind is Kind.NOUL:
        return given["true"] > given["false"]
    if question.kind is Kind.CHOICE:
        return max(question.labels, key=lambda label: given[label])
    weighted = math.fsum(float(label) * given[label] for label in question.labels)
    return round(weighted / math.fsum(given.values()), _SCORE_DECIMALS)
