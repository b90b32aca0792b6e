"""The first page of a project's report: the verdict, the four intruders, what goes out and to whom.

The rows are those of `sfumato.risk.verdict`: here they are only laid out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.core.measure import ESTIMATED
from sfumato.core.number_text import named, share_text
from sfumato.core.phrases import Figure, Listed, Phrase, Plural, Sentence, listed
from sfumato.release.history_utility import DIVIDED, UNCHANGED
from sfumato.release.lost_columns import nothing_left
from sfumato.reports.audience import Discretion
from sfumato.reports.printed_numbers import SHARE, height, is_small, printed, some
from sfumato.reports.project_results import NOTHING, RELEASE, REMOVED, UNTOLD, ProjectResults
from sfumato.risk.verdict import THE, WHO, State

_WORST = 3
"""Columns that are named, those that lose most."""
RELEASED = Phrase("What is released")
TO_WHOM = Phrase("To whom, and for what")
CHECKED = Phrase("How it was checked")
UNMEASURED = Phrase("What was not measured")
"""What the first page answers."""


def first_page(
    content: dict[str, Any], results: ProjectResults, show: Discretion
) -> dict[str, Any]:
    """The verdict, its rows, and what stands below them."""
    lost = results.measured(RELEASE).get("lost", ())
    hidden = nothing_left({each["column"]: each["hidden"] for each in lost})
    verdict = results.verdict
    answers = {
        RELEASED: _released(content, results),
        TO_WHOM: _to_whom(content),
        CHECKED: _checked(content, results, show),
        UNMEASURED: _not_measured(content, results),
    }
    if verdict is None:
        return {
            "ready": False,
            "state": None,
            "headline": _after(
                hidden, Phrase("Do not release yet: what intruders find was not measured.")
            ),
            "sentences": [],
            "limits": "",
            "people": "",
            "rows": [],
            "helps": [],
            "answers": answers,
        }
    limits = verdict["limits"]
    # The headline has exact shares, the public table below it coarse ones.
    headline = verdict["outline" if show.is_public else "headline"]
    return {
        "ready": verdict["ready"],
        "state": verdict["state"],
        "headline": _after(hidden, headline),
        "sentences": [] if show.is_public else verdict["sentences"][:2],
        "limits": Listed(
            (
                Phrase("Limits: {limits}.", limits=limits_text(limits)),
                Phrase("A row is above if one of its three numbers is."),
            ),
            " ",
        ),
        "people": some(content["changes"]["persons"], "person"),
        "rows": [_row(each, verdict, results, show) for each in verdict["rows"]],
        "helps": [] if show.is_public else list(verdict["next"]),
        "answers": answers,
    }


def _after(first: str, then: str) -> str:
    return Listed((first, then), "") if first else then


def limits_text(limits: Mapping[str, Any]) -> Phrase:
    """Whose limits they are, and what may be found and learned at most."""
    return Phrase(
        "{preset}, at most {found} of people found, {person} for one person, {learned} learned",
        preset=limits["preset"],
        found=share_text(limits["found"]),
        person=share_text(limits["person"]),
        learned=share_text(limits["learned"]),
    )


def _knows(row: Mapping[str, Any], exact: str) -> str:
    """What an intruder knows; of the insider with the column that counts, where one does."""
    match row["intruder"]:
        case "stranger":
            return Phrase("Has a register with everybody’s {exact}.", exact=exact)
        case "acquaintance":
            return Phrase(
                "Knows that the person is in the file, the exact {exact}, and roughly the number "
                "of records (1, 2, 3–4, 5–9, 10–19, …).",
                exact=exact,
            )
        case "recipient":
            return Phrase("An acquaintance who also has every earlier release.")
    said = Phrase(
        "An acquaintance who also knows two values of one column. Each column is tried; the worst "
        "that is not accepted counts"
    )
    if row["state"] == State.ACCEPTED:
        said = Phrase(
            "An acquaintance who also knows two values of one column. Each column is tried; all "
            "above the limit are accepted, and the worst of them counts"
        )
    if "column" not in row:
        return Phrase("{said}.", said=said)
    return Phrase("{said}: {column}.", said=said, column=row["column"])


def _row(
    row: Mapping[str, Any], verdict: Mapping[str, Any], results: ProjectResults, show: Discretion
) -> dict[str, Any]:
    """An intruder: what is known, what is found, and what it comes from."""
    exact = listed(list(results.schema["quasi_identifiers"])) or Phrase("record")
    why = Sentence("{begin}.", begin=row["why"])
    told = {
        "intruder": Sentence("{begin}", begin=WHO[row["intruder"]]),
        "knows": _knows(row, exact),
        "state": row["state"],
        "said": row["said"],
        "found": None,
        "ends": None,
        "person": None,
        "learned": None,
        "notes": [] if show.is_public and "found" in row else [why],
    }
    told["notes"] += [
        accepted_words(each, each["column"] or Phrase("This"), show)
        for each in row.get("accepted", ())
    ]
    if "found" not in row:
        return told
    shares = {"found": row["found"], "person": row["person"], "learned": _learned(row)}
    for name, share in shares.items():
        if share is None:
            continue
        limit = verdict["limits"][name]
        coarse = show.chance if name == "person" else show.mean
        told[name] = (
            printed(coarse(share["value"]), SHARE)
            if show.is_public
            else share_text(share["value"], limit)
        )
    low, high = (
        Figure(share_text(row["found"][end]).removesuffix(" %")) for end in ("low", "high")
    )
    if low != high and not show.is_public:
        told["ends"] = Listed((low, high), " – ")
    return told


def accepted_words(acceptance: Mapping[str, Any], what: str, show: Discretion) -> str:
    """Who answers for something, until when and why."""
    return Phrase(
        "{what} is accepted by {who} until {day}: “{why}”.",
        what=what,
        who=role_of(acceptance["by"], show),
        day=acceptance["until"],
        why=acceptance["because"],
    )


def role_of(by: str, show: Discretion) -> str:
    """Who answers: outside the role alone, which stands before the bracket with the name."""
    if not show.is_public:
        return by
    role, bracket, _ = by.partition("(")
    return role.strip() if bracket and role.strip() else Phrase("a named person")


def _learned(row: Mapping[str, Any]) -> Mapping[str, float] | None:
    """The most that is learned of a sensitive column."""
    every = [each[name] for each in row["learned"] for name in ("beyond", "certain")]
    return max(every, key=lambda each: float(each["high"]), default=None)


def _checked(content: dict[str, Any], results: ProjectResults, show: Discretion) -> list[str]:
    """Promises, attacks and the quality of the linkage, in a line each."""
    request, said = content["request"], list[str]()
    if request is not None:
        said.append(
            Phrase(
                "Every record matches at least {k} people of {databases}, whatever a reader infers "
                "from the accepted associations.",
                k=request["k"],
                databases=listed([each["name"] for each in request["databases"]]),
            )
        )
        said += _request_risks(request)
    elif content["promises"]:
        promises = content["promises"]
        kept = sum(promise["met"] and promise["promised"] for promise in promises)
        said.append(
            _estimated(
                Phrase("Promises: {kept} of {all} kept.", kept=kept, all=len(promises)), promises
            )
        )
    failed = [each for each in content["thresholds"] if not each["met"]]
    if content["thresholds"]:
        whole = len(content["thresholds"])
        met = Phrase("Thresholds: {met} of {all} met.", met=whole - len(failed), all=whole)
        said.append(_estimated(met, content["thresholds"]))
    said.append(_attacked(content["attack"]))
    said += [content["attack"]["most"]] if content["attack"] and content["attack"]["most"] else []
    if content["linkage"] is not None:
        said.append(_wrong_links(content["linkage"]))
        accepted = ((results.verdict or {}).get("linkage") or {}).get("accepted")
        said += [] if accepted is None else [accepted_words(accepted, Phrase("This"), show)]
    review = content["review"]
    if review is not None and review["by"] == "simulated":
        said.append(
            Phrase("A simulated worker answered the doubtful pairs; no person looked at them.")
        )
    return said


def _not_measured(content: dict[str, Any], results: ProjectResults) -> list[str]:
    """What a reader might take for measured; nothing stands for nothing known."""
    attack, linkage = content["attack"], content["linkage"]
    said: list[str] = []
    for row in (results.verdict or {}).get("rows", ()):
        if row["state"] == State.DOES_NOT_APPLY:
            continue
        who = THE[row["intruder"]]
        if "found" not in row:
            said.append(Phrase("What {who} finds and learns.", who=who))
        elif content["sensitive"] and not row.get("learned"):
            said.append(Phrase("What {who} learns of a sensitive value.", who=who))
    if attack is None and not content["request"]:
        said.append(Phrase("What attacks find: none was simulated."))
    if attack is not None and attack["unpredicted"]:
        filled = {"some": attack["unpredicted"], "all": attack["attacks"]}
        said.append(Phrase("Predictions of {some} of {all} attacks.", **filled))
    if linkage is not None and any(each["released"] is None for each in linkage["quality"]):
        said.append(Phrase("The quality of the linkage."))
    if content["estimated"] is None:
        said.append(Phrase("The population behind the data."))
    if not content["membership"]:
        said.append(Phrase("How surely it can be learned who is in the file."))
    other = Phrase("What intruders find with other knowledge, or by attacks that were not tried.")
    return [*said, other]


def _estimated(said: Phrase, limits: list[dict[str, Any]]) -> str:
    """How many limits are kept, and which of them only by an estimate of the population."""
    found = [limit for limit in limits if limit["met"] and not limit["promised"]]
    names = tuple(dict.fromkeys(each.get("name") or each["measure"] for each in found))
    if not found:
        return said
    told = Sentence("{how}: {limits}.", how=ESTIMATED, limits=listed(names))
    return Listed((said, told), " ")


def _attacked(attack: Mapping[str, Any] | None) -> str:
    """How many simulated attacks there were, and whether one beat its prediction."""
    return Phrase("No attack was simulated.") if attack is None else attack["sentence"]


def _released(content: dict[str, Any], results: ProjectResults) -> list[str]:
    changes, schema = content["changes"], results.schema
    sources = content["sources"]["sources"]
    filled = {
        "records": some(changes["records"], "record"),
        "people": some(changes["persons"], "person"),
    }
    file = Phrase("A file of {records} about {people}.", **filled)
    if len(sources) > 1:
        file = Phrase(
            "A file of {records} about {people}, linked from {n} sources.",
            n=len(sources),
            **filled,
        )
    said: list[str] = [file]
    quasi = list(schema["quasi_identifiers"])
    if quasi:
        coarser = Phrase(
            "Made coarser: {columns}, which others may know of a person.", columns=named(quasi)
        )
        said.append(coarser)
    others = [*schema["sensitive"], *schema["insensitive"]]
    done = {each["name"]: each["done"] for each in content["variables"]}
    ways: dict[str, list[str]] = {}
    for name in others:
        ways.setdefault(done[name], []).append(name)
    for how, names in ways.items():
        columns = named(names)
        if how == UNCHANGED:
            said.append(Phrase("As in the original: {columns}.", columns=columns))
        elif how == NOTHING:
            said.append(Phrase("Without any value: {columns}.", columns=columns))
        elif how == UNTOLD:
            said.append(Phrase("Not measured how cells are written: {columns}.", columns=columns))
        elif how != REMOVED:
            changed = Phrase(
                "Changed, as an intruder may know it: {columns} ({how}).", columns=columns, how=how
            )
            said.append(changed)
    removed = [name for name, how in done.items() if how == REMOVED]
    if removed:  # the table of columns names them all
        said.append(Phrase("Removed: {columns}.", columns=named(removed)))
    if schema["person"] and schema["person"] not in removed:
        said.append(
            Phrase(
                "A person has one pseudonym or several, which do not say that they are one "
                "person’s."
            )
            if done[schema["person"]] == DIVIDED
            else Phrase("A pseudonym says which records are of one person.")
        )
    out = changes["suppressed_records"]
    if out is not None:
        said.append(Phrase("No record was left out.") if out == 0 else _left_out(out))
    return [*said, *_lost(changes)]


def lost_most(changes: Mapping[str, Any]) -> str:
    """The quasi-identifiers that lose most, with what they lose."""
    worst = sorted(changes["columns"], key=lambda each: height(each["ncp"]), reverse=True)
    shown = [(each["name"], printed(each["ncp"], SHARE)) for each in worst[:_WORST] if each["ncp"]]
    return listed([Listed(each, " ") for each in shown])


def _lost(changes: Mapping[str, Any]) -> Iterator[str]:
    """What the release costs, and in which quasi-identifiers most."""
    if changes["detail_lost"] is None:
        return
    filled = {name: printed(changes[name], SHARE) for name in ("detail_lost", "ncp")}
    if columns := lost_most(changes):
        yield Phrase(
            "Detail lost: {detail_lost}; in quasi-identifiers alone {ncp}, most in {columns}.",
            columns=columns,
            **filled,
        )
    else:
        yield Phrase("Detail lost: {detail_lost}; in quasi-identifiers alone {ncp}.", **filled)


def _left_out(out: Any) -> str:
    records = Sentence("{begin}", begin=some(out, "record"))
    return Plural(
        "{records} was left out.",
        "{records} were left out.",
        1 if out == 1 else 2,
        records=records,
    )


def _to_whom(content: dict[str, Any]) -> list[str]:
    context, request = content["context"], content["request"]
    said: list[str] = []
    # What the project file says may end with a full stop already.
    own = {name: (text or "").removesuffix(".") for name, text in context.items()}
    if own["recipients"]:
        said.append(Phrase("To {recipients}.", recipients=own["recipients"]))
    if request is not None:
        asked = Phrase(
            "{who} asked as {role}, for {purpose}.",
            who=request["requester"] or Phrase("A requester without a name"),
            role=request["role"],
            purpose=request["purpose"] or Phrase("any purpose"),
        )
        said.append(asked)
    if not said:
        unsaid = Phrase(
            "The project file does not say who gets it; the one who signs has to add it."
        )
        said.append(unsaid)
    if own["purpose"]:
        said.append(Phrase("For {purpose}.", purpose=own["purpose"]))
    elif request is None:
        said.append(Phrase("The project file does not say for what."))
    if own["controls"]:
        said.append(Phrase("Controls: {controls}.", controls=own["controls"]))
    else:
        said.append(Phrase("No controls are stated. The limits for a public release apply."))
    return said


def _wrong_links(linkage: dict[str, Any]) -> str:
    by = {each["name"]: each["released"] for each in linkage["quality"]}
    if by["precision"] is None or by["recall"] is None:
        return Phrase(
            "How many records of different people are joined, or of one person left apart, was not "
            "measured."
        )
    return Phrase(
        "Records of different people may be joined, or of one person left apart. {precision} of "
        "the links in the release are right, and {recall} of those that should be there are found "
        "(estimated after review).",
        precision=printed(by["precision"], SHARE),
        recall=printed(by["recall"], SHARE),
    )


def _request_risks(request: dict[str, Any]) -> list[str]:
    risk, left = printed(request["risk"], SHARE), request["associations_open"]
    said: list[str] = [
        Phrase(
            "Averaged over the linked people, a reader finds a person with a chance of {risk}.",
            risk=risk,
        )
    ]
    if request["exposed"] and not is_small(request["exposed"]):
        exposed = Phrase(
            "Earlier releases alone leave {people} below k; this one does not make it worse.",
            people=some(request["exposed"], "person"),
        )
        said.append(exposed)
    if left:
        waiting = Plural(
            "{n} association waits for a decision although a reader could infer from it: nothing "
            "is promised against that.",
            "{n} associations wait for a decision although a reader could infer from them: nothing "
            "is promised against that.",
            left,
            n=left,
        )
        said.append(waiting)
    return said
