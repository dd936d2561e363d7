"""The browser client's TypeScript types are those of its JSDoc, and an app that uses them strictly compiles."""

from pathlib import Path

import pytest

from tests.interop.generated_clients import NODE_MODULES, run

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "js"
TSC = str(NODE_MODULES / ".bin" / "tsc")

pytestmark = pytest.mark.usefixtures("npm_packages")


def test_are_what_the_jsdoc_says(tmp_path: Path) -> None:
    assert run([TSC, "--project", str(CLIENT), "--outDir", str(tmp_path)], CLIENT) == ""
    assert _texts(CLIENT / "types") == _texts(tmp_path), "run `npm install && npm run types` in clients/js"


def test_say_what_calls_take_and_return() -> None:
    strictly = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit"]
    settings = [*strictly, "--target", "es2022", "--module", "nodenext"]
    assert run([TSC, *settings, str(CLIENT / "test" / "usage.ts")], CLIENT) == ""


def _texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}
