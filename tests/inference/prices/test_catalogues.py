"""Catalogues of published prices: each form is read exactly, and what is malformed harms nothing else."""

from typing import Any

import pytest

from inference.rules.price_catalogues.entries import NO_PRICE, Entry
from inference.rules.price_catalogues.forms import read_catalogue
from inference.rules.price_catalogues.numbers import CATALOGUE_MAX_BYTES, CatalogueError
from inference.rules.price_places import components_of, decimal_text
from tests.inference.prices.excerpts import DEEPINFRA, GROQ, LITELLM, MODELS_DEV, OPENROUTER, TOGETHER


def entry(text: bytes, name: str, form: str | None = None) -> Entry:
    return next(each for each in read_catalogue(text, form).entries if each.name == name)


def components(text: bytes, name: str) -> dict[str, Any]:
    found = entry(text, name)
    assert not found.fault
    return components_of({place: decimal_text(price) for place, price in found.prices.items()})


def litellm(members: str) -> Entry:
    return entry(b'{"m": {"litellm_provider": "p", %b}}' % members.encode(), "m")


def test_tiers_of_litellm_are_read() -> None:
    assert components(LITELLM, "gpt-5") == {
        "input_token": "1.25",
        "cached_input_token": "0.125",
        "output_token": "10",
        "service_tiers": {
            "flex": {"input_token": "0.625", "cached_input_token": "0.0625", "output_token": "5"},
            "priority": {"input_token": "2.5", "cached_input_token": "0.25", "output_token": "20"},
        },
    }


def test_bands_and_cache_writes_of_litellm_are_read() -> None:
    assert components(LITELLM, "claude-sonnet-4-5") == {
        "input_token": "3",
        "cached_input_token": "0.3",
        "cache_write_token": "3.75",
        "cache_write_1h_token": "6",
        "output_token": "15",
        "bands": [
            {
                "above_input_tokens": 200000,
                "input_token": "6",
                "cached_input_token": "0.6",
                "cache_write_token": "7.5",
                "output_token": "22.5",
            }
        ],
    }
    assert entry(LITELLM, "claude-sonnet-4-5").notes == ("left out: search_context_cost_per_query",)


def test_a_band_of_a_tier_of_litellm_is_read() -> None:
    prices = litellm('"input_cost_per_token_above_272k_tokens_priority": 1e-05').prices
    assert {str(place): decimal_text(price) for place, price in prices.items()} == {
        "priority, above 272000: input_token": "10"
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("whisper-1", {"audio_second": "100"}),
        ("tts-1", {"input_character": "15"}),
        ("aiml/dall-e-3", {"image": "52000"}),
        ("text-embedding-3-small", {"input_token": "0.02", "output_token": "0"}),
        (
            "gpt-4o-audio-preview",
            {"input_token": "2.5", "output_token": "10", "input_audio_token": "100", "output_audio_token": "200"},
        ),
        (
            "amazon.nova-2-pro-preview-20251202-v1:0",
            {"input_token": "2.1875", "cached_input_token": "0.546875", "output_token": "17.5"},
        ),
    ],
)
def test_every_mode_of_litellm_is_read(name: str, expected: dict[str, Any]) -> None:
    assert components(LITELLM, name) == expected


def test_providers_and_names_of_litellm() -> None:
    named = {each.name: (each.provider, each.model) for each in read_catalogue(LITELLM).entries}
    assert "sample_spec" not in named
    assert named["gpt-5"] == ("openai", "gpt-5")
    assert named["azure/gpt-5"] == ("azure", "gpt-5")


def test_bands_of_models_dev_are_read() -> None:
    assert components(MODELS_DEV, "google/gemini-2.5-pro")["bands"] == [
        {"above_input_tokens": 200000, "input_token": "2.5", "cached_input_token": "0.625", "output_token": "15"}
    ]
    assert components(MODELS_DEV, "hpc-ai/openai/gpt-5.5") == {
        "input_token": "5",
        "cached_input_token": "0.5",
        "output_token": "30",
        "bands": [{"above_input_tokens": 272000, "input_token": "10", "cached_input_token": "1", "output_token": "45"}],
    }
    assert components(MODELS_DEV, "google/gemini-2.5-flash")["input_audio_token"] == "1"
    assert entry(MODELS_DEV, "google/gemma-free").fault == NO_PRICE
    assert entry(MODELS_DEV, "hpc-ai/openai/gpt-5.5").provider == "hpc-ai"


def test_strings_of_openrouter_are_read() -> None:
    assert components(OPENROUTER, "google/gemini-2.5-pro") == {
        "input_token": "1.25",
        "cached_input_token": "0.31",
        "cache_write_token": "1.625",
        "output_token": "10",
        "input_audio_token": "1.25",
        "request": "0",
        "bands": [{"above_input_tokens": 200000, "input_token": "2.5", "output_token": "15"}],
    }
    assert entry(OPENROUTER, "google/gemini-2.5-pro").notes == ("left out: image",)
    assert components(OPENROUTER, "anthropic/claude-sonnet-4.5")["cache_write_1h_token"] == "6"


def test_a_price_that_depends_on_a_router_is_no_price() -> None:
    assert entry(OPENROUTER, "openrouter/auto").fault == "pricing.prompt is negative"


def test_lists_of_together_and_deepinfra_are_read() -> None:
    kimi = {"input_token": "0.5", "cached_input_token": "0.25", "output_token": "2.8"}
    assert components(TOGETHER, "moonshotai/Kimi-K2.5") == kimi
    assert components(TOGETHER.replace(b"cached_input", b"cachedInput"), "moonshotai/Kimi-K2.5") == kimi
    assert components(DEEPINFRA, "openai/gpt-oss-120b") == {"input_token": "0.039", "output_token": "0.19"}
    assert components(DEEPINFRA, "deepseek-ai/DeepSeek-V3-0324")["cached_input_token"] == "0.135"
    assert entry(DEEPINFRA, "stabilityai/sd3.5").fault == NO_PRICE


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (LITELLM, "litellm"),
        (MODELS_DEV, "models.dev"),
        (OPENROUTER, "openrouter"),
        (TOGETHER, "together"),
        (DEEPINFRA, "deepinfra"),
    ],
)
def test_a_form_is_recognized(text: bytes, form: str) -> None:
    found = read_catalogue(text)
    assert found.form == form
    assert read_catalogue(b"\xef\xbb\xbf" + text, form) == found


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("2.5e-06", "2.5"),
        ("0.0000025", "2.5"),
        ("25E-7", "2.5"),
        ("1e-12", "0.000001"),
        ("1e-13", "0.000001"),
        ("1e-400", "0.000001"),
        ("1e-999999999999", "0.000001"),
        ("1.0000000000000001e-07", "0.100001"),
        ("0.0", "0"),
        ("-0.0", "0"),
        ("0e999999999", "0"),
        ("1000", "1000000000"),
        ("1", "1000000"),
    ],
)
def test_a_number_is_exact_and_rounded_up(number: str, expected: str) -> None:
    [price] = litellm(f'"input_cost_per_token": {number}').prices.values()
    assert decimal_text(price) == expected


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ('"free"', "is not a number"),
        ("true", "is not a number"),
        ("[1]", "is not a number"),
        ("{}", "is not a number"),
        ('"NaN"', "is not a number"),
        ('"sNaN"', "is not a number"),
        ('"Infinity"', "is not a number"),
        ('"1_0"', "is not a number"),
        ("-1e-9", "is negative"),
        ("1e400", "is more than 1000000000 micro-USD"),
        ("1e999999999", "is more than 1000000000 micro-USD"),
        ("1000.0000001", "is more than 1000000000 micro-USD"),
        ("1e99999999999999999999999", "is not a number"),
        ("0." + 100 * "1", "is not a number"),
    ],
)
def test_one_unreadable_price_costs_its_entry_alone(value: str, fault: str) -> None:
    good = '"good": {"litellm_provider": "p", "input_cost_per_token": 1e-6}'
    text = f'{{{good}, "m": {{"input_cost_per_token": {value}}}}}'
    catalogue = {each.name: each for each in read_catalogue(text.encode()).entries}
    assert catalogue["m"].fault == f"input_cost_per_token {fault}"
    assert catalogue["good"].prices


def test_what_is_stated_twice_is_not_known() -> None:
    text = b'{"a": {"litellm_provider": "p"}, "a": {"litellm_provider": "p"}, "b": {"litellm_provider": "p", "input_cost_per_token": 1, "input_cost_per_token": 2}}'
    faults = {each.name: each.fault for each in read_catalogue(text).entries}
    assert faults == {
        "a": "the catalogue has it more than once",
        "b": "input_cost_per_token is stated more than once",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "it is not JSON"),
        (b"<html>", "it is not JSON"),
        (b'{"m": {"litellm_provider": "p", "input_cost_per_token": NaN}}', "it is not JSON: NaN is no number"),
        (b'{"m": {"litellm_provider": "p", "input_cost_per_token": Infinity}}', "it is not JSON"),
        (b"\xff\xfe{}", "it is not UTF-8"),
        (100_000 * b"[", "it is nested too deeply"),
        (100_000 * b'{"a":', "it is nested too deeply"),
        (b"[" + 1_000_001 * b"1," + b"1]", "it has more than 1,000,000 members"),
        (CATALOGUE_MAX_BYTES * b" " + b"{}", "it is larger than 16 MiB"),
        (b"{}", "it has none of the known forms"),
        (b"7", "it has none of the known forms"),
        (b"null", "it has none of the known forms"),
        (b'"text"', "it has none of the known forms"),
        (b'{"a": [], "b": 1, "c": null}', "it has none of the known forms"),
        (b"[]", "it is a list of models without prices"),
        (b"[1, null, {}]", "it is a list of models without prices"),
        (GROQ, "it is a list of models without prices"),
    ],
)
def test_a_catalogue_that_cannot_be_read_says_why_in_one_line(text: bytes, words: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        read_catalogue(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_list_whose_vendor_writes_numbers_refuses_a_price_that_is_text() -> None:
    text = DEEPINFRA.replace(b"0.039", b'"0.039"')
    assert entry(text, "openai/gpt-oss-120b", "deepinfra").fault == "pricing.input_tokens is not a number"


@pytest.mark.parametrize("form", ["litellm", "models.dev", "openrouter", "together", "deepinfra"])
@pytest.mark.parametrize("text", [LITELLM, MODELS_DEV, OPENROUTER, TOGETHER, DEEPINFRA, b"[]", b"{}", b"1"])
def test_a_catalogue_in_another_form_gives_no_price(text: bytes, form: str) -> None:
    if read_form(text) == form:
        return
    try:
        entries = read_catalogue(text, form).entries
    except CatalogueError:
        return
    assert all(each.fault for each in entries)


def read_form(text: bytes) -> str:
    try:
        return read_catalogue(text).form
    except CatalogueError:
        return ""


@pytest.mark.parametrize(
    "cost",
    [
        b"1",
        b"[]",
        b'{"input": "1"}',
        b'{"input": 1, "tiers": {}}',
        b'{"input": 1, "tiers": [1]}',
        b'{"input": 1, "tiers": [{"input": 2}]}',
        b'{"input": 1, "tiers": [{"input": 2, "tier": {"type": "context", "size": 0}}]}',
        b'{"input": 1, "tiers": [{"input": 2, "tier": {"type": "context", "size": 1.5}}]}',
        b'{"input": 1, "context_over_200k": 3}',
        b'{"input": 1, "input": 2}',
    ],
)
def test_a_cost_of_models_dev_that_is_malformed_is_a_fault(cost: bytes) -> None:
    text = b'{"p": {"models": {"m": {"cost": %b}}}}' % cost
    [found] = read_catalogue(text).entries
    if cost == b'{"input": "1"}':
        assert found.prices
    else:
        assert found.fault
