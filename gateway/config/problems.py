"""Problems of a configuration, with their position in the file."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

Path = tuple[str | int, ...]

KEY_SHOWN_MAX_CHARACTERS = 60
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One problem, at a line and a path. `text` never carries a secret.

    Lines count from 1; line 0 is the environment, and the path is then the variable.
    """

    line: int
    path: Path
    text: str

    def show(self, file_name: str) -> str:
        """Render as `gateway.yaml:12 aliases[0].price.input_token: …`."""
        place = show_path(self.path)
        if self.line == 0:
            return f"environment {place}: {self.text}"
        return f"{file_name}:{self.line} {place}: {self.text}" if place else f"{file_name}:{self.line}: {self.text}"


class ConfigError(Exception):
    """Refuses a configuration, with every problem found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = sorted(set(problems), key=lambda problem: (problem.line, str(problem.path), problem.text))
        super().__init__(f"{len(self.problems)} problems")


def show_path(path: Path) -> str:
    """Render a path as an operator would write it: `aliases[0].price.image["1024x1024/high"]`."""
    return "".join(_show_step(step) for step in path).removeprefix(".")


def _show_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _PLAIN_KEY.fullmatch(step) and len(step) <= KEY_SHOWN_MAX_CHARACTERS:
        return f".{step}"
    return f"[{json.dumps(step[:KEY_SHOWN_MAX_CHARACTERS])}]"
