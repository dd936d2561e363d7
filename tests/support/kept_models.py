"""Models that the tests of a file use one after the other.

A gateway reads all models again after one is added, which takes twice as long as a call. So each model is lent to one test at a
time, and given back at its end. A test that changes rows of models forgets the catalogue, or it would not see what it changed:
then all models are deleted, and the next test makes its own.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from inference.queries import catalogue
from tests.support.cleaner import clean

MODELS_MAX = 40
"""More would make each reading of them slow."""
FRESH_SECONDS = 1.0
"""A test begins with a catalogue that is not older, so that it does not become outdated during the test."""

FORGET_MODELS = """
WITH deployment AS (DELETE FROM inference_deployment WHERE upstream_id = ANY(%(upstreams)s) RETURNING alias_id),
     raw AS (DELETE FROM inference_rawmodel WHERE upstream_id = ANY(%(upstreams)s)),
     upstream AS (DELETE FROM inference_upstream WHERE id = ANY(%(upstreams)s))
DELETE FROM inference_alias WHERE id IN (SELECT alias_id FROM deployment)
"""


class KeptModels:
    """Lends models and upstreams by what they were made with. `upstreams` are the ids of all that were made."""

    def __init__(self) -> None:
        self.upstreams: list[int] = []
        self._free: dict[str, list[Any]] = defaultdict(list)
        self._lent: list[tuple[str, Any]] = []
        self._forgotten = -1

    def begin(self) -> None:
        """Begin a test, with the catalogue as the models are."""
        if not self._is_as_left():
            self.drop()
        elif catalogue._snapshot.age_seconds > FRESH_SECONDS:
            self._forget()

    def take(self, made_with: object, make: Callable[[], Any]) -> Any:
        """Lend what was made with the same, or make it."""
        key = repr(made_with)
        free = self._free[key]
        taken = free.pop() if free else self._made(make)
        self._lent.append((key, taken))
        return taken

    def end(self, *, is_busy: bool) -> None:
        """Take back what a test had. A call of it that still runs would have an effect on a later test's."""
        if is_busy or len(self.upstreams) > MODELS_MAX or not self._is_as_left():
            self.drop()
        while self._lent:
            key, taken = self._lent.pop()
            self._free[key].append(taken)

    def drop(self) -> None:
        """Delete all models."""
        forget_models(self.upstreams)
        self.upstreams.clear()
        self._lent.clear()
        self._free.clear()
        self._forget()

    def _forget(self) -> None:
        catalogue.forget()
        self._forgotten = _times_forgotten()

    def _made(self, make: Callable[[], Any]) -> Any:
        was_left = self._is_as_left()
        made = make()  # which forgets the catalogue
        if was_left:
            self._forgotten = _times_forgotten()
        return made

    def _is_as_left(self) -> bool:
        """Return whether nobody else has forgotten the catalogue since."""
        return self._forgotten == _times_forgotten()


def forget_models(upstreams: list[int]) -> None:
    """Delete these upstreams and the models that they serve, past the guards of rows that refer to them."""
    if upstreams:
        clean(lambda database: database.execute(FORGET_MODELS, {"upstreams": upstreams}))


def _times_forgotten() -> int:
    return catalogue._snapshot._forgotten
