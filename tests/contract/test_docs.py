"""What the prose lists is what the code has."""

import re
from pathlib import Path

import pytest

from gateway.config.file import SECTIONS
from gateway.core.contract.errors import CATALOGUE
from tests.contract.endpoints import ANY, PUBLIC
from tests.contract.routes import mapped_routes

ROOT = Path(__file__).resolve().parents[2]
SETTINGS_SOURCES = (
    "gateway/config/environment.py",
    "gateway/settings",
    "gateway/run/options.py",
    "gateway/run/binaries.py",
)
COMMANDS = ("gateway/management/commands/prepare.py",)
NAMES = re.compile(r'_VARIABLE = "([A-Z][A-Z0-9_]+)"')
READS = re.compile(
    r'(?:env(?:\.\w+)?|environ\.get|environment\.get|given\.get|_number)\(\s*(?:given, )?"([A-Z][A-Z0-9_]+)"'
)
MARKDOWN = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("clients/**/*.md")])


def rows_of(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading."""
    text = (ROOT / "docs" / page).read_text().partition(f"## {heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert table is not None
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.group().splitlines()[2:]]


def test_every_error_of_the_catalogue_is_in_the_api_page() -> None:
    raised = [kind() for kind in CATALOGUE.values()]
    expected = [[str(e.status), f"`{e.code}`", f"`{e.type}`", e.default_message] for e in raised]
    text = (ROOT / "docs" / "api.md").read_text()
    assert rows_of("api.md", "Errors") == expected
    assert "tests/contract/test_docs.py" in text


def test_every_route_is_in_the_api_page_with_its_capability_and_roles() -> None:
    listed = {row[0].strip("`"): (row[1].strip("`"), row[2]) for row in rows_of("api.md", "Every route")}
    needed = {}
    for route in mapped_routes():
        roles = "all" if set(route.access.roles) == set(ANY) else ", ".join(route.access.roles) or "—"
        needed[f"{route.method} {route.path}"] = ("none" if route.needs == PUBLIC else route.needs, roles)
    assert listed == needed


def test_every_setting_that_the_code_reads_is_in_the_configuration_page() -> None:
    read: set[str] = set()
    for place in (*SETTINGS_SOURCES, *COMMANDS):
        path = ROOT / place
        for file in path.glob("*.py") if path.is_dir() else [path]:
            read |= {*READS.findall(file.read_text()), *NAMES.findall(file.read_text())}
    read.discard("DJANGO_SETTINGS_MODULE")
    page = (ROOT / "docs" / "configuration.md").read_text()
    listed = [name for row in rows_of("configuration.md", "Settings") for name in re.findall(r"`(\w+)`", row[0])]
    assert read - set(re.findall(r"`([A-Z][A-Z0-9_]+)`", page)) == set()
    assert set(listed) <= read
    assert len(listed) == len(set(listed)), "each is listed once"


def test_every_section_of_the_file_is_in_the_configuration_page_in_order() -> None:
    documented = [row[0].strip("`") for row in rows_of("configuration.md", "The file")]
    assert documented == list(SECTIONS)


@pytest.mark.parametrize("markdown", MARKDOWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(markdown: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", markdown.read_text()):
        if "://" not in target:
            assert (markdown.parent / target).exists(), target


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = set(re.findall(r"\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text()))
    assert listed == {path.name for path in folder.glob("0*.md")}
