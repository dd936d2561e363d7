"""Classifies answers by probability, without content, so that operators can see if a backend's version judges
differently.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from judgement.rules.questions import Kind, Question

BUCKETS = 10

MEASURES = {
    Kind.NOUL: "Probability of true",
    Kind.CHOICE: "Probability of the likeliest label",
    Kind.SCORE: "Score, from the lowest to the highest label",
}


def tally(questions: Iterable[Question], answers: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each answer the `kind` of its question and its `bucket`: the tenth, from 0 to 9, of its measure."""
    return [
        {"kind": question.kind.value, "bucket": bucket_of(question, answers[question.name])} for question in questions
    ]


def bucket_of(question: Question, answer: Mapping[str, Any]) -> int:
    """Return the tenth of an answer's measure. 1 belongs to the last tenth."""
    return min(int(_measure(question, answer) * BUCKETS), BUCKETS - 1)


def _measure(question: Question, answer: Mapping[str, Any]) -> float:
    probabilities = answer["probabilities"]
    if question.kind is Kind.NOUL:
        return float(probabilities["true"])
    if question.kind is Kind.CHOICE:
        return float(probabilities[answer["answer"]])
    numbers = [float(label) for label in question.labels]
    return float((answer["answer"] - min(numbers)) / (max(numbers) - min(numbers)))
