"""Parses server-sent events as bytes: WHATWG HTML, section 9.2.6 "Interpreting an event stream".

Covers only what a forwarder needs: the end of an event, and its data.
"""

EVENT_MAX_BYTES = 1024 * 1024

_BOM = b"\xef\xbb\xbf"


class EventTooLargeError(Exception):
    """An event exceeds the size limit."""


class EventSplitter:
    """Splits a byte stream into events. Its chunks may end anywhere: inside a character, a line end, or the BOM."""

    def __init__(self, event_max_bytes: int = EVENT_MAX_BYTES) -> None:
        self._event_max_bytes = event_max_bytes
        self._buffer = bytearray()
        self._searched = 0
        self._after_return = False
        self._at_start = True

    def feed(self, data: bytes) -> list[bytes]:
        """Process the next bytes and return each event that is now complete, without its blank line."""
        if self._after_return or b"\r" in data:
            data = self._unified(data)
        if not (self._buffer or self._at_start) and data.find(b"\n\n") == len(data) - 2 >= 0:
            return [data[:-2]]  # nearly always: one whole event
        self._buffer += data
        blocks = self._cut()
        if len(self._buffer) > self._event_max_bytes:
            raise EventTooLargeError
        return blocks

    def _cut(self) -> list[bytes]:
        end = self._buffer.find(b"\n\n", self._searched)
        if end < 0:
            # The next search resumes here, so that bytes that arrive one by one do not each cost a whole scan.
            self._searched = max(0, len(self._buffer) - 1)
            return []
        *blocks, rest = bytes(self._buffer).split(b"\n\n")
        self._buffer = bytearray(rest)
        self._searched = max(0, len(rest) - 1)
        if self._at_start:
            self._at_start = False
            blocks[0] = blocks[0].removeprefix(_BOM)
        return blocks

    def _unified(self, data: bytes) -> bytes:
        """Replace CRLF and CR by LF. A CR ends its line at once; an LF at the start of the next chunk belongs to it."""
        if self._after_return and data:
            data = data.removeprefix(b"\n")
            if not data:
                self._after_return = False
        if data:
            self._after_return = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def data_of(block: bytes) -> bytes:
    """Return an event's data, with its lines joined by LF. Empty if it has only comments or other fields."""
    if block.startswith(b"event:"):  # nearly always the only field before the data
        _, _, after = block.partition(b"\n")
        if after.startswith(b"data: ") and b"\n" not in after:
            return after[6:]
    elif block.startswith(b"data: ") and b"\n" not in block:
        return block[6:]
    return b"\n".join(_data_of_line(line) for line in block.split(b"\n") if _is_data(line))


def event_bytes(data: bytes) -> bytes:
    """Write one event. `data` is JSON without line ends."""
    return b"data: %b\n\n" % data


def _is_data(line: bytes) -> bool:
    return line.startswith(b"data:") or line == b"data"


def _data_of_line(line: bytes) -> bytes:
    return line[5:].removeprefix(b" ")
