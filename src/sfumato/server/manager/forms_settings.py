"""The forms with which a manager says what is shown, and by which rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from django import forms
from pydantic import ValidationError

from sfumato.review.review_settings import (
    PROPOSED,
    Attribute,
    AttributeKind,
    Costs,
    DateOrder,
    Floor,
    MaskWidth,
    Mode,
    NamePart,
    Policy,
    Settings,
)
from sfumato.server.store.models import Account, Role

MOST_SHOWN = 16
"""Most attributes of a project: as many as stand beside each other on a page."""
_START = {
    Mode.MASKED: "masked: nothing is shown",
    Mode.PARTIAL: "partly: the characters that differ",
    Mode.FULL: "in full: everything",
}
_POLICY = {
    Policy.CONSISTENT: "all that the worker has seen of a record counts",
    Policy.PAPER: "each row counts for itself, as in the literature",
}
_FLOOR = {
    Floor.REFUSE: "an opening is refused where fewer than k could be left",
    Floor.REPORT: "it is allowed and reported; KAPR may exceed 1",
}
_COSTS = {
    Costs.BOUND: "the most that it can cost: tells nothing of what is hidden",
    Costs.EXACT: "exactly, as in the literature: tells how frequent the hidden value is",
}
_WIDTH = {
    MaskWidth.TRUE: "as wide as the value: lengths and places of edits show",
    MaskWidth.FIXED: "always as wide",
}


def _words(words: Any) -> list[tuple[Any, str]]:
    return [(int(key) if isinstance(key, Mode) else str(key), said) for key, said in words.items()]


def _named(members: Iterable[StrEnum]) -> list[tuple[str, str]]:
    return [(str(each), str(each)) for each in members]


class Percent(forms.FloatField):
    """A share of KAPR; empty for no limit."""

    def __init__(self, label: str, help_text: str) -> None:
        super().__init__(
            label=label,
            min_value=0.0,
            max_value=1.0,
            required=False,
            help_text=help_text,
            widget=forms.NumberInput(attrs={"step": "any"}),
        )


class AttributeForm(forms.Form):
    """What one column is, and whether it is shown.

    Parameters
    ----------
    proposed
        What it seems to be.
    shown
        Whether it is proposed to be shown.
    data
        What was entered.
    number
        Its place among the columns.
    """

    show = forms.BooleanField(label="Shown", required=False)
    kind = forms.ChoiceField(label="Kind", choices=_named(AttributeKind))
    name_part = forms.ChoiceField(
        label="Name part", choices=[("", "none"), *_named(NamePart)], required=False
    )
    date_order = forms.ChoiceField(label="Order of dates", choices=_named(DateOrder))
    rarity = forms.BooleanField(label="Rarity shows", required=False)
    case_sensitive = forms.BooleanField(label="Case counts", required=False)
    accent_sensitive = forms.BooleanField(label="Accents count", required=False)

    def __init__(self, proposed: Attribute, *, shown: bool, data: Any, number: int) -> None:
        fields = proposed.model_dump(mode="json", exclude={"name"})
        initial = {**fields, "name_part": fields["name_part"] or "", "show": shown}
        super().__init__(data, prefix=f"a{number}", initial=initial)
        self.name = proposed.name
        for field in self.fields.values():
            field.widget.attrs["aria-label"] = f"{field.label}: {proposed.name}"

    def clean(self) -> dict[str, Any]:
        """The attribute; ``None`` where it is left out."""
        given = super().clean() or {}
        given["attribute"] = None
        if not self.errors and given.pop("show"):
            del given["attribute"]
            is_text = given["kind"] == AttributeKind.VARIABLE
            given["name_part"] = (given["name_part"] or None) if is_text else None
            return {"attribute": Attribute(name=self.name, **given)}
        return given


class RulesForm(forms.Form):
    """The title, the custodian, and the rules.

    Parameters
    ----------
    manager
        Who creates the project.
    data
        What was entered.
    """

    title = forms.CharField(
        label="Title",
        max_length=200,
        help_text="Workers and the custodian see it. No name of a person.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    k = forms.IntegerField(
        label="k: the minimum allowed anonymity-set size",
        min_value=1,
        max_value=1_000_000,
        help_text="Records that a row must be left with that look like its own. From 2 on, a cell "
        "stays closed where one of the values that it could hold is rarer, as nearly all names "
        "are. With 1, the budget is the limit.",
    )
    k_floor = forms.ChoiceField(label="Where fewer could be left", choices=_words(_FLOOR))
    policy = forms.ChoiceField(
        label="What narrows an anonymity set",
        choices=_words(_POLICY),
    )
    costs = forms.ChoiceField(label="Costs that are shown", choices=_words(_COSTS))
    start = forms.TypedChoiceField(label="Shown at first", choices=_words(_START), coerce=int)
    mask_width = forms.ChoiceField(label="Width of masks", choices=_words(_WIDTH))
    budget = Percent("Budget of each worker (KAPR)", "From 0 to 1; empty for no limit.")
    project_budget = Percent(
        "Budget of the project (KAPR)",
        "What all workers together may be shown, as if they told each other; empty for no limit.",
    )
    hints = forms.BooleanField(
        label="Hints: mark the cell that is expected to tell most for its cost", required=False
    )
    page_size = forms.IntegerField(label="Pairs on a page", min_value=1, max_value=50, initial=10)
    overlap = forms.IntegerField(
        label="Workers who decide each pair", min_value=1, max_value=20, initial=2
    )
    gold_share = forms.FloatField(
        label="Share of gold pairs",
        min_value=0.0,
        max_value=0.5,
        initial=0.0,
        help_text="Of all pairs that a worker gets, from 0 to 0.5.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    rare_below = forms.IntegerField(label="Rare: fewer records than", min_value=2)
    common_from = forms.IntegerField(label="Common: as many as", min_value=2)

    def __init__(self, manager: Account, data: Any = None) -> None:
        super().__init__(data, initial=PROPOSED.model_dump(mode="json"))
        custodians = Account.objects.filter(is_active=True)
        able = [each.pk for each in custodians if each.has_role(Role.CUSTODIAN)]
        others = [key for key in able if key != manager.pk]
        self.fields["custodian"] = forms.ModelChoiceField(
            label="Custodian of the data",
            queryset=custodians.filter(pk__in=others or able).order_by("name"),
            empty_label=None,
            help_text="Grants more than these rules, lowers k, allows identity exports. "
            + (
                "Nobody grants anything to a project that they manage, so it is somebody else."
                if others
                else "There is no other custodian than you: nothing can be granted to a project "
                "that one manages oneself. Invite a custodian to have one."
            ),
        )
        self.fields["custodian"].label_from_instance = lambda account: account.name
        self.order_fields(["title", "custodian"])

    def clean(self) -> dict[str, Any]:
        """The rules, where they fit together.

        Raises
        ------
        ValidationError
            If they do not.
        """
        given = super().clean() or {}
        if set(self.errors) - {"title"}:
            return given
        try:
            given["settings"] = Settings(
                **{name: given[name] for name in Settings.model_fields if name in given}
            )
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            raise forms.ValidationError(str(first["msg"])) from None
        if given["k"] == 1 and given["k_floor"] == Floor.REFUSE and given["budget"] is None:
            self.add_error("k", "With k of 1 and no budget, nothing is limited. Set one of them.")
        return given


def attributes_of_forms(forms_: Sequence[AttributeForm]) -> tuple[Attribute, ...]:
    """The attributes that are shown, from forms that are valid.

    Parameters
    ----------
    forms_
        The forms.
    """
    given = (each.cleaned_data.get("attribute") for each in forms_)
    return tuple(each for each in given if each is not None)
