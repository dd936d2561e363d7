"""Refuses a body with a content coding, such as gzip: no route decodes one. RFC 9110 sections 8.4 and 15.5.16."""

from gateway.core.contract.errors import UnsupportedMediaType

HEADER = "Content-Encoding"
IDENTITY = "identity"


def check_coding(sent: str) -> None:
    """Raise UnsupportedMediaType, unless what Content-Encoding says is nothing or `identity`."""
    if any(coding.strip().lower() not in ("", IDENTITY) for coding in sent.split(",")):
        message = "Send the body without a content coding."
        raise UnsupportedMediaType(message, param=HEADER, headers={"Accept-Encoding": IDENTITY})
