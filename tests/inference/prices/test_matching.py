"""Which entry of a catalogue is a deployment's: by provider and name, and never by a guess."""

import pytest

from inference.rules.price_catalogues.forms import read_catalogue
from inference.rules.price_matching import Sold, Statements, UnmatchedError, Way, match
from tests.inference.prices.excerpts import LITELLM, MODELS_DEV, OPENROUTER

OPENAI = Way("primary", "api.openai.com", "gpt-5")


def named(*ways: Way, text: bytes = LITELLM, **said: object) -> list[str]:
    found = match(Sold("fast", ways), read_catalogue(text), Statements(**said))  # type: ignore[arg-type]
    return [entry.name for _, entry in found]


def reason(*ways: Way, text: bytes = LITELLM, **said: object) -> str:
    with pytest.raises(UnmatchedError) as caught:
        named(*ways, text=text, **said)
    return str(caught.value)


def test_the_host_of_an_upstream_tells_its_provider() -> None:
    assert named(OPENAI) == ["gpt-5"]
    assert named(Way("g", "generativelanguage.googleapis.com", "gemini-2.5-pro"), text=MODELS_DEV) == [
        "google/gemini-2.5-pro"
    ]


def test_an_upstream_may_have_the_name_of_its_provider() -> None:
    assert named(Way("azure", "mine.example", "gpt-5")) == ["azure/gpt-5"]


def test_the_operator_may_name_the_provider() -> None:
    assert named(Way("primary", "mine.example", "gpt-5"), providers={"primary": "azure"}) == ["azure/gpt-5"]
    assert named(OPENAI, providers={"primary": "azure"}) == ["azure/gpt-5"]


def test_the_operator_may_name_the_entry() -> None:
    assert named(Way("x", "x", "y"), entries={"fast": "azure/gpt-5"}) == ["azure/gpt-5"]
    assert named(entries={"fast": "gpt-5"}) == ["gpt-5"]
    assert reason(OPENAI, entries={"fast": "gpt-6"}) == "the catalogue has no gpt-6"


def test_a_deployment_may_use_the_catalogues_own_name() -> None:
    assert named(Way("proxy", "proxy.example", "azure/gpt-5")) == ["azure/gpt-5"]
    assert named(Way("azure", "mine.example", "azure/gpt-5")) == ["azure/gpt-5"]


def test_without_a_provider_one_price_under_that_name_is_enough() -> None:
    assert named(Way("mine", "mine.example", "claude-sonnet-4-5")) == ["claude-sonnet-4-5"]
    same = LITELLM.replace(
        b'"azure/gpt-5": {', b'"azure/tts-1": {"mode": "audio_speech", "input_cost_per_character": 1.5e-05}, "b": {'
    )
    assert named(Way("mine", "mine.example", "tts-1"), text=same) == ["tts-1"]


def test_several_prices_under_a_name_are_ambiguous() -> None:
    words = reason(Way("mine", "mine.example", "gpt-5"))
    assert words == "several entries with different prices fit: gpt-5, azure/gpt-5"


def test_a_model_that_its_provider_does_not_have_is_not_found_elsewhere() -> None:
    words = reason(Way("primary", "api.openai.com", "claude-sonnet-4-5"))
    assert words == "primary/claude-sonnet-4-5 is not in the catalogue as a model of openai"
    assert reason(Way("mine", "mine.example", "small-1")) == "mine/small-1 is not in the catalogue"
    assert reason(Way("mine", "mine.example", "GPT-5")) == "mine/GPT-5 is not in the catalogue"


def test_every_deployment_must_be_found() -> None:
    assert named(OPENAI, Way("azure", "", "gpt-5")) == ["gpt-5", "azure/gpt-5"]
    assert reason(OPENAI, Way("mine", "", "small-1")) == "mine/small-1 is not in the catalogue"
    assert reason() == "it has no enabled deployment"


def test_an_upstreams_own_list_prices_its_own_deployments() -> None:
    way = Way("router", "openrouter.ai", "google/gemini-2.5-pro")
    assert named(way, text=OPENROUTER, upstreams=frozenset({"router"})) == ["google/gemini-2.5-pro"]
    words = reason(way, text=OPENROUTER, upstreams=frozenset({"other"}))
    assert words == "router/google/gemini-2.5-pro is not at the upstream whose list this is"


def test_an_entry_that_cannot_be_read_says_why() -> None:
    words = reason(Way("router", "", "openrouter/auto"), text=OPENROUTER, upstreams=frozenset({"router"}))
    assert words == "openrouter/auto: pricing.prompt is negative"


def test_names_of_a_catalogue_are_printed_on_one_line() -> None:
    bad = b'{"x\\u001b[31m\\n": {"litellm_provider": "p", "input_cost_per_token": -1}}'
    assert reason(Way("mine", "", "x\x1b[31m\n"), text=bad) == "x?[31m?: input_cost_per_token is negative"
