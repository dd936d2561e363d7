"""The forms of catalogues, and how one is recognized."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from inference.rules.price_catalogues import litellm, model_lists, models_dev
from inference.rules.price_catalogues.entries import Entry
from inference.rules.price_catalogues.numbers import CatalogueError, load

LITELLM, MODELS_DEV = "litellm", "models.dev"
OPENROUTER, TOGETHER, DEEPINFRA = "openrouter", "together", "deepinfra"
FORMS = (LITELLM, MODELS_DEV, OPENROUTER, TOGETHER, DEEPINFRA)

_READERS: dict[str, Callable[[Any], Iterator[Entry]]] = {
    LITELLM: litellm.read,
    MODELS_DEV: models_dev.read,
    OPENROUTER: model_lists.read_openrouter,
    TOGETHER: model_lists.read_together,
    DEEPINFRA: model_lists.read_deepinfra,
}
_LISTS = (OPENROUTER, TOGETHER, DEEPINFRA)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A catalogue's form and entries."""

    form: str
    entries: tuple[Entry, ...]

    @property
    def is_of_one_upstream(self) -> bool:
        """Return whether it is an upstream's own list, which does not name providers."""
        return self.form in _LISTS


def read_catalogue(text: bytes, form: str | None = None) -> Catalogue:
    """Read a catalogue in one of `FORMS`, or in the form that it is recognized by. Raises CatalogueError."""
    value = load(text)
    found = form or recognize(value)
    stated = _models(value) if found in _LISTS else value
    if not isinstance(stated, list if found in _LISTS else dict):
        raise CatalogueError(f"it does not have the form of {found}")
    entries = tuple(_READERS[found](stated))
    if not entries:
        raise CatalogueError(f"it has no models in the form of {found}")
    return Catalogue(found, entries)


def recognize(value: Any) -> str:
    """Return the form of a parsed catalogue. Raises CatalogueError."""
    models = _models(value)
    if isinstance(models, list):
        return _recognize_list(models)
    values = [each for each in value.values() if isinstance(each, dict)] if isinstance(value, dict) else []
    if any("litellm_provider" in each for each in values):
        return LITELLM
    if any(isinstance(each.get("models"), dict) for each in values):
        return MODELS_DEV
    raise CatalogueError(f"it has none of the known forms ({', '.join(FORMS)})")


def _recognize_list(models: list[Any]) -> str:
    for model in models:
        pricing = model_lists.pricing_of(model)
        if "prompt" in pricing:
            return OPENROUTER
        if "input_tokens" in pricing:
            return DEEPINFRA
        if "input" in pricing:
            return TOGETHER
    raise CatalogueError("it is a list of models without prices in a known form")


def _models(value: Any) -> Any:
    """Return a list of models, which may be the `data` of an object."""
    return value.get("data") if isinstance(value, dict) and isinstance(value.get("data"), list) else value
