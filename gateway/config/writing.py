"""Writes plain values as YAML that `document.read` reads back as the same values."""

from collections.abc import Mapping
from typing import Any

import yaml

from gateway.config.document import IMPLICIT, TAG

WIDTH_CHARACTERS = 120


class _Dumper(yaml.SafeDumper):
    """Quotes what either version of YAML would take for something other than text. Writes no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    """Write text; with escapes where it has line ends, which the library would fold, or anything else that does not show."""
    return dumper.represent_scalar(f"{TAG}str", value, style=None if value.isprintable() else '"')


_Dumper.add_representer(str, _text)
for _tag, _pattern, _first in IMPLICIT:
    _Dumper.add_implicit_resolver(_tag, _pattern, _first)


def section(name: str, value: Any) -> str:
    """Write one section: rows below each other, and the smallest lists and maps on one line."""
    return str(
        yaml.dump(
            {name: value},
            Dumper=_Dumper,
            allow_unicode=True,
            default_flow_style=None,
            sort_keys=False,
            width=WIDTH_CHARACTERS,
        )
    )


def file(heading: str, sections: Mapping[str, Any]) -> str:
    """Write a file: a comment, then the sections."""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in heading.splitlines())
    return "\n".join([comment, *(section(name, value) for name, value in sections.items())])
