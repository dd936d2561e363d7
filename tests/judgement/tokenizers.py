"""Simulates a model with a given distribution of answers under several tokenizers, with its log-probabilities."""

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Tokenizer = Callable[[str], list[str]]

TOKENIZERS: Mapping[str, Tokenizer] = {
    "words": lambda text: re.findall(r"\w+|\W", text),
    "words with the space before": lambda text: re.findall(r" ?\w+|\W", text),
    "lines with their end": lambda text: re.findall(r"[^\n]*\n|[^\n]+", text),
    "characters": list,
    "pairs of characters": lambda text: [text[at : at + 2] for at in range(0, len(text), 2)],
    "all in one": lambda text: [text],
}
MARKS: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "sentencepiece": lambda token: "<0x0A>" if token == "\n" else token.replace(" ", "▁"),
    "byte-level": lambda token: token.replace(" ", "Ġ").replace("\n", "Ċ"),
}


def tokens_of(
    answers: Mapping[str, float], tokenize: Tokenizer, mark: Callable[[str], str] = str, top: int = 20
) -> list[dict[str, Any]]:
    """Return the vendor's `logprobs.content` for the most likely of these answers."""
    cut = {text: tuple(tokenize(text)) for text in answers}
    chosen = cut[max(answers, key=lambda text: answers[text])]
    return [_token(answers, cut, chosen, at, mark, top) for at in range(len(chosen))]


def independent(questions: Sequence[Mapping[str, float]], separator: str = "\n", begin: str = "") -> dict[str, float]:
    """Return all answers with their probabilities. Questions are independent."""
    return {
        begin + separator.join(texts): math.prod(given[text] for given, text in zip(questions, texts, strict=True))
        for texts in itertools.product(*questions)
    }


def _token(
    answers: Mapping[str, float],
    cut: Mapping[str, tuple[str, ...]],
    chosen: tuple[str, ...],
    at: int,
    mark: Callable[[str], str],
    top: int,
) -> dict[str, Any]:
    going_on = {text: p for text, p in answers.items() if cut[text][:at] == chosen[:at]}
    whole = sum(going_on.values())
    given: dict[str, float] = {}
    for text, probability in going_on.items():
        following = cut[text][at] if at < len(cut[text]) else "<|end|>"
        given[following] = given.get(following, 0.0) + probability / whole
    likeliest = sorted(given, key=lambda token: -given[token])[:top]
    others = [{"token": mark(token), "logprob": math.log(given[token])} for token in likeliest]
    return {"token": mark(chosen[at]), "logprob": math.log(given[chosen[at]]), "top_logprobs": others}
