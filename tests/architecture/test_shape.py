"""The code keeps to a size that one reads at a glance."""

import ast
from collections.abc import Iterator

import pytest

from gateway.run.options import PROJECT_DIR

APPS = ("accounts", "billing", "inference", "integrations", "judgement", "organizations")
CODE = (*APPS, "gateway")
FILE_LINES_MAX = 300
FUNCTION_LINES_MAX = 70
FUNCTION_LINES_USUAL = 30
# A catalogue of one kind of thing is best read in one piece. A library's private parts are in one file (docs/decisions/0065).
CATALOGUES = {
    "billing/operations/ledger.py",
    "gateway/core/contract/errors.py",
    "gateway/core/outbound/aiohttp_internals.py",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> Iterator[tuple[str, str]]:
    """Yield every written module of the service: its path and its text."""
    for package in CODE:
        for path in sorted((PROJECT_DIR / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield str(path.relative_to(PROJECT_DIR)), path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """Parse every written module."""
    return {path: ast.parse(text) for path, text in sources()}


def functions(trees: dict[str, ast.Module]) -> Iterator[tuple[str, int]]:
    """Yield every function's place and its number of lines."""
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, Function) and node.end_lineno:
                yield f"{path}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


def test_the_top_level_holds_the_known_packages() -> None:
    packages = {path.parent.name for path in PROJECT_DIR.glob("*/__init__.py")}
    assert packages - {*CODE, "tests", "bench", "clients", "docs"} == set()


def test_a_file_holds_one_noun() -> None:
    long = {path: text.count("\n") for path, text in sources() if text.count("\n") > FILE_LINES_MAX}
    assert long.keys() - CATALOGUES == set(), long


def test_functions_are_short(trees: dict[str, ast.Module]) -> None:
    sizes = dict(functions(trees))
    assert {place: size for place, size in sizes.items() if size > FUNCTION_LINES_MAX} == {}
    usual = sum(size <= FUNCTION_LINES_USUAL for size in sizes.values())
    assert usual / len(sizes) > 0.9


def test_every_module_says_what_it_is(trees: dict[str, ast.Module]) -> None:
    silent = [path for path, text in sources() if text.strip() and not ast.get_docstring(trees[path])]
    assert silent == []


def test_a_wire_shape_is_a_request_or_a_response(trees: dict[str, ast.Module]) -> None:
    shapes = [
        node.name
        for path, tree in trees.items()
        if "/serializers/" in path
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    assert [name for name in shapes if not name.endswith(("Request", "Response", "Field"))] == []


def test_apps_do_not_send_signals_to_each_other() -> None:
    users = [path for path, text in sources() if path.startswith(APPS) and "django.dispatch" in text]
    assert users == []
