"""What an endpoint of this route states about its vendor's embeddings."""

from dataclasses import dataclass
from enum import Enum, auto


class Representations(Enum):
    """Which of a vendor's embeddings are representations, with a manifest."""

    NEVER = auto()
    IF_SELECTED = auto()
    """Those of requests that select one."""
    ALWAYS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The capabilities of a vendor's embeddings. `requires_input_type`: it has to know queries from documents."""

    representations: Representations
    requires_input_type: bool
