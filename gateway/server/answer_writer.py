"""Sends the head of an answer together with the beginning of its body: one system call, and one packet, for both.

The server writes a head as soon as it has one. A client that waits for both would be woken twice.
"""

import asyncio


class AnswerWriter:
    """The transport of one answer, as far as the server's request cycle uses it.

    What is written first waits for what follows, until the event loop's next turn at the latest: the head of a stream
    is sent alone.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head: bytes | None = None
        self._has_begun = False

    def write(self, data: bytes) -> None:
        """Write the head, or a piece of the body behind it."""
        if self._head is not None:
            head, self._head = self._head, None
            self._transport.writelines((head, data))
        elif self._has_begun:
            self._transport.write(data)
        else:
            self._has_begun = True
            self._head = data
            self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """Write a head that still waits."""
        if self._head is not None:
            head, self._head = self._head, None
            self._transport.write(head)

    def close(self) -> None:
        """Close the connection behind everything that was written."""
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        """Return whether the connection is closed, or about to be."""
        return self._transport.is_closing()
