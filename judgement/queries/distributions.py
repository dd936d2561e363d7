"""Query for the distributions of recent answers."""

from collections import defaultdict
from datetime import date

from django.db.models import Max, Min, Sum

from judgement.models import AnswerCount
from judgement.rules.questions import Kind
from judgement.rules.shifts import Distribution, tenths


def recent(since: date) -> list[Distribution]:
    """Return the distributions of answers since this day, by alias and kind, the most recent version first."""
    rows = AnswerCount.objects.filter(day__gte=since).values_list("identity", "kind", "bucket")
    counted: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    days: dict[tuple[str, str], tuple[date, date]] = {}
    for identity, kind, bucket, count, first, last in rows.annotate(Sum("count"), Min("day"), Max("day")):
        counted[identity, kind][bucket] = count
        begun, ended = days.get((identity, kind), (first, last))
        days[identity, kind] = min(begun, first), max(ended, last)
    found = [
        Distribution(identity, Kind(kind), *days[identity, kind], tenths(counts))
        for (identity, kind), counts in counted.items()
    ]
    return sorted(
        found, key=lambda each: (each.identity.partition("/")[0], each.kind, -each.until.toordinal(), each.identity)
    )
