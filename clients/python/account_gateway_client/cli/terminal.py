"""Standard output for what a gateway sends: its bytes, or, where a terminal reads them, text that the terminal does not obey."""

import codecs
import re
import sys

_OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Output:
    """Passes one body on, piece by piece."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace") if sys.stdout.isatty() else None

    def write(self, data: bytes) -> None:
        """Write a piece at once. A character that is not whole yet comes with the next piece."""
        if self._decoder:
            text = self._decoder.decode(data).replace("\r", "")  # which would write over the line
            data = _OBEYED.sub("\ufffd", text).encode()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
