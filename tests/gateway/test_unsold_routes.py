"""Routes that the price of their model does not cover: the file refuses such a price in words, or warns."""

from pathlib import Path

import pytest

from billing.models import PriceVersion
from tests.gateway.config_files import apply_text

pytestmark = pytest.mark.django_db

UPSTREAM = "upstreams: [{name: up, adapter: openai, base_url: 'https://models.example/v1', api_key: sk-1}]\n"
ALIAS = UPSTREAM + "aliases:\n  - name: mine\n    deployments: [{upstream: up, model: m}]\n"
REMEDY = "price it, name in `routes` what is sold, or set `enabled: false`"
NO_OUTPUT = f"this price has no output_token: /v1/chat/completions cannot be called with `mine`; {REMEDY}"


ROUTES = "    routes: [chat.completions]\n"


@pytest.mark.parametrize("arguments", [(), ("--check",)], ids=["apply", "check"])
@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (ROUTES + "    price: {input_token: '1'}\n", f"gateway.yaml:6 aliases[0].price: {NO_OUTPUT}"),
        (
            ROUTES + "    price: {}\n",
            "gateway.yaml:6 aliases[0].price: this price has no input_token and no output_token: "
            f"/v1/chat/completions cannot be called with `mine`; {REMEDY}",
        ),
        (
            "    routes: [chat.completions, embeddings]\n    price: {input_token: '1'}\n",
            f"gateway.yaml:6 aliases[0].price: {NO_OUTPUT}",
        ),
    ],
)
def test_are_refused_with_the_component_that_is_missing(
    tmp_path: Path, arguments: tuple[str, ...], lines: str, problem: str
) -> None:
    applied = apply_text(tmp_path, ALIAS + lines, *arguments)
    assert (applied.code, applied.problems) == (1, [problem])
    assert not PriceVersion.objects.filter(alias="mine").exists()


def test_are_refused_where_they_could_be_called_until_now(tmp_path: Path) -> None:
    alias = ALIAS.replace("mine", "embedding")
    assert apply_text(tmp_path, alias + "    price: {input_token: '1'}\n").code == 0
    applied = apply_text(tmp_path, alias + "    price: {output_token: '2'}\n")
    assert applied.problems == [
        "gateway.yaml:5 aliases[0].price: this price has no input_token: "
        f"/v1/embeddings cannot be called with `embedding`; {REMEDY}"
    ]
    assert PriceVersion.objects.get(alias="embedding").components == {"input_token": "1"}


def test_are_a_warning_where_the_file_does_not_name_them_and_nobody_could_call_them(tmp_path: Path) -> None:
    applied = apply_text(tmp_path, ALIAS + "    price: {input_token: '1'}\n")
    assert (applied.code, applied.problems) == (0, [])
    assert (
        "warning   this price has no output_token: /v1/chat/completions cannot be called with `mine`" in applied.lines
    )


@pytest.mark.parametrize(
    "lines",
    [
        "    routes: [embeddings]\n    price: {input_token: '1'}\n",
        "    price: {request: '1'}\n",
        "    enabled: false\n    price: {input_token: '1'}\n",
        "    routes: [chat.completions]\n",  # priced later, in the console
    ],
)
def test_are_none_where_what_is_sold_is_priced(tmp_path: Path, lines: str) -> None:
    applied = apply_text(tmp_path, ALIAS + lines)
    assert (applied.code, applied.problems) == (0, [])


def test_of_a_raw_model_are_refused_too(tmp_path: Path) -> None:
    row = "{model: mine, upstream: up, routes: [chat.completions], price: {output_token: '1'}}"
    applied = apply_text(tmp_path, UPSTREAM + f"raw_models: [{row}]\n")
    assert applied.problems == [
        "gateway.yaml:2 raw_models[0].price: "
        f"this price has no input_token: /v1/chat/completions cannot be called with `mine`; {REMEDY}"
    ]


def test_are_refused_where_a_new_route_meets_the_price_in_force(tmp_path: Path) -> None:
    priced = "    routes: [embeddings]\n    price: {input_token: '1'}\n"
    assert apply_text(tmp_path, ALIAS + priced).code == 0
    applied = apply_text(tmp_path, ALIAS + "    routes: [embeddings, chat.completions]\n")
    assert applied.problems == [f"gateway.yaml:5 aliases[0].routes: {NO_OUTPUT}"]
