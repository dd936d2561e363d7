"""Builds the environment of a process for a data directory, so that `manage.py` in another shell finds the same
gateway."""

from pathlib import Path

from gateway.run.files import read_json

SECRETS_FILE = "secrets.json"
RUN_FILE = "run.json"
SANDBOX_MARK = "sandbox.wanted"
"""The file in the data directory that exists if the configuration needs a worker for sandbox runs."""
SECRET_NAMES = ("SECRET_KEY", "FIELD_ENCRYPTION_KEYS")
RUN_NAMES = ("DATABASE_URL", "GATEWAY_BASE_URL")


def load(data_dir: Path | str) -> dict[str, str]:
    """Return the environment that `make run` gives the gateway in `data_dir`.

    Starts nothing and changes nothing. Variables that are not known yet (nothing was ever started there, or the caller
    may not read the directory's secrets) are absent.
    """
    home = Path(data_dir)
    return {**_strings(home / SECRETS_FILE, SECRET_NAMES), **_strings(home / RUN_FILE, RUN_NAMES)}


def _strings(path: Path, names: tuple[str, ...]) -> dict[str, str]:
    """Return those of `names` that the file contains as text."""
    values = read_json(path)
    return {name: values[name] for name in names if isinstance(values.get(name), str)}
