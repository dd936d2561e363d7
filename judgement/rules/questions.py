"""Reads and checks questions. SPEC: Judgement request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.limits import (
    JUDGEMENT_LABEL_MAX_CHARACTERS,
    JUDGEMENT_LABELS_MAX,
    JUDGEMENT_QUESTIONS_MAX,
)

NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
NUMBER = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,6})?", re.ASCII)
NOUL_LABELS = ("true", "false")
_MEMBERS = frozenset({"type", "instructions", "criteria"})


class Kind(StrEnum):
    """The type of a question: a neural boolean, one of several labels, or a number on a scale."""

    NOUL = "noul"
    CHOICE = "choice"
    SCORE = "score"


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `labels` are its possible answers in the caller's order. `criteria` describe them; a noul's may be
    incomplete.
    """

    name: str
    kind: Kind
    instructions: str
    labels: tuple[str, ...]
    criteria: Mapping[str, str]

    @property
    def sent(self) -> dict[str, Any]:
        members: dict[str, Any] = {"type": self.kind.value, "instructions": self.instructions}
        return {**members, "criteria": dict(self.criteria)} if self.criteria else members

    @property
    def size_bytes(self) -> int:
        """Return the size of its texts in UTF-8 bytes."""
        texts = (self.name, self.kind, self.instructions, *self.labels, *self.criteria.values())
        return sum(len(text.encode()) for text in texts)


def read_questions(sent: Any) -> tuple[Question, ...]:
    """Read the map of questions, or raise InvalidRequest, which names the invalid member."""
    if not isinstance(sent, dict) or not 1 <= len(sent) <= JUDGEMENT_QUESTIONS_MAX:
        message = f"questions must be an object of 1 to {JUDGEMENT_QUESTIONS_MAX} questions by name."
        raise InvalidRequest(message, param="questions")
    return tuple(_question(name, question) for name, question in sent.items())


def _question(name: str, sent: Any) -> Question:
    param = f"questions.{name}"
    if not NAME.fullmatch(name):
        raise InvalidRequest("A question's name must be 1 to 64 of A-Z a-z 0-9 _ . -", param="questions")
    if not isinstance(sent, dict):
        raise InvalidRequest("A question must be an object.", param=param)
    for member in sent:
        if member not in _MEMBERS:
            raise InvalidRequest(f"A question has no member {member}.", param=f"{param}.{member}")
    kind, instructions = sent.get("type"), sent.get("instructions")
    if not isinstance(kind, str) or kind not in set(Kind):
        raise InvalidRequest("type must be noul, choice or score.", param=f"{param}.type")
    if not isinstance(instructions, str) or not instructions.strip():
        raise InvalidRequest("instructions must be a string.", param=f"{param}.instructions")
    criteria = _criteria(Kind(kind), sent.get("criteria"), f"{param}.criteria")
    labels = NOUL_LABELS if kind == Kind.NOUL else tuple(criteria)
    return Question(name, Kind(kind), instructions, labels, criteria)


def _criteria(kind: Kind, sent: Any, param: str) -> dict[str, str]:
    if sent is None and kind is Kind.NOUL:
        return {}
    if not isinstance(sent, dict) or not all(isinstance(text, str) for text in sent.values()):
        raise InvalidRequest("criteria must be an object of descriptions by label.", param=param)
    if kind is not Kind.NOUL and not 2 <= len(sent) <= JUDGEMENT_LABELS_MAX:
        raise InvalidRequest(f"criteria must have 2 to {JUDGEMENT_LABELS_MAX} labels.", param=param)
    for label in sent:
        _check_label(kind, label, param)
    if kind is Kind.SCORE and len({Decimal(label) for label in sent}) < len(sent):
        raise InvalidRequest("Two labels of a score are the same number.", param=param)
    return sent


def _check_label(kind: Kind, label: str, param: str) -> None:
    """Raise InvalidRequest unless a label is valid for this kind of question."""
    if kind is Kind.NOUL and label not in NOUL_LABELS:
        raise InvalidRequest("The labels of a noul are true and false.", param=f"{param}.{label}")
    if kind is Kind.SCORE and not NUMBER.fullmatch(label):
        raise InvalidRequest("A label of a score must be a number, such as 3 or 2.5.", param=f"{param}.{label}")
    if not label.strip() or len(label) > JUDGEMENT_LABEL_MAX_CHARACTERS or not label.isprintable():
        message = f"A label must have 1 to {JUDGEMENT_LABEL_MAX_CHARACTERS} printable characters."
        raise InvalidRequest(message, param=param)
