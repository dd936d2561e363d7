"""docs/troubleshooting.md quotes what the gateway really says: its log lines, its error codes and its start errors."""

import re
from pathlib import Path

import pytest

from gateway.core.contract import errors
from gateway.run.options import PROJECT_DIR

PAGE = (PROJECT_DIR / "docs" / "troubleshooting.md").read_text()
APPS = ("accounts", "billing", "gateway", "inference", "integrations", "jobs", "judgement", "organizations")
NOT_OURS = {"couldn't get a connection after", "failed to start, stopping the parent process"}
"""What the connection pool and the server say of themselves."""


def symptoms() -> list[str]:
    """List what stands in code in the first column of each table."""
    firsts = [line.split(" | ")[0] for line in PAGE.splitlines() if line.startswith("| ") and "`" in line]
    return list(dict.fromkeys(text for first in firsts for text in re.findall(r"`([^`]+)`", first)))


def spoken() -> str:
    """Return all of our code with what is filled in replaced by `…`, adjacent strings joined."""
    files = [path for app in APPS for path in (PROJECT_DIR / app).rglob("*.py")]
    text = "\n".join(path.read_text() for path in [*files, PROJECT_DIR / "manage.py"])
    text = re.sub(r'"\s*\n\s*f?"', "", text)
    return re.sub(r"%[sdr.0-9f]+|\{[^{}]*\}", "…", text)


SPOKEN = spoken()
CODES = {
    each.code
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, errors.ApiError) and hasattr(each, "code")
}
LOGGERS = re.findall(r'(?:getLogger|RecurringLog)\(\s*"([\w.]+)"', SPOKEN)
OPTIONS = {"--workers"}
TEXTS = [text for text in symptoms() if text not in CODES and text not in LOGGERS and text not in OPTIONS | NOT_OURS]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_in_the_code(text: str) -> None:
    text = re.sub(r"gateway\.yaml:… aliases\[0\]\.price: ", "", text)
    text = re.sub(r"(?<=answered )\d+", "…", text)
    missing = [part for part in text.split("…") if part.strip(" :.(") and part.strip() not in SPOKEN]
    assert missing == []


def test_most_of_the_page_is_quoted() -> None:
    assert len(TEXTS) > 35
    assert len(CODES & set(symptoms())) > 15


@pytest.mark.parametrize("page", ["troubleshooting.md", "upgrading.md", "operations.md", "configuration.md"])
def test_links_between_the_pages_lead_somewhere(page: str) -> None:
    for target, anchor in re.findall(r"\]\(([\w./-]*\.md)?(#[\w-]+)?\)", (PROJECT_DIR / "docs" / page).read_text()):
        file = Path(PROJECT_DIR / "docs" / (target or page))
        assert file.exists(), target
        headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
        assert not anchor or anchor[1:] in slugs, anchor
