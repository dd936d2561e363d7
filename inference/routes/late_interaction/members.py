"""The treatment of members in requests for late interaction."""

from inference.rules.members import REFUSED_EVERYWHERE, Member, Treatment

LATE_INTERACTION_MEMBERS = {
    **REFUSED_EVERYWHERE,
    "manifest_id": Member(Treatment.REFUSED, "Only /v1/embeddings pins a manifest."),
    "revision": Member(Treatment.REFUSED, "The gateway decides which revision answers."),
}
