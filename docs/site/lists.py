"""Lists: what belongs to an item is indented as far as the item's text, and the generator wants four spaces a level."""

import re
from dataclasses import dataclass, field

LEVEL = "    "

_ITEM = re.compile(r"(?P<marker>[-*+]|\d+[.)])(?P<space> +)(?=\S)")


def indented(text: str) -> str:
    """Return a page's text in which every line within a list has four spaces for each item that it is in."""
    lists = _Lists()
    return "".join(lists.place(line) for line in text.splitlines(keepends=True))


@dataclass
class _Lists:
    """Where the page is: the column at which the text of each open item begins, the mark of an open code block, whether the line
    before is text, and whether the list has empty lines."""

    columns: list[int] = field(default_factory=list)
    fence: str = ""
    follows_text: bool = False
    is_loose: bool = False

    def place(self, line: str) -> str:
        """Return the next line as the generator wants it."""
        body = line.lstrip(" ")
        column = len(line) - len(body)
        if self.fence:
            return self._code(line, body)
        if not body.strip():
            self.follows_text, self.is_loose = False, bool(self.columns)
            return line
        item, is_first = self._item(body), not self.columns
        if item or not self.follows_text:  # else it goes on with a paragraph, wherever it begins
            self.columns = [opened for opened in self.columns if opened <= column]
        placed = LEVEL * len(self.columns) + (line[self.columns[-1] :] if self._is_within(column) else body)
        placed = placed if self.columns else line
        if item:
            # After a paragraph, the generator takes an item only behind an empty line.
            placed = "\n" + placed if self.follows_text and (self.is_loose or is_first) else placed
            self.columns.append(column + item.end())
        self.is_loose = self.is_loose and bool(self.columns)
        self.fence = body[:3] if body.startswith(("```", "~~~")) else ""
        self.follows_text = not self.fence
        return placed

    def _item(self, body: str) -> re.Match[str] | None:
        """Match the mark of an item. Within a paragraph, only a list's first item can begin."""
        item = _ITEM.match(body)
        begins = item is not None and (item["marker"] in "-*+" or item["marker"] in ("1.", "1)"))
        return item if begins or self.columns or not self.follows_text else None

    def _is_within(self, column: int) -> bool:
        return bool(self.columns) and column >= self.columns[-1]

    def _code(self, line: str, body: str) -> str:
        """Return a line of a code block, and close the block at its end."""
        if body.startswith(self.fence):
            self.fence, self.follows_text = "", False
        if not self.columns or not body.strip():
            return line
        return LEVEL * len(self.columns) + line[self.columns[-1] :]
