"""The site's source: copies of the listed pages, with links that fit where they lie in the site."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from docs.site.contents import DOCS, LISTED, ROOT
from docs.site.lists import indented
from docs.site.tabs import tabbed

FRONT_PAGE = DOCS / "index.md"
IMAGES = ("*.svg", "*.png")
OWN = Path(__file__).parent
STYLE = ("style.css", "favicon.svg")

_FENCES = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def place_of(page: Path) -> Path:
    """Return where a page lies in the site: as in docs/, and `clients/python/README.md` as `clients/python.md`."""
    if page == LISTED:
        return Path("contents.md")
    if page.is_relative_to(DOCS):
        return page.relative_to(DOCS)
    place = page.relative_to(ROOT)
    return Path(f"{place.parent}.md") if place.name == "README.md" else place.with_name(place.name.lower())


def write(pages: Iterable[Path], folder: Path) -> None:
    """Write the pages, the images of docs/, and every other file that a page links to, into a folder."""
    known = {page: place_of(page) for page in (*pages, LISTED)}
    for page, place in known.items():
        _copy(folder / place, tabbed(indented(_relinked(page, place, known, folder))).encode())
    for image in (found for pattern in IMAGES for found in DOCS.rglob(pattern) if not found.is_relative_to(OWN)):
        _copy(folder / image.relative_to(DOCS), image.read_bytes())
    for name in STYLE:
        _copy(folder / name, (OWN / name).read_bytes())


def _relinked(page: Path, place: Path, known: dict[Path, Path], folder: Path) -> str:
    """Return a page's text, in which links lead to pages of the site. What is in a code block stays as it is."""

    def relink(link: re.Match[str]) -> str:
        mark, text, target, anchor = link[1], link[2], link[3], link[4] or ""
        if "://" in target or target.startswith("mailto:"):
            return link[0]
        source = (page.parent / unquote(target)).resolve()
        found = _place_of_target(source, known, folder)
        if found is None:
            return text if source.is_dir() else link[0]
        return f"{mark}[{_LINK.sub(relink, text)}]({os.path.relpath(found, place.parent)}{anchor})"

    parts = _FENCES.split(page.read_text(encoding="utf-8"))
    return "".join(part if number % 2 else _LINK.sub(relink, part) for number, part in enumerate(parts))


def _place_of_target(source: Path, known: dict[Path, Path], folder: Path) -> Path | None:
    """Return where the site has a link's target: a page, an image, or a copy of another file of the repository."""
    if source == ROOT / "README.md":
        source = FRONT_PAGE
    if source.is_dir():
        source /= "README.md"
    if source in known:
        return known[source]
    if not source.is_file() or source.suffix == ".md" or not source.is_relative_to(ROOT):
        return None
    if source.is_relative_to(DOCS):
        return source.relative_to(DOCS)
    place = Path("files") / source.relative_to(ROOT)
    _copy(folder / place, source.read_bytes())
    return place


def _copy(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
