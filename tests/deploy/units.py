"""systemd's units of `deploy/systemd`, read as systemd reads them."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.run.options import PROJECT_DIR

FOLDER = PROJECT_DIR / "deploy" / "systemd"
COMMON = "account-gateway-.service.d"
NAMES = ("server", "worker", "beat", "sandbox", "metrics")
PYTHON = "/srv/account-gateway/.venv/bin/python"


@dataclass(frozen=True)
class Unit:
    """A service with its drop-ins: what each setting says, in order. An empty setting takes back those before it."""

    name: str
    settings: Mapping[str, list[str]]

    def only(self, name: str) -> str:
        """Return what is said last."""
        return self.settings[name][-1]

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of its commands, given what the environment file says."""
        words = [word for line in self.settings.get("Environment", []) for word in shlex.split(line)]
        return {**dict(word.split("=", 1) for word in words), **given}

    def command(self, setting: str, environment: Mapping[str, str]) -> list[str]:
        """Return the arguments of its Python, with variables in their places."""
        [line] = self.settings[setting]
        python, *arguments = (re.sub(r"\$\{(\w+)\}", lambda at: environment[at[1]], word) for word in shlex.split(line))
        assert python == PYTHON
        return arguments


def unit(name: str) -> Unit:
    """Read the unit of a kind of process."""
    file = f"account-gateway-{name}.service"
    dropped = [path for folder in (COMMON, f"{file}.d") for path in (FOLDER / folder).glob("*.conf")]
    settings: dict[str, list[str]] = {}
    for path in (FOLDER / file, *sorted(dropped, key=lambda path: path.name)):
        for key, value in _lines(path):
            if value:
                settings.setdefault(key, []).append(value)
            else:
                settings[key] = []
    return Unit(file, settings)


def _lines(path: Path) -> list[tuple[str, str]]:
    """Return the settings of one file."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(r"^([A-Z]\w+)=(.*)$", text, re.MULTILINE)
