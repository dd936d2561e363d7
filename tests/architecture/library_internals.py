"""Which file may use more of a library than its documentation, and what a module or a class uses of it."""

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gateway.run.options import PROJECT_DIR

APPS = ("accounts", "billing", "gateway", "inference", "integrations", "judgement", "organizations")


@dataclass(frozen=True)
class Library:
    """A library, the one file that may use its internals, and a pattern of the names and modules that have no documentation, beside
    those that begin with an underscore."""

    package: str
    distribution: str
    file: str
    undocumented: str = r"(?!)"

    def is_undocumented(self, name: str) -> bool:
        """Return whether a module, or a name with its module, is not documented."""
        return re.fullmatch(self.undocumented, name) is not None or any(map(is_private, name.split(".")))


LIBRARIES = {
    library.package: library
    for library in (
        Library(
            "aiohttp",
            "aiohttp",
            "gateway/core/outbound/aiohttp_internals.py",
            r"aiohttp\.(?!abc\b|web\b)[a-z].*",
        ),
        Library(
            "allauth",
            "django-allauth",
            "accounts/allauth_internals.py",
            r"allauth\.(?!core\.internal\.adapter$)(.+\.)?internal(\..+)?",
        ),
        Library(
            "django",
            "django",
            "gateway/core/django_internals.py",
            r"django\.(db\.models\.query_utils|urls\.resolvers|db\.backends\.postgresql)(\..+)?",
        ),
        Library("drf_spectacular", "drf-spectacular", "gateway/core/api/spectacular_internals.py"),
        Library("kombu", "kombu", "gateway/core/jobs/kombu_internals.py", r"kombu\.transport(\..+)?"),
        Library(
            "prometheus_client",
            "prometheus-client",
            "gateway/metrics/prometheus_internals.py",
            r"prometheus_client\.(values|mmap_dict)(\..+)?",
        ),
        Library(
            "psycopg",
            "psycopg",
            "gateway/core/database/psycopg_internals.py",
            r"psycopg\.pq\.abc(\..+)?|psycopg\.errors\.error_from_result",
        ),
        Library("rest_framework", "djangorestframework", "gateway/core/api/drf_internals.py"),
        Library("uvicorn", "uvicorn", "gateway/core/http/server/uvicorn_internals.py", r"uvicorn\.[a-z].*"),
    )
}
FILES = {PROJECT_DIR / library.file for library in LIBRARIES.values()}

DOCUMENTED = {
    *("_asdict", "_fields", "_make", "_replace"),  # of named tuples
    *("_db", "_default_manager", "_meta", "_save", "_state"),  # of Django's managers, models and storages
    "_exit",  # of os
    "pgconn",  # of psycopg's connections
}
PROTOCOLS = {
    *("connection_lost", "connection_made", "data_received", "pause_writing", "resume_writing"),  # of asyncio
    *("on_body", "on_headers_complete", "on_message_begin", "on_message_complete"),  # of httptools
}


def is_private(name: str) -> bool:
    """Return whether a name begins with one underscore."""
    return name.startswith("_") and not name.startswith("__") and not name.endswith("_")


def sources() -> dict[Path, ast.Module]:
    """Parse the product's modules, without migrations."""
    paths = (path for app in APPS for path in (PROJECT_DIR / app).rglob("*.py") if "migrations" not in path.parts)
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield what is imported, with its module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def undocumented_imports(tree: ast.Module) -> set[str]:
    """Return what is imported of the libraries beyond their documentation."""
    names = {name for name in imported(tree) if name.partition(".")[0] in LIBRARIES}
    return {name for name in names if LIBRARIES[name.partition(".")[0]].is_undocumented(name)}


def private_attributes(tree: ast.AST) -> set[str]:
    """Return the private attributes that are read or written anywhere."""
    found = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and is_private(node.attr)}
    return found - DOCUMENTED


def defined(tree: ast.AST) -> Iterator[str]:
    """Yield each name that is defined or assigned, also as an attribute of `self` or `cls`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_own(node.value):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def import_everything() -> None:
    """Import the product's modules, except settings and what starts a process."""
    for app in APPS:
        package = importlib.import_module(app)
        for module in pkgutil.walk_packages(package.__path__, f"{app}."):
            if not re.search(r"\.migrations|__main__|\.settings|^gateway\.asgi", module.name):
                importlib.import_module(module.name)


def classes() -> set[type]:
    """Return the classes that the product's modules define."""
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] in APPS]
    found = (value for module in modules for value in vars(module).values() if inspect.isclass(value))
    return {cls for cls in found if cls.__module__.partition(".")[0] in APPS}


def file_of(cls: type) -> Path:
    """Return the file that defines a class."""
    return Path(getattr(sys.modules[cls.__module__], "__file__", None) or "")


def library_bases(cls: type) -> list[type]:
    """Return the bases of a class that one of the libraries defines."""
    return [base for base in cls.__mro__ if base.__module__.partition(".")[0] in LIBRARIES]


@cache
def attributes(cls: type) -> frozenset[str]:
    """Return what a class itself defines, or sets on its instances."""
    return frozenset({*vars(cls), *vars(cls).get("__annotations__", {}), *_set_on_self(_tree_of(cls))})


@cache
def used(cls: type) -> frozenset[str]:
    """Return the attributes of itself and of its bases that a class names, and those that its source defines."""
    tree = _tree_of(cls)
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_own(node.value)}
    body = [node for part in ast.walk(tree) if isinstance(part, ast.ClassDef) for node in part.body]
    return frozenset({*named, *(name for node in body if not isinstance(node, ast.ClassDef) for name in _bound(node))})


def declared(cls: type) -> set[str]:
    """Return what those bases of a class define that are in the files of the libraries."""
    return {name for base in cls.__mro__ if file_of(base) in FILES for name in attributes(base)}


def internals_of(library: Library) -> set[str]:
    """Return the names of a library that its file uses beyond the documentation."""
    path = PROJECT_DIR / library.file
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {name.rpartition(".")[2] for name in undocumented_imports(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and not _is_own(node.value):
            found.add(node.attr)
    return found | {name for cls in classes() if file_of(cls) == path for name in _internals_of_bases(cls)}


def _internals_of_bases(cls: type) -> Iterator[str]:
    for base in library_bases(cls):
        is_undocumented = LIBRARIES[base.__module__.partition(".")[0]].is_undocumented(base.__module__)
        for name in used(cls) & attributes(base) - PROTOCOLS - DOCUMENTED:
            if is_private(name) or (is_undocumented and not name.startswith("__")):
                yield name


def _tree_of(cls: type) -> ast.AST:
    """Return a class's source, empty if it has none: it was generated, or is not written in Python."""
    return _classes_of(file_of(cls)).get(cls.__qualname__, ast.Module([], []))


@cache
def _classes_of(path: Path) -> dict[str, ast.AST]:
    """Return the classes that a file defines, by their qualified names."""
    if path.suffix != ".py":
        return {}
    return dict(_named_classes(ast.parse(path.read_text(encoding="utf-8")), ""))


def _named_classes(tree: ast.AST, within: str) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.iter_child_nodes(tree):
        name = f"{within}{getattr(node, 'name', '')}"
        if isinstance(node, ast.ClassDef):
            yield name, node
            yield from _named_classes(node, f"{name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _named_classes(node, f"{name}.<locals>.")
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _named_classes(node, within)


def _bound(node: ast.AST) -> set[str]:
    """Return what a statement of a class's body defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name}
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _set_on_self(tree: ast.AST) -> set[str]:
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return {node.attr for node in nodes if _is_own(node.value)}


def _is_own(value: Any) -> bool:
    """Return whether an expression is `self`, `cls` or `super()`."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in ("self", "cls")
