"""Reads command lines whose values may begin with a hyphen."""

from collections.abc import Iterable, Iterator


def join_value(words: Iterable[str], option: str) -> Iterator[str]:
    """Yield the words with the option and its value in one, because argparse takes a value with a hyphen for an option."""
    rest = iter(words)
    for word in rest:
        value = next(rest, None) if word == option else None
        yield word if value is None else f"{word}={value}"
