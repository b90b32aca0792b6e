"""What is raised is what rules 5 to 7 derive."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example as also
from hypothesis import given
from semantics.figures import (
    HIERARCHIES,
    LINKED,
    MANDARIN_IS_CHINESE,
    hospital,
    linkage_levels,
    values,
)
from semantics.made import built, cases
from semantics.policies import example
from semantics.reader import Tree

from sfumato.core.errors import InputError
from sfumato.semantics.associations import Association, Item, State
from sfumato.semantics.policy_terms import Treatment
from sfumato.semantics.rules.derivation import Enforcement, Enforcements, derive
from sfumato.semantics.sla import Enforce, Reader, by_rules, generalise_antecedents, semantic_levels

PAPER = np.array([[1, 1, 1, 0]], dtype=np.int8)


def rules(hierarchies, known, **changed) -> Enforce:
    policy = example(**changed)
    (request,) = policy.requests
    accepted = [replace(one, state=State.ACCEPTED) for one in known]
    return by_rules(
        lambda shown, _: derive(policy, request, shown=shown, associations=accepted).enforcements,
        hierarchies,
    )


TWO = Tree((("l0", "*"), ("l1", "*")))
HIDDEN = ([TWO] * 3, [[(0, 0, 0), (1, 0, 0)]], [[(0, 0, 0)]] * 4, [(0, None, 0)], 2, [(0, 1, 2)])
"""The second value, which the first one tells, is missing, and shown as the root."""


@given(cases())
@also(HIDDEN)
def test_the_rules_ask_for_what_is_done_without_them(case) -> None:
    hierarchies, associations, locals_, _, _, linked = built(case)
    start = linkage_levels(linked, locals_, hierarchies)
    plain = generalise_antecedents(Reader(hierarchies, associations))(linked, start, None)
    derived = rules(hierarchies, associations)(linked, start, None)
    assert np.array_equal(plain.generalise, derived.generalise)
    assert not derived.suppress.any()


def test_figure_2_by_the_rules() -> None:
    local, known = hospital(*HIERARCHIES), [MANDARIN_IS_CHINESE]
    enforce = rules(HIERARCHIES, known)
    got = semantic_levels(LINKED, PAPER, [local], HIERARCHIES, known, 3, enforce=enforce)
    assert values(got.levels[0]) == ("1960-1980", "*", "Asian", "71 Chinese")


class _Said:
    """Rules that always say the same."""

    def __init__(self, measure: Treatment, *items: Item) -> None:
        self.each = Enforcements(np.zeros(1, np.int64), ((Enforcement(measure, 1, items),),))

    def __call__(self, shown, _) -> Enforcements:
        return self.each


def test_what_is_suppressed_goes_to_the_root() -> None:
    local, known = hospital(*HIERARCHIES), [MANDARIN_IS_CHINESE]
    said = _Said(Treatment.SUPPRESS, Item("Language", 0, 0))
    enforce = by_rules(said, HIERARCHIES)
    got = semantic_levels(LINKED, PAPER, [local], HIERARCHIES, known, 3, enforce=enforce)
    assert values(got.levels[0]) == ("1960-1980", "*", "Asian", "*")


def test_rules_that_ask_for_too_little_are_refused() -> None:
    local = hospital(*HIERARCHIES)
    known = [Association((Item("Language", 0, 0),), Item("Ethnicity", 0, 0), 0.3, 0.98)]
    enforce = by_rules(_Said(Treatment.SUPPRESS, Item("Sex", 0, 0)), HIERARCHIES)
    with pytest.raises(InputError, match="the rules"):
        semantic_levels(LINKED, PAPER, [local], HIERARCHIES, known, 3, enforce=enforce)
