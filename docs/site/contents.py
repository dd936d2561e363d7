"""The table of contents: docs/README.md lists every page, on the repository's web pages and in the site alike."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LISTED = DOCS / "README.md"

_SECTION = re.compile(r"^## (.+)$")
_ENTRY = re.compile(r"^- \[(.+?)\]\(([^)#]+)\)(?:: (.+))?$")


@dataclass(frozen=True)
class Entry:
    """A page, or a folder whose pages are all listed: its title, its file, and what it is about."""

    title: str
    source: Path
    summary: str

    @property
    def pages(self) -> list[Path]:
        """Return the page, or the folder's pages: README.md first, then by name."""
        if not self.source.is_dir():
            return [self.source]
        return sorted(self.source.glob("*.md"), key=lambda page: (page.name != "README.md", page.name))


@dataclass(frozen=True)
class Section:
    """A heading of the table of contents, and what is listed under it."""

    title: str
    entries: list[Entry]


def sections(listed: Path = LISTED) -> list[Section]:
    """Read the sections of a table of contents, in order."""
    found: list[Section] = []
    for line in listed.read_text(encoding="utf-8").splitlines():
        if heading := _SECTION.match(line):
            found.append(Section(heading[1], []))
        elif entry := _ENTRY.match(line):
            source = (listed.parent / entry[2]).resolve()
            found[-1].entries.append(Entry(entry[1], source, entry[3] or ""))
    return found


def pages(listed: Iterable[Section]) -> list[Path]:
    """Return every page that is listed, in order."""
    return [page for section in listed for entry in section.entries for page in entry.pages]


def problems(listed: Iterable[Section]) -> list[str]:
    """Return which pages of docs/ are not listed, and which are listed but missing or listed twice."""
    known = pages(listed)
    return [
        *(
            f"{_name(page)} is not listed in docs/README.md"
            for page in sorted(DOCS.rglob("*.md"))
            if page not in {*known, LISTED}
        ),
        *(f"{_name(page)} is listed in docs/README.md, but does not exist" for page in known if not page.is_file()),
        *(f"{_name(page)} is listed more than once" for page in sorted({*known}) if known.count(page) > 1),
    ]


def title_of(page: Path) -> str:
    """Return a page's first heading."""
    found = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else page.stem


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))
