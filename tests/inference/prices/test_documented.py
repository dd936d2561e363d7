"""The page of price proposals names what is read, and whom a host belongs to."""

import re

from gateway.run.options import PROJECT_DIR
from inference.rules.price_catalogues import litellm, model_lists, models_dev
from inference.rules.price_catalogues.forms import FORMS
from inference.rules.price_matching import PROVIDERS_OF_HOSTS

PAGE = (PROJECT_DIR / "docs" / "price-proposals.md").read_text(encoding="utf-8")


def cells(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_every_host_is_listed_with_its_providers() -> None:
    table = PAGE[PAGE.index("| Host | Provider |") : PAGE.index("## What is proposed")]
    rows = [row.split("|")[1:3] for row in table.splitlines()[2:] if row]
    assert {host: set(cells(providers)) for hosts, providers in rows for host in cells(hosts)} == PROVIDERS_OF_HOSTS


def test_every_member_of_litellm_is_listed_with_its_component() -> None:
    table = PAGE[PAGE.index("### LiteLLM") : PAGE.index("### models.dev")]
    rows = [cells(row) for row in table.splitlines() if row.startswith("| `")]
    modes = {(member, mode): name for mode, members in litellm.BY_MODE.items() for member, name in members.items()}
    assert {row[0]: row[1] for row in rows if len(row) == 2} == litellm.COMPONENTS
    assert {(row[0], row[2]): row[3] for row in rows if len(row) == 4} == modes
    assert all(f"_{tier}`" in table for tier in litellm.TIERS)


def test_every_other_member_and_form_is_named() -> None:
    named = set(cells(PAGE[PAGE.index("## Forms of catalogues") :]))
    for members in (models_dev.COMPONENTS, model_lists.OPENROUTER, model_lists.TOGETHER, model_lists.DEEPINFRA):
        assert set(members) <= named
    assert {model_lists.FROM_TOKENS, models_dev.OVER_200K} <= named
    assert all(f"`{form}`" in PAGE for form in FORMS)
