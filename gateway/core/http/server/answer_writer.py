"""Sends the head of a response together with the start of its body, in one system call and one packet.

The server writes a head as soon as it has one. A client that waits for both would be woken twice.
"""

import asyncio


class AnswerWriter:
    """The transport of one response, as far as the server's request cycle uses it.

    The first write is delayed until the next one, or at the latest until the event loop's next turn: the head of a
    stream is sent by itself.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head: bytes | None = None
        self._has_begun = False

    def write(self, data: bytes) -> None:
        """Write the head, or the next piece of the body."""
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
        """Write a delayed head, unless the connection was closed meanwhile."""
        head, self._head = self._head, None
        if head is not None and not self._transport.is_closing():
            self._transport.write(head)

    def close(self) -> None:
        """Close the connection after everything written."""
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        """Return whether the connection is closed or closing."""
        return self._transport.is_closing()
