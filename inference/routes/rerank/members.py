"""The treatment of members in rerank requests; docs/rerank.md has the same table."""

from collections.abc import Mapping

from inference.rules.members import REFUSED_EVERYWHERE, Member, Treatment

BOUNDED, PASSED, REFUSED = Treatment.BOUNDED, Treatment.PASSED, Treatment.REFUSED

_CUT = "Nothing is cut unless `truncation` says so, if the provider takes it."

OWN: Mapping[str, Member] = {
    "documents": Member(BOUNDED, "A list of texts. Each byte counts once."),
    "instruction": Member(BOUNDED, "It goes upstream before the query, and each byte counts once for every document."),
    "max_chunks_per_doc": Member(REFUSED, _CUT),
    "max_tokens_per_doc": Member(REFUSED, _CUT),
    "model": Member(BOUNDED, "It selects the prices. The model of a deployment goes upstream in its place."),
    "query": Member(BOUNDED, "Each byte counts once for every document."),
    "rank_fields": Member(REFUSED, "Documents are texts, without fields."),
    "relevant_spans": Member(REFUSED, "Results have no spans."),
    "return_documents": Member(PASSED, "The gateway adds each document's text itself."),
    "top_k": Member(REFUSED, "It is `top_n` here."),
    "top_n": Member(PASSED, "Every document is reranked and paid for, however many results come back."),
    "truncation": Member(BOUNDED, "`true` only if every provider of the alias takes it."),
}
"""Every member of the gateway's own request, and the providers' members that it refuses."""

RERANK_MEMBERS: Mapping[str, Member] = {**REFUSED_EVERYWHERE, **OWN}
"""All members that a request may have, and those that are refused with a reason."""
