"""Labels' probabilities are computed from tokens, for any labels and any tokenizer."""

import math
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgement.rules import tokens as label_token_limits
from judgement.rules.answers import MalformedAnswer
from judgement.rules.label_tokens import read_labels
from judgement.rules.prompt import codes_of
from judgement.rules.questions import Kind, Question
from judgement.rules.tokens import ALTERNATIVES_MAX, TEXT_MAX_BYTES, TOKENS_MAX, read_tokens
from tests.judgement.tokenizers import MARKS, TOKENIZERS, independent, tokens_of

Read = dict[str, dict[str, float]]

TONE = ("calm", "very angry", "very happy")
TONE_GIVEN = (0.2, 0.7, 0.1)
SURE = {"true": 0.97, "false": 0.03}


def question(*labels: str, name: str = "q", kind: Kind = Kind.CHOICE) -> Question:
    return Question(name, kind, "Say which.", labels, dict.fromkeys(labels, ""))


def choice(tokens: list[dict[str, Any]]) -> dict[str, Any]:
    return {"logprobs": {"content": tokens}}


def read(questions: list[Question], tokens: list[dict[str, Any]]) -> Read:
    return read_labels(questions, read_tokens(choice(tokens)))


def by_code(questions: Question, given: dict[str, float]) -> dict[str, float]:
    return {code: given[label] for code, label in codes_of(questions).items()}


def close(found: dict[str, float], given: dict[str, float]) -> bool:
    return found.keys() == given.keys() and all(math.isclose(found[each], given[each], abs_tol=1e-9) for each in given)


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_several_answers_by_code(tokenizer: str, mark: str) -> None:
    questions = [question("true", "false", name="a"), question(*TONE, name="b"), question("1", "3", "5", name="c")]
    given = [SURE, dict(zip(TONE, TONE_GIVEN, strict=True)), {"1": 0.05, "3": 0.6, "5": 0.35}]
    codes = [by_code(each, probabilities) for each, probabilities in zip(questions, given, strict=True)]
    found = read(questions, tokens_of(independent(codes), TOKENIZERS[tokenizer], MARKS[mark]))
    assert all(close(found[each.name], probabilities) for each, probabilities in zip(questions, given, strict=True))


@pytest.mark.parametrize("begin", ["", " ", "\n", "**", "`"])
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_text_before_an_answer_is_ignored(tokenizer: str, begin: str) -> None:
    questions = question("yes, fully", "yes, partly", "no")
    given = {"yes, fully": 0.5, "yes, partly": 0.3, "no": 0.2}
    answers = independent([by_code(questions, given)], begin=begin)
    assert close(read([questions], tokens_of(answers, TOKENIZERS[tokenizer]))["q"], given)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_a_model_that_answers_with_the_label_is_understood(tokenizer: str) -> None:
    questions = question("calm", "angry", "sad")
    given = {"calm": 0.6, "angry": 0.3, "sad": 0.1}
    assert close(read([questions], tokens_of(given, TOKENIZERS[tokenizer]))["q"], given)


@pytest.mark.parametrize("tokenizer", ["words", "characters", "all in one"])
def test_labels_with_a_common_prefix_are_followed_to_the_deciding_token(tokenizer: str) -> None:
    questions = question("very good", "very bad", "good")
    given = {"very good": 0.7, "very bad": 0.25, "good": 0.05}
    assert close(read([questions], tokens_of(given, TOKENIZERS[tokenizer]))["q"], given)


def test_an_unwritten_prefix_of_several_labels_is_not_guessed() -> None:
    given = {"calm": 0.6, "very angry": 0.3, "very happy": 0.1}
    with pytest.raises(MalformedAnswer, match="is unknown"):
        read([question(*TONE)], tokens_of(given, TOKENIZERS["words"]))


def test_a_label_that_is_a_prefix_of_another_is_not_guessed() -> None:
    given = {"good": 0.6, "good enough": 0.3, "bad": 0.1}
    with pytest.raises(MalformedAnswer, match="is unknown"):
        read([question(*given)], tokens_of(given, TOKENIZERS["words"]))


def test_case_matters_only_if_labels_differ_only_in_case() -> None:
    assert close(read([question("Yes", "No")], tokens_of({"yes": 0.9, "no": 0.1}, list))["q"], {"Yes": 0.9, "No": 0.1})
    given = {"us!": 0.9, "US!": 0.1}
    assert close(read([question(*given)], tokens_of(given, TOKENIZERS["words"]))["q"], given)


def test_one_letter_that_is_a_code_and_begins_a_label_is_the_code() -> None:
    questions = question("Bad", "Awful")  # A stands for Bad, B for Awful
    assert close(read([questions], tokens_of({"A": 0.8, "B": 0.2}, list))["q"], {"Bad": 0.8, "Awful": 0.2})
    assert close(read([questions], tokens_of({"Awful": 0.8, "Bad": 0.2}, list))["q"], {"Bad": 0.2, "Awful": 0.8})


def test_tokens_that_end_within_a_character_are_put_together() -> None:
    label = "ärgerlich"
    pieces = [[0xC3], [0xA4], *[[each] for each in label[1:].encode()]]
    tokens = [{"token": "�", "bytes": piece, "logprob": 0.0, "top_logprobs": []} for piece in pieces]
    tokens[0]["logprob"] = math.log(0.9)
    tokens[0]["top_logprobs"] = [{"token": "ruhig", "bytes": None, "logprob": math.log(0.1)}]
    assert close(read([question(label, "ruhig")], tokens)["q"], {label: 0.9, "ruhig": 0.1})


def test_other_words_leave_the_labels_their_shares() -> None:
    answers = {"A": 0.6, "B": 0.2, "Because": 0.2}
    found = read([question("true", "false")], tokens_of(answers, TOKENIZERS["words"]))["q"]
    assert close(found, {"true": 0.75, "false": 0.25})


def test_an_answer_that_hardly_stands_for_labels_is_malformed() -> None:
    answers = {"A": 0.3, "B": 0.1, **{f"word{index}": 0.06 for index in range(10)}}
    with pytest.raises(MalformedAnswer, match="of the probability"):
        read([question("true", "false")], tokens_of(answers, TOKENIZERS["words"]))


def test_an_unlisted_label_is_malformed_unless_its_share_is_negligible() -> None:
    questions, rare = question("true", "false"), {"A": 0.98, "Because": 0.015, "B": 0.005}
    assert close(read([questions], tokens_of(rare, TOKENIZERS["words"], top=2))["q"], {"true": 1.0, "false": 0.0})
    with pytest.raises(MalformedAnswer, match="is unknown"):
        read([questions], tokens_of({"A": 0.9, "B": 0.1}, TOKENIZERS["words"], top=1))


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        ["A"],
        [{"token": "A", "logprob": 0.0}],
        [{"token": "A", "logprob": None, "top_logprobs": []}],
        [{"token": "A", "logprob": True, "top_logprobs": []}],
        [{"token": "A", "logprob": 0.5, "top_logprobs": []}],
        [{"token": 1, "logprob": -1, "top_logprobs": []}],
        [{"token": "A", "logprob": -0.1, "top_logprobs": [{"token": "B", "logprob": -0.1}]}],
        [{"token": "C", "logprob": 0, "top_logprobs": []}],
        [{"token": "<|end|>", "logprob": 0, "top_logprobs": []}],
        [
            {"token": "A", "logprob": 0, "top_logprobs": [], "bytes": [300]},
            {"token": "n", "logprob": 0, "top_logprobs": []},
        ],
        [{"token": "A", "logprob": 0, "top_logprobs": []}] * (TOKENS_MAX + 1),
        [{"token": "A", "logprob": 0, "top_logprobs": [{"token": "B", "logprob": -30}] * (ALTERNATIVES_MAX + 1)}],
        [{"token": "A" + " " * TEXT_MAX_BYTES, "logprob": 0, "top_logprobs": []}],
    ],
)
def test_responses_that_are_not_answers_are_malformed(content: Any) -> None:
    with pytest.raises(MalformedAnswer):
        read_labels([question("true", "false")], read_tokens(choice(content)))


def test_a_token_of_two_answers_with_no_probability_is_malformed() -> None:
    questions = [question("true", "false", name="a"), question("true", "false", name="b")]
    given = [{"token": "B\nA", "logprob": -9999.0}, {"token": "A\nA", "logprob": 0.0}]
    with pytest.raises(MalformedAnswer, match="probability of zero"):
        read(questions, [{"token": "B\nA", "logprob": -9999.0, "top_logprobs": given}])


def test_a_missing_second_answer_is_malformed() -> None:
    questions = [question("true", "false", name="a"), question("true", "false", name="b")]
    with pytest.raises(MalformedAnswer, match="b: no label"):
        read(questions, tokens_of({"A": 0.9, "B": 0.1}, list))


SHARES = st.lists(st.integers(1, 100), min_size=2, max_size=6)


@settings(max_examples=150, deadline=None)
@given(st.lists(SHARES, min_size=1, max_size=3), st.sampled_from(sorted(TOKENIZERS)), st.sampled_from(sorted(MARKS)))
def test_any_shares_under_any_tokenizer(shares: list[list[int]], tokenizer: str, mark: str) -> None:
    questions, given_shares = [], []
    for number, counts in enumerate(shares):
        questions.append(question(*(f"label {index}" for index in range(len(counts))), name=str(number)))
        given_shares.append(
            {label: count / sum(counts) for label, count in zip(questions[-1].labels, counts, strict=True)}
        )
    codes = [by_code(each, probabilities) for each, probabilities in zip(questions, given_shares, strict=True)]
    tokens = tokens_of(independent(codes), TOKENIZERS[tokenizer], MARKS[mark], top=1000)
    with patch.object(label_token_limits, "ALTERNATIVES_MAX", 1000):  # no token is omitted, so nothing is unknown
        found = read(questions, tokens)
    assert all(
        close(found[each.name], probabilities) for each, probabilities in zip(questions, given_shares, strict=True)
    )
