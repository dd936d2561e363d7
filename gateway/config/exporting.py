"""What the sections need to write their stored rows: the time, and names for the secrets."""

import hashlib
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gateway.config.environment import KEY_VARIABLE

Exported = list[dict[str, Any]] | dict[str, Any] | None

RESERVED = frozenset({KEY_VARIABLE})
"""Variables that already mean something to `apply`, so that a file that names them could change more than it says."""

HASH_CHARACTERS = 8

# Names that differ still differ in capitals, with underscores for hyphens.
_PLAIN = re.compile(r"[a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class Exporting:
    """One export. `secrets` maps each variable that its file names to the value, `uses` to what has this secret."""

    now: datetime
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    uses: dict[str, str] = field(default_factory=dict)

    def secret(self, value: str | None, variable: str, use: str) -> dict[str, str] | None:
        """Return `{env: NAME}` in place of a secret, None if there is none."""
        if not value:
            return None
        while variable in self.secrets:  # two names with the same hash
            variable += "_"
        self.secrets[variable], self.uses[variable] = value, use
        return {"env": variable}


def variable_of(name: str, *, before: str = "", after: str) -> str:
    """Return the variable for a secret of the row with this name. It depends on nothing else, and no two names share one
    except by chance.

    `primary` gives PRIMARY_API_KEY. What is not plain, such as `Primary` or `a_b`, gets a part of its hash.
    """
    stem = re.sub(r"[^A-Z0-9]+", "_", name.upper())
    variable = f"{before}{stem}{after}"
    if not _PLAIN.fullmatch(name) or variable in RESERVED:
        digest = hashlib.sha256(name.encode()).hexdigest()[:HASH_CHARACTERS].upper()
        variable = f"{before}{stem}_{digest}{after}"
    return f"_{variable}" if variable[0].isdigit() else variable


def filled(**values: Any) -> dict[str, Any]:
    """Return the keys that have a value; false, zero and empty lists are values."""
    return {name: value for name, value in values.items() if value is not None}


def options_of(stored: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the options that a file can state. An empty one is as good as none."""
    return {name: stored[name] for name in names if stored.get(name) not in (None, [], {}, "")}
