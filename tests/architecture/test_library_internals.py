"""The private and undocumented names of each library are used in one file only, and decision 0065 lists them."""

import ast
import re
from pathlib import Path

import pytest

from gateway.core.outbound.aiohttp_internals import Handler
from gateway.core.runtime import tested_versions
from gateway.run.options import PROJECT_DIR
from tests.architecture.library_internals import (
    DOCUMENTED,
    FILES,
    LIBRARIES,
    PROTOCOLS,
    attributes,
    classes,
    declared,
    defined,
    file_of,
    import_everything,
    internals_of,
    is_private,
    library_bases,
    private_attributes,
    sources,
    undocumented_imports,
    used,
)

RECORD = PROJECT_DIR / "docs" / "decisions" / "0065-libraries-internals-are-in-one-file-each.md"


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    return sources()


@pytest.fixture(scope="module")
def ours() -> set[type]:
    import_everything()
    return classes()


def test_only_its_file_imports_the_internals_of_a_library(trees: dict[Path, ast.Module]) -> None:
    found = {
        f"{path}: {name}"
        for path, tree in trees.items()
        for name in undocumented_imports(tree)
        if path != PROJECT_DIR / LIBRARIES[name.partition(".")[0]].file
    }
    assert found == set()


def test_a_private_name_that_is_not_ours_is_used_in_these_files_only(trees: dict[Path, ast.Module]) -> None:
    outside = {path: tree for path, tree in trees.items() if path not in FILES}
    own = {name for tree in outside.values() for name in defined(tree)}
    found = {f"{path}: {name}" for path, tree in outside.items() for name in private_attributes(tree) - own}
    assert found == set()


def test_no_class_outside_overrides_or_uses_a_private_name_of_its_base(ours: set[type]) -> None:
    found = {
        f"{cls.__qualname__}.{name} is of {base.__qualname__}"
        for cls in ours
        if file_of(cls) not in FILES
        for base in library_bases(cls)
        for name in used(cls) & attributes(base) - DOCUMENTED
        if is_private(name)
    }
    assert found == set()


def test_a_class_uses_of_an_undocumented_one_what_its_file_declares(ours: set[type]) -> None:
    found = {
        f"{cls.__qualname__}.{name} is of {base.__qualname__}"
        for cls in ours
        if file_of(cls) not in FILES
        for base in library_bases(cls)
        if LIBRARIES[base.__module__.partition(".")[0]].is_undocumented(base.__module__)
        for name in used(cls) & attributes(base) - PROTOCOLS - DOCUMENTED - declared(cls)
        if not name.startswith("__")
    }
    assert found == set()


def test_the_decision_names_every_file_and_what_it_uses(ours: set[type]) -> None:
    quoted = re.findall(r"`([^`]+)`", RECORD.read_text(encoding="utf-8"))
    words = {word for text in quoted for word in re.findall(r"\w+", text)}
    for library in LIBRARIES.values():
        assert library.file in quoted
        assert internals_of(library) - words == set()


def test_the_version_of_each_of_these_libraries_is_checked() -> None:
    assert {library.distribution for library in LIBRARIES.values()} <= set(tested_versions.LIBRARIES)


def test_the_rules_notice_what_they_should() -> None:
    tree = ast.parse(
        "from aiohttp.client_proto import ResponseHandler\nfrom allauth.core.internal.ratelimit import get_ip\n"
        "from aiohttp import ClientSession\nfrom uvicorn import Server\nimport uvicorn.server\n"
        "session._retry_connection = model._meta\n"
    )
    assert undocumented_imports(tree) == {
        "aiohttp.client_proto.ResponseHandler",
        "allauth.core.internal.ratelimit.get_ip",
        "uvicorn.server",
    }
    assert private_attributes(tree) == {"_retry_connection"}


def test_a_class_is_seen_through(ours: set[type]) -> None:
    class Peeking(Handler):
        def data_received(self, data: bytes) -> None:
            self._tail = data
            super().pause_reading()

    [base] = [base for base in library_bases(Peeking) if base.__name__ == "ResponseHandler"]
    assert {"_tail", "pause_reading"} <= used(Peeking) & attributes(base)
    assert "pause_reading" not in declared(Peeking)
