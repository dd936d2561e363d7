"""Reads settings from the environment, and collects all missing or invalid ones to report them at once."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

POSTGRESQL_SCHEMES = ("postgres", "postgresql", "pgsql", "psql")
DAYS_MAX = 36_500
COUNT_MAX = 1_000_000_000
FLAGS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
WORDS = {int: "a whole number", float: "a number"}


class Environment(environ.Env):
    """The environment. An unreadable value is recorded as a problem, and its default is used until `finish`."""

    def __init__(self) -> None:
        super().__init__()
        self._problems: list[str] = []

    def get_value(
        self, var: str, cast: Any = None, default: Any = environ.Env.NOTSET, parse_default: bool = False
    ) -> Any:
        """Return a setting, or record that it is missing or of the wrong type."""
        if cast in WORDS and default is not self.NOTSET and not os.environ.get(var):
            return default  # an empty number counts as absent
        try:
            return super().get_value(var, cast, default, parse_default)
        except ImproperlyConfigured:
            self.note(f"Set {var}.")
        except ValueError:
            self.note(f"{var} must be {WORDS.get(cast, 'readable')}.")
        return "" if default is self.NOTSET else default

    def db_url(self, var: str, default: str) -> dict[str, Any]:
        """Return the settings of a database, or record an invalid URL. The URL is not quoted: it contains a
        password."""
        config: Any = self.db_url_config(default)
        with self.noting(f"{var} must be a URL such as postgresql://user:password@host:5432/name."):
            url = os.environ.get(var) or default
            if urlsplit(url).scheme not in POSTGRESQL_SCHEMES:
                raise ValueError
            config = self.db_url_config(url)
        return dict(config)

    def email_url(self, var: str, default: str) -> dict[str, Any]:
        """Return the settings of a mail server, or record an invalid URL, without quoting it."""
        config: Any = self.email_url_config(default)
        with self.noting(f"{var} must be a URL such as smtp+tls://user:password@mail.example:587."):
            config = super().email_url(var, default=default)
        return dict(config)

    def choice(self, var: str, choices: Sequence[str], *, default: str) -> str:
        """Return one of several words, or record that it is another."""
        text = os.environ.get(var, "").strip() or default
        if text not in choices:
            self.note(f"{var} must be {' or '.join(choices) if len(choices) < 3 else 'one of ' + ', '.join(choices)}.")
            return default
        return text

    def flag(self, var: str, *, default: bool) -> bool:
        """Return whether something is on, or record that the setting says neither."""
        text = os.environ.get(var, "").strip().lower()
        if text and text not in FLAGS:
            self.note(f"{var} must be true or false.")
        return FLAGS.get(text, default)

    def month(self, var: str) -> datetime | None:
        """Return the UTC start of a month such as 2027-01, None if none is set, or record an invalid month."""
        text = os.environ.get(var, "").strip()
        try:
            return datetime.strptime(text, "%Y-%m").replace(tzinfo=UTC) if text else None
        except ValueError:
            self.note(f"{var} must be a month such as 2027-01.")
        return None

    def seconds(self, var: str, default: float) -> float:
        """Return a time of at least 0, or record that it is negative or no number."""
        found = float(self.float(var, default=default))
        if found < 0:
            self.note(f"{var} must be a number of at least 0.")
            return default
        return found

    def count(self, var: str, default: int) -> int:
        """Return a number of uses within a window, at least 1, or record that it is invalid."""
        found = int(self.int(var, default=default))
        if not 1 <= found <= COUNT_MAX:
            self.note(f"{var} must be a whole number from 1 to {COUNT_MAX}.")
            return default
        return found

    def days(self, var: str, default: int, *, at_least: int, because: str) -> int:
        """Return a number of days, or record that it is below the promised minimum or too large."""
        return self.optional_days(var, at_least=at_least, because=because) or default

    def optional_days(self, var: str, *, at_least: int, because: str) -> int | None:
        """Return a number of days, None if none is set, or record that it is invalid."""
        text = os.environ.get(var, "").strip()
        if not text:
            return None
        if not re.fullmatch(r"[0-9]{1,5}", text) or not at_least <= int(text) <= DAYS_MAX:
            self.note(f"{var} must be a number of days from {at_least} to {DAYS_MAX}: {because}.")
            return None
        return int(text)

    def note(self, problem: str) -> None:
        """Record a problem, as a sentence that says what to set."""
        if problem not in self._problems:
            self._problems.append(problem)

    @contextmanager
    def noting(self, problem: str = "") -> Iterator[None]:
        """Record a problem if the block fails: this one, or the message of its ImproperlyConfigured."""
        try:
            yield
        except (ImproperlyConfigured, ValueError, KeyError) as error:
            self.note(problem or str(error))

    def finish(self) -> None:
        """Raise ImproperlyConfigured with every problem, one per line, if there are any."""
        if self._problems:
            count = len(self._problems)
            title = f"{count} settings are missing or wrong:" if count > 1 else "A setting is missing or wrong:"
            raise ImproperlyConfigured("\n".join([title, *(f"  {problem}" for problem in self._problems)]))


env = Environment()
