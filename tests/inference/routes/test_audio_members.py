"""The page of fields has the tables of the code, and the tables every field of the vendor's SDK."""

import re
from pathlib import Path
from typing import Any

import pytest
from openai.types.audio import speech_create_params, transcription_create_params, translation_create_params

from inference.routes.speech.members import INSIDE, VENDOR
from inference.routes.transcriptions.members import TRANSCRIPTION, TRANSLATION

PAGE = Path(__file__).resolve().parents[3] / "docs" / "audio-fields.md"
TABLES: dict[str, Any] = {
    "Speech": {**VENDOR, **INSIDE},
    "Transcriptions": TRANSCRIPTION,
    "Translations": TRANSLATION,
}


@pytest.mark.parametrize("heading", TABLES)
def test_the_page_has_the_same_table(heading: str) -> None:
    table = re.search(r"(?:^\|.*\n)+", PAGE.read_text().partition(f"## {heading}\n")[2], re.MULTILINE)
    assert table is not None
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.group().splitlines()[2:]]
    told = [[f"`{name}`", str(member.treatment), member.explanation] for name, member in TABLES[heading].items()]
    assert rows == told


@pytest.mark.parametrize(
    ("table", "vendors"),
    [
        (VENDOR, speech_create_params.SpeechCreateParams),
        (TRANSCRIPTION, transcription_create_params.TranscriptionCreateParamsStreaming),
        (TRANSLATION, translation_create_params.TranslationCreateParams),
    ],
)
def test_every_field_of_the_vendor_has_a_row(table: Any, vendors: Any) -> None:
    assert set(table) == set(vendors.__annotations__) | {
        name for base in vendors.__mro__ for name in getattr(base, "__annotations__", {})
    }
