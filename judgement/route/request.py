"""Reads and checks judgement requests. SPEC: Judgement request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gateway.core.contract.errors import ImagesUnsupported, InputTooLarge, InvalidRequest
from gateway.core.contract.limits import (
    JUDGEMENT_BRANCH_MAX_TOKENS,
    JUDGEMENT_IMAGE_MAX_BYTES,
    JUDGEMENT_IMAGES_MAX,
)
from inference.rules.images import Image, check_remote, is_inline, read_data_url
from inference.rules.members import read_flag
from judgement.rules.questions import Question, read_questions

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})
State = str | Mapping[str, str]

_MEMBERS = frozenset({"model", "state", "questions", "images", "allow_fallback"})


class RemoteImage(NamedTuple):
    """An image that the gateway must fetch, and the path of the member that names it."""

    url: str
    param: str


@dataclass(frozen=True, slots=True)
class JudgementRequest:
    """A valid request. `state_bytes` is the size of the state's texts in UTF-8."""

    state: State
    questions: tuple[Question, ...]
    images: tuple[Image | RemoteImage, ...]
    allows_fallback: bool
    state_bytes: int
    is_large: bool

    def branch_tokens_max(self, frame_tokens: int) -> int:
        """Return the most tokens of all branches. A backend reads the state once for each question and adds
        `frame_tokens`, up to its limit. A text has at most one token per byte; for images, only the limit is known.
        """
        most = JUDGEMENT_BRANCH_MAX_TOKENS
        if self.images:
            return most * len(self.questions)
        return sum(min(self.state_bytes + each.size_bytes + frame_tokens, most) for each in self.questions)


def read_request(members: Mapping[str, Any], *, takes_images: bool, is_large: bool) -> JudgementRequest:
    """Read a body. Raises InvalidRequest, ImagesUnsupported, ImageRejected or InputTooLarge, with the invalid
    member.
    """
    for name in members:
        if name not in _MEMBERS:
            raise InvalidRequest(f"{name} is not a member of this request.", param=name)
    state, questions = _state(members.get("state")), read_questions(members.get("questions"))
    images = _images(members.get("images"), takes_images=takes_images)
    allows_fallback = read_flag(members, "allow_fallback")
    size_bytes = _size_of(state)
    for question in questions:
        _check_branch(size_bytes, question)
    return JudgementRequest(state, questions, images, allows_fallback, size_bytes, is_large)


def _state(sent: Any) -> State:
    texts = [sent] if isinstance(sent, str) else sent.values() if isinstance(sent, dict) else [None]
    if not sent or not all(isinstance(text, str) for text in texts):
        raise InvalidRequest("state must be a string, or an object of strings by name.", param="state")
    state: State = sent
    return state


def _size_of(state: State) -> int:
    texts = (state,) if isinstance(state, str) else (*state.keys(), *state.values())
    return sum(len(text.encode()) for text in texts)


def _check_branch(state_bytes: int, question: Question) -> None:
    """Raise InputTooLarge if the state and a question may exceed a branch's tokens. Nothing is truncated."""
    if state_bytes + question.size_bytes > JUDGEMENT_BRANCH_MAX_TOKENS:
        message = (
            f"The state and one question together may have {JUDGEMENT_BRANCH_MAX_TOKENS} tokens; each UTF-8 byte "
            "counts as one."
        )
        param = "state" if state_bytes > JUDGEMENT_BRANCH_MAX_TOKENS else f"questions.{question.name}"
        details = {"limitTokens": JUDGEMENT_BRANCH_MAX_TOKENS, "bytes": state_bytes + question.size_bytes}
        raise InputTooLarge(message, param=param, details=details)


def _images(sent: Any, *, takes_images: bool) -> tuple[Image | RemoteImage, ...]:
    if sent is None:
        return ()
    if not isinstance(sent, list) or len(sent) > JUDGEMENT_IMAGES_MAX:
        raise InvalidRequest(f"images must be a list of at most {JUDGEMENT_IMAGES_MAX} URLs.", param="images")
    if sent and not takes_images:
        raise ImagesUnsupported(param="images")
    return tuple(_image(url, f"images.{index}") for index, url in enumerate(sent))


def _image(url: Any, param: str) -> Image | RemoteImage:
    if not isinstance(url, str):
        raise InvalidRequest("An image must be a URL.", param=param)
    if is_inline(url):
        return read_data_url(url, IMAGE_TYPES, param, JUDGEMENT_IMAGE_MAX_BYTES)
    check_remote(url, IMAGE_TYPES, param)
    return RemoteImage(url, param)
