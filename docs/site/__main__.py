"""Builds the documentation as a site: `python -m docs.site [FOLDER]`, into .docs if no folder is named.

A page that is not listed, a link that leads nowhere and an anchor that does not exist are errors.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from docs.site import llms, source
from docs.site.contents import ROOT, Entry, Section, pages, problems, sections, title_of

SETTINGS = ROOT / "mkdocs.yml"
# The generator marks the place of an error in colors, terminal or not.
COLORS = re.compile(r"\x1b\[[\d;]*m")


def main(target: Path) -> int:
    """Build the site and return the exit status; what is wrong is on standard error."""
    listed = sections()
    if found := problems(listed):
        sys.stderr.write("".join(f"docs: {problem}.\n" for problem in found))
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source.write(pages(listed), folder / "pages")
        if complaints := generate(listed, folder):
            sys.stderr.write(complaints)
            return 1
        llms.write(listed, folder / "pages", folder / "site")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder / "site", target)
    print(f"docs: {target}/index.html")
    return 0


def generate(listed: Iterable[Section], folder: Path) -> str:
    """Make `site` in a folder out of its `pages`, and return what the generator complains about."""
    added = {"docs_dir": "pages", "site_dir": "site", "nav": _navigation(listed)}
    settings = folder / SETTINGS.name
    settings.write_text(f"{SETTINGS.read_text(encoding='utf-8')}\n{yaml.safe_dump(added, sort_keys=False)}")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(settings)]
    built = subprocess.run(command, check=False, capture_output=True, text=True)
    return COLORS.sub("", built.stdout + built.stderr.partition("Traceback")[0]) if built.returncode else ""


def _navigation(listed: Iterable[Section]) -> list[dict[str, Any]]:
    """Return the sections as the generator wants them. A section that has the name of its only folder is that folder."""
    found = [{section.title: [_item(entry) for entry in section.entries]} for section in listed]
    return [items[0] if [*section] == [*items[0]] else section for section in found for items in section.values()]


def _item(entry: Entry) -> dict[str, Any]:
    if not entry.source.is_dir():
        return {entry.title: str(source.place_of(entry.source))}
    return {entry.title: [{_short(title_of(page)): str(source.place_of(page))} for page in entry.pages]}


def _short(title: str) -> str:
    """Return what stands before a colon, unless that is a number. The navigation shows no code."""
    return re.sub(r"(?<=[^\W\d]): .*", "", title).replace("`", "")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".docs"))
