"""The demo backend, which only compares words; its version says so."""

import re
from collections.abc import Iterable

from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.vendors.demo.endpoint import DemoEndpoint
from inference.vendors.demo.tokens import IMAGE_TOKENS, count_tokens
from judgement.route.answer import judgement_of
from judgement.route.bound import BoundedJudgement
from judgement.rules.answers import typed_answer
from judgement.rules.questions import Kind, Question

VERSION = "demo-word-overlap-1"
_WORD = re.compile(r"\w+")
_DECIMALS = 4


class DemoJudgement(DemoEndpoint[BoundedJudgement]):
    """Gives a label a higher probability the more words its description shares with the state."""

    async def answer(self, attempt: Attempt[BoundedJudgement]) -> Answer:
        params = attempt.request.params
        texts = [params.state] if isinstance(params.state, str) else list(params.state.values())
        words = _words(texts)
        answers = {question.name: typed_answer(question, _judge(question, words)) for question in params.questions}
        tokens = sum(_count(question, texts) for question in params.questions) + IMAGE_TOKENS * len(params.images)
        return Answer(judgement_of(attempt, VERSION, answers), {"input_tokens": tokens})


def _judge(question: Question, words: frozenset[str]) -> dict[str, float]:
    weights = {label: 1 + len(words & _described(question, label)) for label in question.labels}
    whole = sum(weights.values())
    given = {label: round(weight / whole, _DECIMALS) for label, weight in weights.items()}
    first = question.labels[0]
    return given | {first: round(given[first] + 1 - sum(given.values()), _DECIMALS)}


def _described(question: Question, label: str) -> frozenset[str]:
    """Return the words that count for a label. A noul's instructions count for true."""
    spoken = question.instructions if question.kind is Kind.NOUL and label == "true" else label
    return _words([spoken, question.criteria.get(label, "")])


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(_WORD.findall(" ".join(texts).casefold()))


def _count(question: Question, texts: Iterable[str]) -> int:
    criteria = question.criteria
    return sum(count_tokens(text) for text in (*texts, question.instructions, *criteria.keys(), *criteria.values()))
