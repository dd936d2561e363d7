"""The shared state of a session's two directions."""

from dataclasses import dataclass, field

from inference.routes.realtime.allowance import Allowance
from inference.routes.realtime.bound import BoundedSession
from inference.routes.realtime.ids import Ids
from inference.routes.realtime.requested import Questions
from inference.routes.realtime.settings import Settings
from inference.routes.realtime.tally import Tally


@dataclass
class State:
    """One session. `id` is the gateway's own."""

    id: str
    usage_id: str
    bounded: BoundedSession
    settings: Settings
    tally: Tally = field(default_factory=Tally)
    questions: Questions = field(default_factory=Questions)
    ids: Ids = field(default_factory=Ids)
    allowance: Allowance = field(init=False)

    def __post_init__(self) -> None:
        self.allowance = Allowance(self.bounded, self.tally)

    @property
    def is_busy(self) -> bool:
        """Return whether reports of the upstream are pending."""
        return self.questions.is_any or bool(self.tally.open) or bool(self.allowance.transcribing)

    @property
    def is_complete(self) -> bool:
        """Return whether all usage has been reported."""
        return self.tally.is_whole and not self.is_busy
