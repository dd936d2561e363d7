"""What a process has observed and not written yet: bounded, whatever happens to the database."""

from gateway.core.telemetry.observation import Observation, Outcome
from gateway.core.telemetry.rules.sums import Key, Sums

KEYS_MAX = 5000
"""The most sums that wait, about 10 MB. What has no room is lost, and counted."""

_USUAL = (Outcome.SETTLED, Outcome.REPLAYED, Outcome.COUNTED)


class Batch:
    """Sums by key, and at most `traces_max` requests that get rows of their own: those that went wrong first."""

    def __init__(self, traces_max: int) -> None:
        self._traces_max = traces_max
        self.sums: dict[Key, Sums] = {}
        self.lost = 0
        self.wrong: list[tuple[Key, Observation]] = []
        self.usual: list[tuple[Key, Observation]] = []

    def __bool__(self) -> bool:
        return bool(self.sums) or self.lost > 0

    def add(self, key: Key, observation: Observation) -> None:
        """Count a request, and keep it if there is room for its row."""
        sums = self.sums.get(key)
        if sums is None:
            if len(self.sums) >= KEYS_MAX:
                self.lost += 1
                return
            sums = self.sums[key] = Sums()
        sums.add(observation.duration_ns, observation.first_byte_ns, observation.overhead_ns)
        is_usual = observation.outcome in _USUAL and not observation.cause
        kept = self.usual if is_usual else self.wrong
        if len(kept) < self._traces_max:
            kept.append((key, observation))
        else:
            sums.untraced += 1

    def traces(self) -> list[Observation]:
        """Choose the requests that get rows. Those that have no room are counted, and forgotten."""
        chosen = [*self.wrong, *self.usual]
        for key, _ in chosen[self._traces_max :]:
            self.sums[key].untraced += 1
        self.wrong, self.usual = chosen[: self._traces_max], []
        return [observation for _, observation in self.wrong]

    def merge(self, older: "Batch") -> None:
        """Take back a batch that could not be written. Its rows are written later if there is room beside newer ones."""
        self.lost += older.lost
        for key, sums in older.sums.items():
            if key in self.sums:
                self.sums[key].merge(sums)
            elif len(self.sums) < KEYS_MAX:
                self.sums[key] = sums
            else:
                self.lost += sums.requests
        for kept, back in ((self.wrong, older.wrong), (self.usual, older.usual)):
            for key, observation in back:
                self._keep(kept, key, observation)

    def _keep(self, kept: list[tuple[Key, Observation]], key: Key, observation: Observation) -> None:
        if key not in self.sums:
            return
        if len(kept) < self._traces_max:
            kept.append((key, observation))
        else:
            self.sums[key].untraced += 1
