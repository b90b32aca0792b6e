"""Rules 1 to 7 alone and together, on facts made by hand; a site's own rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from semantics.policies import complete, example

from sfumato.core.errors import InputError
from sfumato.semantics.rules.derivation import check_rules, derive
from sfumato.semantics.rules.reasoner import Reasoner, house_rules, parse_rules
from sfumato.semantics.rules.rule_facts import quoted

HOUSE = house_rules()


def only(number: int) -> list:
    return [rule for rule in HOUSE if rule.title.startswith(f"Rule {number}.")]


def held(rules: list, facts: str, word: str, terms: int) -> set[str]:
    return {str(atom) for atom in Reasoner(rules, facts).atoms(word, terms)}


def databases(*ks: int) -> str:
    lines = [
        f"database(d{n}). link_from(l,d{n}). has_anonymity(d{n},a{n}). has_k(a{n},{k})."
        for n, k in enumerate(ks)
    ]
    return "linkage(l). " + " ".join(lines)


def test_the_seven_rules_are_there() -> None:
    assert [bool(only(number)) for number in range(1, 8)] == [True] * 7


@pytest.mark.parametrize("ks", [(2, 3, 4), (3,), (2, 2), (4, 2, 4)])
def test_rule_1_alone(ks: tuple[int, ...]) -> None:
    found = held(only(1), databases(*ks), "has_k", 2)
    assert {atom for atom in found if atom.startswith("has_k(l,")} == {f"has_k(l,{k})" for k in ks}


def test_rule_1_takes_no_database_that_is_not_linked() -> None:
    facts = databases(2) + "database(x). has_anonymity(x,ax). has_k(ax,9)."
    assert "has_k(l,9)" not in held(only(1), facts, "has_k", 2)


@pytest.mark.parametrize("ks", [(2, 3, 4), (3,), (2, 2), (4, 2, 4)])
def test_rule_2_alone_is_the_maximum(ks: tuple[int, ...]) -> None:
    facts = "linkage(l). " + " ".join(f"has_k(l,{k})." for k in ks)
    assert held(only(2), facts, "has_linkage_k", 2) == {f"has_linkage_k(l,{max(ks)})"}


def test_rule_2_derives_nothing_without_a_k() -> None:
    assert held(only(2), "linkage(l).", "has_linkage_k", 2) == set()


def test_rule_3_alone() -> None:
    facts = "database(d). has_anonymity(d,a). has_qi(a,sex). has_qi(a,age)."
    found = held(only(3), facts, "has_qi", 2)
    assert {"has_qi(d,sex)", "has_qi(d,age)"} <= found


REQUEST = """
request(r). has_resource(r,l). has_role(r,clinician). linkage(l).
link_from(l,d1). link_from(l,d2). link_from(l,d3).
authenticate(d1,clinician). authenticate(d2,pharmacist). authenticate(d3,clinician).
has_qi(d1,sex). has_qi(d2,language). has_qi(d3,age). has_qi(d4,job). authenticate(d4,clinician).
"""


def test_rule_4_alone_takes_what_the_role_may_read() -> None:
    found = held(only(4), REQUEST, "has_linkage_qi", 3)
    assert found == {"has_linkage_qi(l,d1,sex)", "has_linkage_qi(l,d3,age)"}


def test_rule_5_alone() -> None:
    facts = "linkage(l). has_tuple(l,t). tells(t,mandarin). tells(other,greek)."
    assert held(only(5), facts, "has_value", 2) == {"has_value(l,mandarin)"}


def test_rule_6_alone_carries_the_measure() -> None:
    facts = """
    linkage(l). has_value(l,mandarin). association_rule(ar1). association_rule(ar2).
    antecedent_of(mandarin,ar1). enforce(suppress,ar1).
    antecedent_of(greek,ar2). enforce(generalise,ar2).
    """
    assert held(only(6), facts, "enforce", 3) == {"enforce(suppress,l,ar1)"}


RISKY = """
linkage(l). has_tuple(l,t). enforce(generalise,l,ar). meets(t,ar). implies(ar,chinese).
has_ancestor(chinese,asia). antecedent_of(mandarin,ar). shows(t,mandarin).
"""


def test_rule_7_alone() -> None:
    facts = RISKY + "has_value(t,asia)."
    rules = only(7)
    assert held(rules, facts, "enforce", 3) == {
        "enforce(generalise,l,ar)",
        "enforce(generalise,t,ar)",
    }
    assert held(rules, facts, "regarding", 3) == {"regarding(t,ar,mandarin)"}


@pytest.mark.parametrize("shown", ["chinese", "europe"])
def test_rule_7_leaves_a_tuple_from_which_nothing_more_follows(shown: str) -> None:
    facts = RISKY + f"has_value(t,{shown})."
    assert held(only(7), facts, "regarding", 3) == set()


TOGETHER = """
association_rule(ar). implies(ar,chinese). enforce(generalise,ar).
antecedent_of(mandarin,ar). first_antecedent(mandarin,ar). last_antecedent(mandarin,ar).
has_ancestor(chinese,asia). has_ancestor(mandarin,chinese_languages).
has_tuple(l,t1). has_value(t1,mandarin). has_value(t1,asia).
has_tuple(l,t2). has_value(t2,chinese_languages). has_value(t2,asia).
has_tuple(l,t3). has_value(t3,mandarin). has_value(t3,chinese).
"""


def test_the_rules_together() -> None:
    facts = databases(2, 3, 4) + TOGETHER + REQUEST.replace("linkage(l).", "")
    reasoner = Reasoner(HOUSE, facts)
    assert {str(atom) for atom in reasoner.atoms("has_linkage_k", 2)} == {"has_linkage_k(l,4)"}
    assert {str(atom) for atom in reasoner.atoms("regarding", 3)} == {"regarding(t1,ar,mandarin)"}
    enforced = {str(atom) for atom in reasoner.atoms("enforce", 3)}
    assert enforced == {"enforce(generalise,l,ar)", "enforce(generalise,t1,ar)"}


def test_what_is_inferred_leads_on_and_regards_what_is_shown() -> None:
    facts = (
        databases(2)
        + TOGETHER
        + """
    association_rule(ar2). implies(ar2,beijing). enforce(suppress,ar2).
    antecedent_of(chinese,ar2). first_antecedent(chinese,ar2). last_antecedent(chinese,ar2).
    has_ancestor(beijing,anywhere). has_value(t1,anywhere). has_value(t2,anywhere).
    """
    )
    reasoner = Reasoner(HOUSE, facts)
    assert "enforce(suppress,t1,ar2)" in {str(atom) for atom in reasoner.atoms("enforce", 3)}
    assert {str(atom) for atom in reasoner.atoms("regarding", 3)} == {
        "regarding(t1,ar,mandarin)",
        "regarding(t1,ar2,mandarin)",
    }


def test_the_papers_example() -> None:
    required = derive(example(), "diabetes")
    assert required.k == 3
    assert required.quasi_identifiers == {"Hospital A": ("birth", "sex", "ethnicity")}
    assert required.linkage_qis == ("birth", "sex", "ethnicity")
    assert required.refused == ()
    assert required.require_allowed() == 3


def test_every_requirement_is_explained_down_to_the_facts() -> None:
    k, *qis = derive(example(), "diabetes").explain()
    assert k.atom == 'has_linkage_k("A with B",3)'
    titles = [title for _, _, title in k.rules()]
    assert [title[:6] for title in titles] == ["Rule 2", "Rule 1", "Rule 1"]
    text = "\n".join(k.lines())
    assert dict(re.findall(r"k of .* of (Hospital A|Pharmacy B) is (\d)", text)) == {
        "Hospital A": "3",
        "Pharmacy B": "2",
    }
    assert len(qis) == 3
    for why in qis:
        assert [title[:6] for _, _, title in why.rules()] == ["Rule 4", "Rule 3"]
        assert "Hospital A authenticates role clinician" in "\n".join(why.lines())


SITE = """
% Children's records: at least five.
has_linkage_k(Ln, 5) :- link_from(Ln, "Hospital A").

% Pharmacists' QI counts for clinicians as well.
has_linkage_qi(Ln, Db, Qi) :- has_role(_, "clinician"), link_from(Ln, Db), has_qi(Db, Qi),
    Qi = "language".
"""


def site(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "site.lp"
    path.write_text(text)
    return path


def test_a_sites_rule_changes_a_decision_and_is_named(tmp_path: Path) -> None:
    required = derive(example(rules=(site(tmp_path, SITE),)), "diabetes")
    assert required.k == 5
    assert required.quasi_identifiers["Pharmacy B"] == ("language",)
    why = {each.atom: each for each in required.explain()}
    assert list(why['has_linkage_k("A with B",5)'].rules()) == [
        ("site.lp", 3, "Children's records: at least five.")
    ]
    of_language = why['has_linkage_qi("A with B","Pharmacy B","language")']
    assert ("site.lp", 6, "Pharmacists' QI counts for clinicians as well.") in of_language.rules()


def test_a_site_can_refuse(tmp_path: Path) -> None:
    text = 'refuse(R, "not on Sundays") :- request(R), not has_requester(R, _).'
    required = derive(example(), "diabetes", rules=[site(tmp_path, text)])
    assert required.refused == ("not on Sundays",)
    with pytest.raises(InputError, match="found not on Sundays"):
        required.require_allowed()
    assert ("site.lp", 1, "") in required.explain()[0].rules()
    found = check_rules(complete(), [site(tmp_path, text)])
    assert [str(each) for each in found] == [
        "request 'diabetes': a rule refuses it: not on Sundays."
    ]
    assert check_rules(complete()) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a :- b\nc(.\n", "line 2: syntax error, unexpected <IDENTIFIER>"),
        (
            "\n\nrole(X) :- not database(X).\n",
            "in line 3: a variable that nothing binds, 'X'",
        ),
        ("has_k(L,2) :- linkag(L).", "linkag with 1 terms in line 1; accepted: linkage with 1"),
        ("has_k(L,2) :- linkage(L,L).", "linkage with 2 terms"),
        ("#script (python)\nprint(1)\n#end.", "#script in line 1"),
        ('% fine\n#include "secret.lp".', "#include in line 2"),
        ("has_k(L,@spy()) :- linkage(L).", "@spy in line 1"),
        ("#external linkage(x).", "#external"),
        ("{ has_k(L,9) } :- linkage(L).", "several that can hold"),
        (":- linkage(_).", "a contradiction: none can hold"),
        ('has_linkage_k(L,"many") :- linkage(L).', "whole numbers"),
        ('has_linkage_qi(L,"Hospital A","shoe") :- linkage(L).', "'shoe' of database 'Hospital A'"),
    ],
)
def test_a_file_that_cannot_run_is_refused_quietly(
    tmp_path: Path, text: str, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError) as caught:
        derive(example(), "diabetes", rules=[site(tmp_path, text)])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rules file gone.lp"):
        derive(example(rules=(tmp_path / "gone.lp",)), "diabetes")


def test_rules_with_a_choice_of_facts_that_is_decided(tmp_path: Path) -> None:
    text = """
    strict(L) :- linkage(L), not relaxed(L).
    relaxed(L) :- linkage(L), not strict(L).
    :- relaxed(L).
    has_linkage_k(L, 7) :- strict(L).
    """
    required = derive(example(), "diabetes", rules=[site(tmp_path, text)])
    assert required.k == 7
    assert ("site.lp", 5, "") in required.explain()[0].rules()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"role": "nurse"}, "its role is not in the policy"),
        ({"purpose": "fun"}, "its purpose is not in the policy"),
        ({"purpose": None}, "it does not say for what purpose"),
        ({"linkage": "C"}, "its linkage is not in the policy"),
    ],
)
def test_requests_that_do_not_fit_are_refused_by_rules(
    changed: dict[str, object], words: str
) -> None:
    policy = example()
    asked = policy.requests["diabetes"].model_copy(update=changed)
    policy = policy.model_copy(update={"requests": {"diabetes": asked}})
    required = derive(policy, "diabetes")
    assert words in required.refused
    refusal = required.explain()[0]
    assert next(iter(refusal.rules()))[0] == "requests.lp"


@pytest.mark.parametrize(
    ("name", "changed", "words"),
    [
        ("Hospital A", {"authenticates": ()}, "no linked database authenticates its role"),
        ("Pharmacy B", {"k": None}, "a linked database has no k"),
        ("Pharmacy B", {"purposes": ()}, "a linked database does not allow its purpose"),
        (
            "Hospital A",
            {"quasi_identifiers": {}},
            "a database that authenticates its role has no quasi-identifiers",
        ),
    ],
)
def test_databases_that_do_not_fit_are_refused_by_rules(
    name: str, changed: dict[str, object], words: str
) -> None:
    policy = example()
    database = policy.databases[name].model_copy(update=changed)
    policy = policy.model_copy(update={"databases": {**policy.databases, name: database}})
    assert words in derive(policy, "diabetes").refused


def test_a_request_that_is_not_there_names_one_that_is() -> None:
    with pytest.raises(InputError, match="accepted: diabetes"):
        derive(example(), "diabetis")


def test_odd_names_are_only_names() -> None:
    odd = 'a"). refuse(r,"x\\'
    (rule,) = parse_rules(f"name({quoted(odd)}).", "x.lp")
    (atom,) = Reasoner([rule], "").atoms("name", 1)
    assert atom.arguments[0].string == odd
