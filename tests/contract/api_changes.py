"""The differences between two descriptions of the API in their normal form, and which of them break a client.

A client breaks if what it sends is no longer read, if it must send more, or if what it relies on is no longer answered. It does not
break by a new member, value, status or code of an answer, which the API's rules tell it to expect.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Form = dict[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """One difference of one operation."""

    operation: str
    text: str
    is_breaking: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """A member's description, taken apart."""

    kinds: frozenset[str]
    is_nullable: bool
    is_required: bool
    values: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "Member":
        """Read `string, null, required, one of: day month`."""
        first, _, values = text.partition(", one of: ")
        kinds, *rest = first.split(", ")
        return cls(frozenset(kinds.split(" or ")), "null" in rest, "required" in rest, frozenset(values.split()))


def changes(before: Form, after: Form) -> list[Change]:
    """Return all differences, by operation."""
    found: list[Change] = []
    for operation in {**before, **after}:
        if operation == "errors":
            for name in after["errors"]:
                told = _answered(f"body of {name}", before["errors"].get(name, {}), after["errors"][name])
                found += [Change("every error", text, is_breaking) for text, is_breaking in told]
        elif operation not in after:
            found.append(Change(operation, "removed", is_breaking=True))
        elif operation not in before:
            found.append(Change(operation, "new"))
        else:
            told = _operation(before[operation], after[operation])
            found += [Change(operation, text, is_breaking) for text, is_breaking in told]
    return sorted(found)


Told = Iterator[tuple[str, bool]]


def _operation(before: Form, after: Form) -> Told:
    if before["scope"] != after["scope"]:
        yield f"needs `{after['scope'] or 'no token'}` instead of `{before['scope'] or 'no token'}`", True
    yield from _sent("parameter", before["parameters"], after["parameters"])
    yield from _by_name("body", before["body"], after["body"], _sent)
    yield from _by_name("answer", _flat(before["answers"]), _flat(after["answers"]), _answered)
    yield from _errors(before["errors"], after["errors"])


def _flat(answers: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        f"{status} {media}".strip(): members
        for status, found in answers.items()
        for media, members in (found or {"": {}}).items()
    }


def _by_name(what: str, before: Form, after: Form, compare: Any) -> Told:
    """Compare bodies by media type, or answers by status and media type."""
    for name in before.keys() - after.keys():
        yield f"{what} `{name}` removed", True
    for name in after.keys() - before.keys():
        yield f"{what} `{name}` new", what == "body" and not before
    for name in before.keys() & after.keys():
        yield from compare(f"{what} `{name}`:", before[name], after[name])


def _sent(where: str, before: Form, after: Form) -> Told:
    """Compare what clients send: they may send as before, and need not send more."""
    for name in before.keys() - after.keys():
        yield f"{where} `{name}` is no longer read", True
    for name in after.keys() - before.keys():
        is_required = Member.of(after[name]).is_required and _parent_is_known(name, before)
        yield f"{where} `{name}` is new{' and required' if is_required else ''}", is_required
    for name in before.keys() & after.keys():
        old, new = Member.of(before[name]), Member.of(after[name])
        if new.is_required and not old.is_required:
            yield f"{where} `{name}` is now required", True
        if old.is_required and not new.is_required:
            yield f"{where} `{name}` is no longer required", False
        yield from _narrower(f"{where} `{name}`", new, old)


def _parent_is_known(name: str, before: Form) -> bool:
    """Return whether the member is added to an object that clients send already."""
    parent = name.rpartition(".")[0].removesuffix("[]")
    return not parent or parent in before


def _answered(where: str, before: Form, after: Form) -> Told:
    """Compare what clients get: they still get everything that they had."""
    for name in before.keys() - after.keys():
        yield f"{where} `{name}` is no longer answered", True
    for name in after.keys() - before.keys():
        yield f"{where} `{name}` is new", False
    for name in before.keys() & after.keys():
        old, new = Member.of(before[name]), Member.of(after[name])
        if old.is_required and not new.is_required:
            yield f"{where} `{name}` is no longer always there", True
        if new.is_nullable and not old.is_nullable:
            yield f"{where} `{name}` may now be null", True
        if old.kinds != new.kinds:
            yield f"{where} `{name}` is {_words(new.kinds)} instead of {_words(old.kinds)}", True
        for value in sorted(new.values - old.values):
            yield f"{where} `{name}` may now be `{value}`", not old.values


def _narrower(where: str, new: Member, old: Member) -> Told:
    """Tell what clients may no longer send, and what they may send beside it."""
    if missing := old.kinds - new.kinds:
        yield f"{where} may no longer be {_words(missing)}", True
    if old.is_nullable and not new.is_nullable:
        yield f"{where} may no longer be null", True
    if added := new.kinds - old.kinds:
        yield f"{where} may now be {_words(added)}", False
    if new.values and not old.values:
        yield f"{where} may now only be one of {_words(new.values)}", True
    for value in sorted(old.values - new.values) if new.values else ():
        yield f"{where} may no longer be `{value}`", True
    for value in sorted(new.values - old.values) if old.values else ():
        yield f"{where} may now be `{value}`", False


def _errors(before: dict[str, list[str]], after: dict[str, list[str]]) -> Told:
    """Tell of new errors and of those that are gone; neither breaks a client that knows the statuses' groups."""
    for status in sorted({*before, *after}):
        for code in sorted({*after.get(status, ())} - {*before.get(status, ())}):
            yield f"may answer {status} `{code}`", False
        for code in sorted({*before.get(status, ())} - {*after.get(status, ())}):
            yield f"no longer answers {status} `{code}`", False


def _words(names: frozenset[str]) -> str:
    return " or ".join(sorted(names))
