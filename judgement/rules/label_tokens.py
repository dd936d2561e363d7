"""Computes the probabilities of labels from the tokens of an answer, independently of the tokenizer.

The answers follow one another. At the start of an answer, each alternative token decides for one label, for none, or
for several that share it as a prefix. In the last case, the next token decides, but its alternatives are only known for
the token that the model wrote. A label's probability is the sum along this path. If the unknown rest could change a
probability by more than 0.01, the answer is malformed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from judgement.rules.answers import SUM_TOLERANCE, MalformedAnswer
from judgement.rules.prompt import codes_of
from judgement.rules.questions import Question
from judgement.rules.tokens import Token

LABELS_SHARE_MIN = 0.5
"""The least share of an answer's probability that labels must have."""

_SEPARATORS = b" \t\r\n\"'`*()[].,;:"

Spellings = Mapping[bytes, str]


def read_labels(questions: Sequence[Question], tokens: Sequence[Token]) -> dict[str, dict[str, float]]:
    """Return the probability of each label for each question. Raises MalformedAnswer."""
    text = b"".join(token.text for token in tokens)
    ends, begin, found = list(accumulate(len(token.text) for token in tokens)), 0, {}
    for question in questions:
        reading, end = _select_reading(question, text, begin)
        first = next(at for at, token_end in enumerate(ends) if token_end > begin)
        found[question.name] = reading.read(
            tokens[first:], text[begin:], begin - (ends[first] - len(tokens[first].text))
        )
        begin = end
    return found


def _select_reading(question: Question, text: bytes, begin: int) -> tuple["Reading", int]:
    """Return a reading of this answer by code or by label, whichever the model wrote, and the answer's end."""
    rest = text[begin:].lstrip(_SEPARATORS)
    by_code = _reading(question, codes_of(question))
    by_label = _reading(question, {label: label for label in question.labels})
    reading = max(by_code, by_label, key=lambda each: len(each.written(rest) or b""))
    written = reading.written(rest)
    if written is None:
        raise MalformedAnswer(f"{question.name}: no label")
    return reading, len(text) - len(rest) + len(written)


def _reading(question: Question, labels: Mapping[str, str]) -> "Reading":
    """Create a reading by spellings. Case is ignored unless two spellings differ only in case."""
    exact = {spelling.encode(): label for spelling, label in labels.items()}
    folded = {spelling.lower(): label for spelling, label in exact.items()}
    is_folded = len(folded) == len(exact)
    return Reading(question, folded if is_folded else exact, is_folded)


def _is_boundary(following: bytes) -> bool:
    return not following or (following < b"\x80" and not following.isalnum())


@dataclass(slots=True)
class Reading:
    """One answer while it is read. `masses` are the labels' probabilities so far; `unknown` could belong to any
    label.
    """

    question: Question
    spellings: Spellings
    is_folded: bool
    masses: dict[str, float] = field(default_factory=dict)
    unknown: float = 0.0
    unlisted: float = 0.0

    def read(self, tokens: Sequence[Token], text: bytes, head_bytes: int) -> dict[str, float]:
        """Read the tokens. The first `head_bytes` of their text belong to the preceding answer."""
        share, before = 1.0, b""
        for token in tokens:
            head, head_bytes = token.text[:head_bytes], 0
            share = self._weigh(token, head, before, share)
            before = (before + token.text[len(head) :]).lstrip(_SEPARATORS)
            if len(self._open(before)) < 2:
                return self._result()
        self.unknown += share  # the answer's end decided, and its probability is unknown
        return self._result()

    def written(self, text: bytes) -> bytes | None:
        """Return the longest spelling that a text begins with as a whole word, or None."""
        text = self._folded(text)
        whole = [each for each in self.spellings if text.startswith(each) and _is_boundary(text[len(each) :][:1])]
        return max(whole, key=len, default=None)

    def _weigh(self, token: Token, head: bytes, before: bytes, share: float) -> float:
        """Add each alternative's probability to its label, and return the token's own."""
        given = {text: p for text, p in token.alternatives.items() if text.startswith(head)}
        total = sum(given.values()) if head else 1.0
        if not total:
            raise MalformedAnswer(f"{self.question.name}: a token with a probability of zero")
        self.unlisted += 0.0 if head else share * max(0.0, 1.0 - sum(given.values()))
        for text, probability in given.items():
            labels = self._open(before + text[len(head) :])
            if len(labels) == 1:
                label = labels.pop()
                self.masses[label] = self.masses.get(label, 0.0) + share * probability / total
            elif labels and text != token.text:
                self.unknown += share * probability / total
        return share * given[token.text] / total

    def _open(self, text: bytes) -> set[str]:
        """Return the labels that a text has become or can still become."""
        written, begun = self.written(text), self._folded(text)
        longer = {label for spelling, label in self.spellings.items() if spelling.startswith(begun)}
        return longer | ({self.spellings[written]} if written is not None else set())

    def _folded(self, text: bytes) -> bytes:
        text = text.lstrip(_SEPARATORS)
        return text.lower() if self.is_folded else text

    def _result(self) -> dict[str, float]:
        """Return the labels' probabilities, normalized to their sum."""
        known, labels = sum(self.masses.values()), self.question.labels
        unknown = self.unknown + (self.unlisted if len(self.masses) < len(labels) else 0.0)
        if known < LABELS_SHARE_MIN or unknown > SUM_TOLERANCE:
            name = self.question.name
            raise MalformedAnswer(f"{name}: labels have {known:.3f} of the probability, {unknown:.3f} is unknown")
        return {label: self.masses.get(label, 0.0) / known for label in labels}
