"""Code blocks of different languages in a row are one example: the site shows them as tabs, the repository one below the other."""

import re

NAMES = {"python": "Python", "js": "TypeScript", "ts": "TypeScript", "sh": "Shell"}

_ROW = re.compile(r"(?:^```(?:python|js|ts|sh)\b[^\n]*\n(?:(?!```).*\n)*```\n\n?){2,}", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)[^\n]*\n.*?^```$", re.MULTILINE | re.DOTALL)


def tabbed(text: str) -> str:
    """Return a page's text with every such row as tabs."""
    return _ROW.sub(_tabs, text)


def _tabs(row: re.Match[str]) -> str:
    blocks = list(_BLOCK.finditer(row[0]))
    names = [NAMES[block[1]] for block in blocks]
    if len({*names}) < len(names):
        return row[0]
    return "".join(f'=== "{name}"\n\n{_indented(block[0])}\n\n' for name, block in zip(names, blocks, strict=True))


def _indented(block: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in block.splitlines())
