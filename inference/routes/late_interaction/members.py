"""The treatment of members in requests for late interaction."""

from inference.rules.members import REFUSED_EVERYWHERE, Member, Treatment

_OWN = ("documents", "model", "query", "top_spans")

LATE_INTERACTION_MEMBERS = {
    **REFUSED_EVERYWHERE,
    "manifest_id": Member(Treatment.REFUSED, "Only /v1/embeddings pins a manifest."),
    "revision": Member(Treatment.REFUSED, "The gateway decides which revision answers."),
    **dict.fromkeys(_OWN, Member(Treatment.BOUNDED, "The gateway reads it itself.")),
}
