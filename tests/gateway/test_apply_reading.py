"""How a configuration file is read: lines, duplicate keys, scalars, bounds."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from billing.rules.prices import PriceError, PriceList
from gateway.config.document import FILE_MAX_BYTES, read
from gateway.config.prices import PriceRow
from gateway.config.problems import ConfigError, Problem, show_path


def problems_of(content: bytes | str) -> list[Problem]:
    with pytest.raises(ConfigError) as caught:
        read(content.encode() if isinstance(content, str) else content)
    return caught.value.problems


def test_every_value_knows_its_line() -> None:
    document = read(
        b"# head\nproducts:\n  - slug: studio\n    name: Studio\n  - {slug: courier,\n     name: Courier}\n"
    )
    assert document.value == {
        "products": [{"slug": "studio", "name": "Studio"}, {"slug": "courier", "name": "Courier"}]
    }
    assert document.problem(("products", 0, "name"), "x").line == 4
    assert document.problem(("products", 1), "x").line == 5
    assert document.problem(("products", 1, "name"), "x").line == 6


def test_a_problem_below_what_the_file_has_stands_at_the_nearest_line() -> None:
    assert read(b"a: 1\nb:\n  c: 2\n").problem(("b", "d", "e"), "x").line == 2


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"---\n", b"~\n", b"null"])
def test_an_empty_file_names_nothing(content: bytes) -> None:
    assert read(content).value == {}


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("5000000", 5000000),
        ("5_000_000", 5000000),
        ("-3", -3),
        ("0.15", 0.15),
        ("true", True),
        ("null", None),
        ("no", "no"),
        ("010", "010"),
        ("12:30", "12:30"),
        ("0x1f", "0x1f"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("2027-01-31T00:00:00Z", "2027-01-31T00:00:00Z"),
        ("'0.15'", "0.15"),
        ("!!str 5", "5"),
    ],
)
def test_scalars_mean_what_they_look_like(scalar: str, value: object) -> None:
    assert read(f"a: {scalar}".encode()).value == {"a": value}


def test_a_duplicate_key_names_both_lines() -> None:
    assert problems_of("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n") == [
        Problem(5, ("b", "c"), "duplicate key, first on line 3")
    ]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a: [1\nb: 2", 2),
        ("a: 1\n\tb: 2", 2),
        ("a: *nobody", 1),
        ("a: 1\n---\nb: 2\n", 2),
        ("a: 1\n%bad", 2),
        ("- a", 1),
        ("just text", 1),
        ("a: !!python/object:os.system {}", 1),
        ("a: !!binary aGk=", 1),
        ("a: !mine x", 1),
        ("? [a]\n: b", 1),
        ("a: " + "9" * 40, 1),
        ('a: "\\ud800"', 1),
        ('a: "\\0"', 1),
        ("a: 1\nb: \x07", 2),
        (b"a: 1\nb: \xff", 2),
        ("a: " + "[" * 40 + "]" * 40, 1),
        ("[" * 5000, 1),
    ],
)
def test_what_is_no_plain_yaml_is_named_by_line(content: bytes | str, line: int) -> None:
    assert [problem.line for problem in problems_of(content)] == [line]


def test_a_syntax_error_never_quotes_the_file() -> None:
    shown = " ".join(problem.show("gateway.yaml") for problem in problems_of("api_key: 'sk-live-123\nname: x"))
    assert "sk-live" not in shown


def test_aliases_share_values() -> None:
    assert read(b"a: &x {k: 1}\nb: *x\n").value == {"a": {"k": 1}, "b": {"k": 1}}


def test_an_exploding_file_is_refused() -> None:
    lines = ["a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    assert [problem.text for problem in problems_of("\n".join(lines))] == ["more than 50000 values"]


def test_a_value_inside_itself_is_refused() -> None:
    assert [problem.text for problem in problems_of("a: &a [*a]")] == ["nested more than 32 levels deep"]


def test_a_large_file_is_refused_before_it_is_parsed() -> None:
    assert [problem.text for problem in problems_of(b"#" * (FILE_MAX_BYTES + 1))] == ["larger than 256 KiB"]


def test_a_path_reads_as_an_operator_writes_it() -> None:
    assert show_path(("aliases", 0, "price", "input_token")) == "aliases[0].price.input_token"
    assert show_path(("aliases", 0, "price", "image", "1024x1024/high")) == 'aliases[0].price.image["1024x1024/high"]'
    assert show_path(("a\nb" + "c" * 100,)) == '["a\\nb' + "c" * 57 + '"]'


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with suppress(ConfigError):
        assert isinstance(read(content).value, dict)


@pytest.mark.parametrize(
    "price",
    [
        "0",
        "0.000001",
        "1000000000",
        "1000000000.000001",
        "10000000000",
        "01",
        "1.",
        ".5",
        "1e3",
        "1.0000001",
        "٣",
        "1\n",
    ],
)
def test_the_file_takes_the_prices_that_calls_are_priced_by(price: str) -> None:
    assert is_taken({"input_token": price}) is is_readable({"input_token": price})


@pytest.mark.parametrize(
    "kind", ["1024x1024/high", "Large_1.5/HD-2", "a/b/c", "a", "/", "a /b", "ü/a", "a" * 33 + "/b"]
)
def test_the_file_takes_the_images_that_calls_are_priced_by(kind: str) -> None:
    assert is_taken({"image": {kind: "1"}}) is is_readable({"image": {kind: "1"}})


def is_taken(components: dict[str, Any]) -> bool:
    try:
        return PriceRow.model_validate(components).components() == components
    except ValidationError:
        return False


def is_readable(components: dict[str, Any]) -> bool:
    try:
        PriceList.parse(components)
    except PriceError:
        return False
    return True
