"""Writes the tables of members into the pages of docs/: `python -m tests.inference.routes.member_pages`."""

import re
from collections.abc import Mapping
from pathlib import Path

from inference.routes.chat import members as chat
from inference.routes.images import members as images
from inference.routes.messages import members as messages
from inference.routes.rerank import members as rerank
from inference.routes.responses import members as responses
from inference.routes.speech import members as speech
from inference.routes.transcriptions import members as transcriptions
from inference.rules.members import Member

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES: Mapping[Path, Mapping[str, Mapping[str, Member]]] = {
    DOCS / "audio-fields.md": {
        "Speech": {**speech.VENDOR, **speech.INSIDE},
        "Transcriptions": transcriptions.TRANSCRIPTION,
        "Translations": transcriptions.TRANSLATION,
    },
    DOCS / "chat-fields.md": {"Fields": chat.VENDOR, "Fields within fields": chat.INSIDE},
    DOCS / "image-fields.md": {"Fields": images.VENDOR},
    DOCS / "message-fields.md": {
        "Fields": messages.VENDOR,
        "Fields of other versions": {**messages.OLDER, **messages.BETA},
        "Fields within fields": messages.INSIDE,
    },
    DOCS / "rerank.md": {"Fields": rerank.OWN},
    DOCS / "response-fields.md": {"Fields": responses.VENDOR, "Fields within fields": responses.INSIDE},
}
"""The table under each heading of each page."""


def written(path: Path) -> str:
    """Return a page with its tables as they should be; the rest stays as it is."""
    text = path.read_text()
    for heading, members in PAGES[path].items():
        [present] = re.findall(rf"^## {heading}\n\n((?:\|.*\n)+)", text, re.MULTILINE)
        text = text.replace(present, _table(members))
    return text


def _table(members: Mapping[str, Member]) -> str:
    rows = [f"| `{name}` | {member.treatment} | {member.explanation} |\n" for name, member in members.items()]
    return "".join(["| Field | Treatment | Why |\n", "|---|---|---|\n", *rows])


if __name__ == "__main__":
    for each in PAGES:
        each.write_text(written(each))
