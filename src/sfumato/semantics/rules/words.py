"""Atoms of the rules in words."""

from __future__ import annotations

from typing import Any

from sfumato.semantics.rules.terms import plain

_SAID = {
    ("authenticate", 2): "{0} authenticates role {1}",
    ("allows_purpose", 2): "{0} may be linked for {1}",
    ("antecedent_of", 2): "{0} is in the antecedent of {1}",
    ("association_rule", 1): "{0} is accepted",
    ("authenticated", 1): "a linked database authenticates the role of request {0}",
    ("database", 1): "{0} is a database",
    ("enforce", 2): "{1} asks to {0}",
    ("enforce", 3): "{0} by {2} is enforced on {1}",
    ("first_antecedent", 2): "{0} is the first in the antecedent of {1}",
    ("has_ancestor", 2): "{0} lies below {1}",
    ("has_anonymity", 2): "there is {1}",
    ("has_k", 2): "k of {0} is {1}",
    ("has_linkage_k", 2): "k of linkage {0} is {1}",
    ("has_linkage_qi", 3): "{2} of {1} is a quasi-identifier of linkage {0}",
    ("has_own_k", 1): "{0} has a k",
    ("has_purpose", 2): "request {0} is for {1}",
    ("has_qi", 2): "{1} is a quasi-identifier of {0}",
    ("has_requester", 2): "request {0} comes from {1}",
    ("has_resource", 2): "request {0} asks for linkage {1}",
    ("has_role", 2): "request {0} is made as {1}",
    ("has_tuple", 2): "linkage {0} has {1}",
    ("has_value", 2): "{0} shows {1}",
    ("implies", 2): "{0} leads to {1}",
    ("last_antecedent", 2): "{0} is the last in the antecedent of {1}",
    ("lies_within", 2): "{0} lies within {1}",
    ("link_from", 2): "linkage {0} links {1}",
    ("linkage", 1): "{0} is a linkage",
    ("meets", 2): "{0} tells the whole antecedent of {1}",
    ("meets_up_to", 3): "{0} tells the antecedent of {1} up to {2}",
    ("next_antecedent", 3): "{1} follows {0} in the antecedent of {2}",
    ("purpose", 1): "{0} is a purpose",
    ("purpose_allowed", 2): "{1} may be linked for the purpose of request {0}",
    ("refines", 3): "{1} lets {2} be inferred in {0}",
    ("refuse", 2): "request {0} is refused: {1}",
    ("regarding", 3): "what {1} enforces on {0} regards {2}",
    ("request", 1): "{0} is a request",
    ("restricts_purpose", 1): "{0} may not be linked for every purpose",
    ("role", 1): "{0} is a role",
    ("shows", 2): "{0} shows {1}",
    ("tells", 2): "{0} tells {1}",
    ("without", 1): "not: {0}",
}
"""What an atom says, by its word and number of terms."""
_TERMS = {
    ("anonymity", 1): "the requirement of {0}",
    ("association", 1): "association {0}",
    ("item", 3): "{0} {2}",
    ("tuple", 1): "tuple {0}",
}
"""What a term says."""


def in_words(atom: Any) -> str:
    """An atom as a sentence; as the rules' language writes it where it is a site's own.

    Parameters
    ----------
    atom
        The atom, as clingo's symbol.
    """
    form = _SAID.get((atom.name, len(atom.arguments)))
    if form is None:
        return str(atom)
    return form.format(*map(_term, atom.arguments))


def _term(symbol: Any) -> str:
    if symbol.type.name != "Function":
        return str(plain(symbol))
    form = _TERMS.get((symbol.name, len(symbol.arguments)))
    return in_words(symbol) if form is None else form.format(*map(_term, symbol.arguments))
