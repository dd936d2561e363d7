"""Validation of judgement requests: errors name the invalid member, before anything is held or sent."""

import json
import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inference.models import RawModel
from inference.queries import catalogue
from tests.inference.calls.test_models import raw_model
from tests.judgement.bench import BALANCE, GROUNDED, QUALITY, TONE, Bench, ask, post
from tests.judgement.test_judgement import assert_refused


def noul(**members: Any) -> dict[str, Any]:
    return {"questions": {"q": {**GROUNDED, **members}}}


def choice(criteria: Any, **members: Any) -> dict[str, Any]:
    return {"questions": {"q": {**TONE, "criteria": criteria, **members}}}


def score(*labels: str) -> dict[str, Any]:
    return {"questions": {"q": {**QUALITY, "criteria": dict.fromkeys(labels, "")}}}


def named(name: str) -> dict[str, Any]:
    return {"questions": {name: GROUNDED}}


# fmt: off
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown member": ({"temperature": 0}, "temperature"),
    "a misspelled member": ({"allow_fallbacks": True}, "allow_fallbacks"),
    "a model that is not text": ({"model": 7}, "model"),
    "an empty model": ({"model": ""}, "model"),
    "no state": ({"state": None}, "state"),
    "an empty state": ({"state": ""}, "state"),
    "an empty map": ({"state": {}}, "state"),
    "a state that is a list": ({"state": ["text"]}, "state"),
    "a state that is a number": ({"state": 5}, "state"),
    "a map of numbers": ({"state": {"a": 1}}, "state"),
    "a map of maps": ({"state": {"a": {"b": "c"}}}, "state"),
    "no questions": ({"questions": None}, "questions"),
    "an empty map of questions": ({"questions": {}}, "questions"),
    "a list of questions": ({"questions": [GROUNDED]}, "questions"),
    "33 questions": ({"questions": {f"q{number}": GROUNDED for number in range(33)}}, "questions"),
    "an empty name": (named(""), "questions"),
    "a name with a space": (named("a b"), "questions"),
    "a name with a letter beyond ASCII": (named("ä"), "questions"),
    "a name of 65 characters": (named("n" * 65), "questions"),
    "a name with a line's end": (named("a\n"), "questions"),
    "a question that is a text": ({"questions": {"q": "Is it?"}}, "questions.q"),
    "an unknown member of a question": (noul(weight=1), "questions.q.weight"),
    "no type": (noul(type=None), "questions.q.type"),
    "an unknown type": (noul(type="bool"), "questions.q.type"),
    "a type that is a list": (noul(type=["noul"]), "questions.q.type"),
    "no instructions": (noul(instructions=None), "questions.q.instructions"),
    "blank instructions": (noul(instructions=" "), "questions.q.instructions"),
    "instructions that are not text": (noul(instructions=["Is it?"]), "questions.q.instructions"),
    "a noul with another label": (noul(criteria={"maybe": "Unclear"}), "questions.q.criteria.maybe"),
    "criteria that are a list": (noul(criteria=["true"]), "questions.q.criteria"),
    "a choice without criteria": (choice(None), "questions.q.criteria"),
    "a choice of one label": (choice({"a": ""}), "questions.q.criteria"),
    "a choice of 21 labels": (choice({f"l{number}": "" for number in range(21)}), "questions.q.criteria"),
    "a description that is not text": (choice({"a": "", "b": None}), "questions.q.criteria"),
    "an empty label": (choice({"a": "", "": ""}), "questions.q.criteria"),
    "a blank label": (choice({"a": "", " ": ""}), "questions.q.criteria"),
    "a label of 65 characters": (choice({"a": "", "b" * 65: ""}), "questions.q.criteria"),
    "a label with a control character": (choice({"a": "", "b\u0007": ""}), "questions.q.criteria"),
    "a score with a word": (score("1", "two"), "questions.q.criteria.two"),
    "a score with an exponent": (score("1", "1e3"), "questions.q.criteria.1e3"),
    "a score with NaN": (score("1", "NaN"), "questions.q.criteria.NaN"),
    "a score with digits beyond ASCII": (score("1", "٣"), "questions.q.criteria.٣"),
    "a score with a number beyond bounds": (score("1", "1" * 10), f"questions.q.criteria.{'1' * 10}"),
    "a score with the same number twice": (score("1", "1.0"), "questions.q.criteria"),
    "a score of one number": (score("1"), "questions.q.criteria"),
    "images that are a text": ({"images": "https://images.example/a.png"}, "images"),
    "allow_fallback that is a number": ({"allow_fallback": 1}, "allow_fallback"),
}
# fmt: on


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_request(bench: Bench, name: str) -> None:
    members, param = REFUSED[name]
    caller = bench.caller()
    assert_refused(
        bench, caller, post(caller, {**ask(model=bench.backend()), **members}), 400, "invalid_request", param
    )


@pytest.mark.parametrize("adapter", ["judgement", "openai", "demo"])
@pytest.mark.parametrize(
    "members",
    [
        noul(criteria={"true": "It does."}),
        noul(criteria={"true": "It does.", "false": "It does not."}),
        noul(criteria={}),
        noul(criteria=None),
        named("A-z_0.9"),
        choice({"a": "", "b": ""}),
        choice({f"label {number}": "" for number in range(20)}),
        choice({"ja 🙂": "", 'nein \\ "': ""}),
        choice({"A": "the first", "a": "another"}),
        score("-1", "0.5", "10"),
        score("0", "1"),
        {"images": []},
        {"images": None},
        {"state": {"": "a text without a name"}},
        {"questions": {f"q{number}": GROUNDED for number in range(32)}},
    ],
)
def test_a_good_request(bench: Bench, members: dict[str, Any], adapter: str) -> None:
    caller = bench.caller()
    many = adapter == "openai" and len(members.get("questions", ())) == 32
    if many:  # the fake model would have to compute four billion answers
        members = {"questions": dict(list(members["questions"].items())[:8])}
    answer = post(caller, {**ask(model=bench.backend(adapter=adapter)), **members})
    assert (answer.status_code, caller.only_call.state) == (200, "settled"), answer.text
    for given_answer in answer.json()["answers"].values():
        assert sum(given_answer["probabilities"].values()) == pytest.approx(1, abs=0.01)


def test_a_branch_has_8192_tokens_and_nothing_is_cut(bench: Bench) -> None:
    backend, texts = bench.backend(), len(b"grounded" + b"noul" + GROUNDED["instructions"].encode() + b"truefalse")
    fits = "x" * (8192 - texts)
    caller = bench.caller()
    assert_refused(bench, caller, post(caller, ask(model=backend, state=fits + "x")), 413, "input_too_large")
    assert_refused(bench, caller, post(caller, ask(model=backend, state="ä" * 4097)), 413, "input_too_large", "state")
    assert_refused(
        bench,
        caller,
        post(caller, ask(model=backend, state={"a": "x" * 5000, "b": "x" * 5000})),
        413,
        "input_too_large",
    )
    long = {"questions": {"ok": GROUNDED, "long": {**GROUNDED, "instructions": "x" * 8200}}}
    assert_refused(bench, caller, post(caller, ask(model=backend, **long)), 413, "input_too_large", "questions.long")
    answer = post(caller, ask(model=backend, state=fits))
    assert answer.status_code == 200
    assert bench.upstream.ledger.entries[0].body["state"] == fits


def test_a_raw_model_is_no_backend(bench: Bench) -> None:
    issuer = f"https://{uuid.uuid4().hex}.example"
    name = raw_model(bench.stage, issuer)
    RawModel.objects.filter(model=name).update(options={"routes": ["judgement"]})
    catalogue.forget()
    caller = bench.caller(scopes=("judgement:evaluate", f"infer:{name}"), client_id=issuer)
    assert_refused(bench, caller, post(caller, ask(model=name)), 400, "invalid_request", "model")


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.text(max_size=8)
    | st.sampled_from(["noul", "score", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.dictionaries(
    st.sampled_from(["state", "questions", "images", "allow_fallback", "x"]), JSON_VALUES, max_size=4
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MEMBERS, st.dictionaries(st.sampled_from(["type", "instructions", "criteria"]), JSON_VALUES, max_size=3))
def test_no_body_breaks_it(bench: Bench, members: dict[str, Any], members_of_question: dict[str, Any]) -> None:
    backend, caller = _backend(bench), bench.caller()
    body = json.dumps({**ask(model=backend), **noul(**members_of_question), **members}).encode()
    answer = post(caller, None, content=body)
    assert answer.status_code in (200, 400, 413)
    charged = sum(call.charge_microusd or 0 for call in caller.calls)
    assert caller.wallet == {"balance": BALANCE - charged, "held": 0, "debt": 0}


def _backend(bench: Bench) -> str:
    """Create one backend for all examples of a test."""
    if not hasattr(bench, "only"):
        bench.only = bench.backend(adapter="demo")  # type: ignore[attr-defined]
    return str(bench.only)  # type: ignore[attr-defined]
