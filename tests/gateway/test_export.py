"""`manage.py export`: that applying what it prints changes nothing, and that it prints everything but secrets."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import example, given
from hypothesis import strategies as st

from accounts.models import Product, PublicClient
from gateway.config import document, writing
from gateway.config.context import Context
from gateway.config.environment import KEY_VARIABLE
from gateway.config.exporting import Exporting, variable_of
from gateway.config.file import SECTIONS, check
from gateway.config.row import Row
from inference.models import Alias, Upstream
from integrations.models import CIProvider, EvolutionProgram, IntegrationSwitch
from judgement.models import JudgementFallback
from tests.gateway.config_files import WHOLE, Applied, apply_file, apply_text
from tests.gateway.every_key import EVERY_KEY, SECRETS

DEMO = Path(__file__).resolve().parents[2] / "gateway" / "demo.yaml"
database = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


def exported(*sections: str) -> str:
    out = StringIO()
    call_command("export", *sections, stdout=out)
    return out.getvalue()


def refused() -> list[str]:
    """Export what `apply` would refuse; return the problems."""
    out, err = StringIO(), StringIO()
    with pytest.raises(CommandError, match="would refuse") as refusal:
        call_command("export", stdout=out, stderr=err)
    assert refusal.value.returncode == 1
    assert out.getvalue().startswith("# The configuration of https://gateway.example")
    return err.getvalue().splitlines()


def value_of(text: str) -> dict[str, Any]:
    return document.read(text.encode()).value


def assert_unchanged(applied: Applied) -> None:
    assert (applied.code, applied.err) == (0, "")
    assert {line.split()[0] for line in applied.lines} <= {"unchanged", "warning"}


@database
def test_every_key_is_exported_as_it_was_stated(tmp_path: Path) -> None:
    assert apply_text(tmp_path, EVERY_KEY).err == ""
    text = exported()
    assert value_of(text) == value_of(EVERY_KEY)
    assert list(value_of(text)) == list(SECTIONS)

    assert_unchanged(apply_text(tmp_path, text))
    assert exported() == text
    for name, secret in SECRETS.items():
        assert secret not in text
        assert text.count(name) >= 2  # in the heading, and where it is used


@database
def test_what_was_exported_restores_what_has_changed_since(tmp_path: Path) -> None:
    apply_text(tmp_path, EVERY_KEY)
    text = exported()
    Product.objects.update(name="Other")
    PublicClient.objects.update(trusted=False, enabled=True)
    Upstream.objects.exclude(name="judge").update(api_key="sk-leaked", enabled=False)
    Alias.objects.get(name="fast").deployments.all().delete()
    CIProvider.objects.update(previous_secret="")
    IntegrationSwitch.objects.update(enabled=False)

    assert "updated" in apply_text(tmp_path, text).summary
    assert exported() == text


def test_every_key_of_every_row_is_stated_in_the_file_of_these_tests() -> None:
    """A key that is added without a place in `export` fails the test above."""
    rows = check(document.read(EVERY_KEY.encode()), Context(SECRETS, True, known=None))
    stated = {(type(row), name) for _, top in rows for row in _rows_in(top) for name in row.model_fields_set}
    kinds = {kind for kind in _kinds(Row) if not kind.__subclasses__() and kind.__module__.startswith("gateway.")}
    assert {(kind, name) for kind in kinds for name in kind.model_fields} <= stated
    assert {type(row) for _, row in rows} == set(SECTIONS.values())


def _rows_in(value: Any) -> Iterator[Row]:
    if isinstance(value, Row):
        yield value
        yield from _rows_in([getattr(value, name) for name in type(value).model_fields])
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _rows_in(each)


def _kinds(kind: type[Row]) -> Iterator[type[Row]]:
    for each in kind.__subclasses__():
        yield each
        yield from _kinds(each)


@database
@pytest.mark.parametrize("text", [WHOLE, DEMO.read_text()], ids=["whole", "demo"])
def test_an_exported_file_is_exported_alike_from_an_applied_copy(tmp_path: Path, text: str) -> None:
    assert apply_text(tmp_path, text).err == ""
    first = exported()
    assert "sk-literal-secret" not in first
    for name in ("JUDGE_API_KEY", "SANDBOX_SECRET", "CI_FORGE_SECRET"):
        assert (name in first) is (text == WHOLE)


@database
def test_an_empty_database_exports_an_empty_file(tmp_path: Path) -> None:
    text = exported()
    assert value_of(text) == {}
    assert apply_text(tmp_path, text).summary == "gateway.yaml applied: nothing to set."


@database
def test_the_demo_is_exported_and_unchanged(tmp_path: Path) -> None:
    apply_file(DEMO)
    text = exported()
    assert_unchanged(apply_text(tmp_path, text))
    assert exported() == text


@database
def test_sections_are_exported_one_by_one(tmp_path: Path) -> None:
    apply_text(tmp_path, EVERY_KEY)
    text = exported("ci", "products")
    assert list(value_of(text)) == ["products", "ci"]
    assert_unchanged(apply_text(tmp_path, text))
    with pytest.raises(CommandError, match=r"There is no section product\. The sections are products, appearance"):
        exported("product")


@database
def test_switched_off_evolution_keeps_its_programs(tmp_path: Path) -> None:
    EvolutionProgram.objects.create(name="refine", command=["cat"])
    text = exported()
    assert value_of(text)["evolution"]["enabled"] is False
    apply_text(tmp_path, text)
    assert not IntegrationSwitch.objects.get(name="evolution").enabled
    assert_unchanged(apply_text(tmp_path, text))


@database
def test_fallbacks_without_settings_make_no_settings(tmp_path: Path) -> None:
    source, target = (Alias.objects.create(name=f"judgement-backend-{name}") for name in "de")
    JudgementFallback.objects.create(source=source, target=target)
    assert_unchanged(apply_text(tmp_path, exported()))


@database
def test_the_key_of_the_judgement_backend_never_gets_the_variable_that_configures_it(tmp_path: Path) -> None:
    Upstream.objects.create(
        name="judgement-backend-a", adapter="judgement", base_url="https://j.example", api_key="sk-judgement"
    )
    text = exported()
    assert KEY_VARIABLE not in text
    assert variable_of("judgement-backend-a", after="_API_KEY") in text


@database
def test_what_a_file_cannot_state_is_named() -> None:
    Product.objects.create(slug="Studio", name="Studio")
    Upstream.objects.create(name="two words", adapter="openai", base_url="https://a.example", api_key="käse")
    problems = refused()
    assert [problem.partition(" ")[2].partition(":")[0] for problem in problems] == [
        "products[0].slug",
        "upstreams[0].name",
        "upstreams[0].api_key",
    ]
    assert "käse" not in "".join(problems)


@database
def test_a_file_that_is_too_large_to_apply_says_so() -> None:
    names = (f"{number:0200}" for number in range(1500))
    Alias.objects.bulk_create(Alias(name=name) for name in names)
    assert "larger than 256 KiB" in refused()[0]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
SPECIAL = st.sampled_from(
    [
        "no",
        "on",
        "null",
        "~",
        "",
        "010",
        "1e3",
        "0x10",
        "12:30",
        "1_000",
        "2026-10-01",
        "=",
        "<<",
        "- a",
        "a: b",
        "a #b",
    ]
)


@given(st.recursive(TEXTS | SPECIAL | st.booleans() | st.integers(0, 10**15) | st.floats(0.001, 1e6), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | SPECIAL, inner, max_size=3), max_leaves=12))  # fmt: skip
@example(0.0010000000000000002)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert value_of(writing.file("héading\n\nof lines", {"section": value})) == {"section": value}


@given(st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=8))
def test_each_secret_has_a_variable_of_its_own(names: list[str]) -> None:
    out = Exporting(now=None)  # type: ignore[arg-type]
    names += [name.upper() for name in names] + [f"{name}-{name}" for name in names]
    for name in dict.fromkeys(names):
        out.secret(f"secret of {name}", variable_of(name, after="_API_KEY"), "use")
    assert len(out.secrets) == len(out.uses) == len(set(names))
    context = Context(out.secrets, True, None)
    for variable in out.secrets:
        value = {"upstreams": [{"name": "a", "adapter": "demo", "api_key": {"env": variable}}]}
        with pytest.raises(document.ConfigError, match="1 problem"):  # it has spaces, and is not the wrong name
            check(document.from_value(value), context)
