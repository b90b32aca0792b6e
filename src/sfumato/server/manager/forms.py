"""The forms of the manager."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from django import forms
from pydantic import ValidationError

from sfumato.core.errors import InputError
from sfumato.review.review_settings import (
    NO_LIMIT,
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
from sfumato.server.accounts.backend import plain_name
from sfumato.server.accounts.forms import Budget
from sfumato.server.accounts.sessions import INVITATION_DAYS
from sfumato.server.config import Role
from sfumato.server.manager import uploads
from sfumato.server.store.models import Account, Dealt, Project


def workers_for(project: Project) -> list[Account]:
    """Those who may get pairs: every worker but the manager, who resolves conflicts."""
    active = Account.objects.filter(is_active=True).exclude(pk=project.manager_id).order_by("name")
    return [each for each in active if each.has_role(Role.WORKER)]


class Workers(forms.ModelMultipleChoiceField):
    """Workers, each with a box to tick."""

    def __init__(self, workers: list[Account], label: str) -> None:
        super().__init__(
            label=label,
            queryset=Account.objects.filter(pk__in=[worker.pk for worker in workers]).order_by(
                "name"
            ),
            to_field_name="pseudonym",
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": "Tick one worker at least."},
        )

    def label_from_instance(self, obj: Account) -> str:
        """The name."""
        return str(obj.name)


class ByName(forms.ModelChoiceField):
    """One account, by its name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(empty_label=None, **kwargs)

    def label_from_instance(self, obj: Account) -> str:
        """The name."""
        return str(obj.name)


class GoldShare(forms.FloatField):
    """The share of gold pairs among all that a worker gets."""

    def __init__(self, help_text: str, **kwargs: Any) -> None:
        super().__init__(
            label="Share of gold pairs",
            min_value=0.0,
            max_value=0.5,
            help_text=help_text,
            widget=forms.NumberInput(attrs={"step": "any"}),
            **kwargs,
        )


class QueueForm(forms.Form):
    """Who takes pairs from the queue, and how many."""

    overlap = forms.IntegerField(
        label="Workers who decide each pair",
        min_value=1,
        max_value=20,
        help_text="With two or more, agreement can be told, and conflicts show.",
    )
    gold_share = GoldShare("Of all pairs that a worker gets; it needs pairs of known truth.")

    def __init__(self, project: Project, pairs: int, data: Any = None) -> None:
        workers = workers_for(project)
        super().__init__(
            data,
            initial={
                "workers": [worker.pseudonym for worker in workers],
                "most": pairs,
                "overlap": project.overlap,
                "gold_share": round(project.gold_share, 4),
            },
        )
        self.fields["workers"] = Workers(workers, "Workers")
        self.fields["most"] = forms.IntegerField(
            label="Pairs that each of them may take",
            min_value=1,
            max_value=pairs,
            help_text="KAPR is a share of these. It is never lowered; raise it where pairs wait.",
        )
        self.order_fields(["workers", "most"])

    def clean(self) -> dict[str, Any]:
        """What was asked for, where there are workers and gold pairs enough."""
        given = super().clean() or {}
        if len(given.get("workers", ())) < given.get("overlap", 0):
            raise forms.ValidationError("Tick as many workers at least as decide each pair.")
        return given


class TakeBackForm(forms.Form):
    """From whom the undecided pairs are taken."""

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data, prefix="back")
        holders = Dealt.objects.filter(project=project, taken_back__isnull=True, answer=0)
        self.fields["worker"] = ByName(
            label="Undecided pairs of",
            queryset=Account.objects.filter(pk__in=holders.values("worker")).order_by("name"),
            to_field_name="pseudonym",
        )


class InviteWorkerForm(forms.Form):
    """An invitation to work on a project."""

    days = forms.IntegerField(
        label="Days for which the link works", min_value=1, max_value=90, initial=INVITATION_DAYS
    )


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
    Floor.REPORT: "it is allowed and reported; KAPR may be above 1",
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
    return [(str(member), str(member)) for member in members]


class AttributeForm(forms.Form):
    """What one column is, and whether it is shown."""

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
        # Without a label beside each, screen readers need the column in its name.
        for field in self.fields.values():
            field.widget.attrs["aria-label"] = f"{field.label}: {proposed.name}"

    def clean(self) -> dict[str, Any]:
        """The attribute; ``None`` where it is left out."""
        given = super().clean() or {}
        given["attribute"] = None
        if not self.errors and given.pop("show"):
            del given["attribute"]
            is_text = given["kind"] == AttributeKind.VARIABLE
            # Only texts have name parts: the form sends one for every column.
            given["name_part"] = (given["name_part"] or None) if is_text else None
            return {"attribute": Attribute(name=self.name, **given)}
        return given


class Title(forms.CharField):
    """What a project is called."""

    def clean(self, value: Any) -> str:
        """The title as it is stored."""
        return plain_name(super().clean(value))


class RulesForm(forms.Form):
    """The title, the custodian, and the rules."""

    title = Title(
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
    policy = forms.ChoiceField(label="What narrows an anonymity set", choices=_words(_POLICY))
    costs = forms.ChoiceField(label="Costs that are shown", choices=_words(_COSTS))
    start = forms.TypedChoiceField(label="Shown at first", choices=_words(_START), coerce=int)
    mask_width = forms.ChoiceField(label="Width of masks", choices=_words(_WIDTH))
    budget = Budget("Budget of each worker (KAPR)")
    project_budget = Budget(
        "Budget of the project (KAPR)",
        f"What all workers together may be shown, as if they told each other; or: {NO_LIMIT}.",
    )
    hints = forms.BooleanField(
        label="Hints: mark the cell that is expected to tell most for its cost", required=False
    )
    page_size = forms.IntegerField(label="Pairs on a page", min_value=1, max_value=50, initial=10)
    overlap = forms.IntegerField(
        label="Workers who decide each pair", min_value=1, max_value=20, initial=2
    )
    gold_share = GoldShare("Of all pairs that a worker gets, from 0 to 0.5.", initial=0.0)
    rare_below = forms.IntegerField(label="Rare: fewer records than", min_value=2)
    common_from = forms.IntegerField(label="Common: as many as", min_value=2)

    def __init__(self, manager: Account, data: Any = None) -> None:
        super().__init__(
            data, initial=PROPOSED.model_dump(mode="json") | {"project_budget": NO_LIMIT}
        )
        custodians = Account.objects.filter(is_active=True)
        # Nobody consents to rules of their own.
        able = [each.pk for each in custodians if each.has_role(Role.CUSTODIAN) and each != manager]
        self.fields["custodian"] = ByName(
            label="Custodian of the data",
            queryset=custodians.filter(pk__in=able).order_by("name"),
            help_text="Nothing is dealt or shown before this person accepts the rules."
            + ("" if able else " There is no custodian but you: have one invited."),
        )
        self.order_fields(["title", "custodian"])

    def clean(self) -> dict[str, Any]:
        """The rules, where they fit together."""
        given = super().clean() or {}
        # A title may be missing while the rules are tried out.
        if set(self.errors) - {"title"}:
            return given
        try:
            given["settings"] = Settings(
                **{name: given[name] for name in Settings.model_fields if name in given}
            )
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            # Never the input: an error is shown and may be logged.
            raise forms.ValidationError(str(first["msg"])) from None
        if given["k"] == 1 and given["k_floor"] == Floor.REFUSE and given["budget"] is None:
            self.add_error("k", "With k of 1 and no budget, nothing is limited. Set one of them.")
        return given


def attributes_of_forms(forms_: Sequence[AttributeForm]) -> tuple[Attribute, ...]:
    """The attributes that are shown, from forms that are valid."""
    given = (form.cleaned_data.get("attribute") for form in forms_)
    return tuple(each for each in given if each is not None)


_GOLD_HELP = (
    "Pairs of known truth, to be mixed in: a CSV with source_l, id_l, source_r, id_r, same."
)


class Csv(forms.FileField):
    """A CSV file; one that may be left out where it has a help text."""

    def __init__(self, label: str, help_text: str = "") -> None:
        super().__init__(
            label=label,
            required=not help_text,
            help_text=help_text,
            widget=forms.FileInput(attrs={"accept": ".csv,text/csv"}),
        )


class Several(forms.ClearableFileInput):
    """A field for several files."""

    allow_multiple_selected = True


class Files(forms.FileField):
    """Several files."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=Several(attrs={"accept": ".parquet,.toml,.json"}), **kwargs)

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        """Each of the files."""
        given = data if isinstance(data, (list, tuple)) else [data]
        return [super(Files, self).clean(each, initial) for each in given]


class LinkageForm(forms.Form):
    """The files of a linkage's folder."""

    files = Files(
        label="Files of the folder",
        help_text=f"Needed: {', '.join(uploads.NEEDED)}. With {', '.join(uploads.TO_LINK)} "
        "besides, the linked file can be written here once the project is closed. You may choose "
        "all files of the folder; the others are not kept.",
        error_messages={"required": "Choose the files that sfumato link wrote."},
    )
    gold = Csv("Gold pairs (optional)", _GOLD_HELP)

    def clean(self) -> dict[str, Any]:
        """The upload, checked file by file."""
        given = super().clean() or {}
        if not self.errors:
            known = {*uploads.NEEDED, *uploads.TO_LINK, *uploads.FURTHER}
            # Files that are not needed are not even read into memory.
            files = {each.name: each.read() for each in given["files"] if each.name in known}
            missing = [name for name in uploads.NEEDED if name not in files]
            if missing:
                raise forms.ValidationError("Missing: " + ", ".join(missing) + ".")
            if given["gold"]:
                files[uploads.GOLD] = given["gold"].read()
            given["upload"] = _checked(uploads.Upload(uploads.LINKAGE, files))
        return given


class TablesForm(forms.Form):
    """Two tables, and the pairs of their records."""

    one = Csv("First table (CSV)")
    name_one = forms.CharField(label="What it is called", max_length=60, initial="first")
    two = Csv("Second table (CSV)")
    name_two = forms.CharField(label="What it is called", max_length=60, initial="second")
    pairs = Csv(
        "Pairs (CSV, optional)",
        "source_l, id_l, source_r, id_r and, if you like, pair. The sources are what the "
        "tables are called above. Without it, the records of one row are a pair.",
    )
    gold = Csv("Gold pairs (CSV, optional)", _GOLD_HELP)
    id_column = forms.CharField(
        label="Column of ids (optional)",
        required=False,
        max_length=120,
        help_text="The header of the column that names each record. Left empty, one is found by "
        "its header, and else rows count from 1.",
    )

    def clean(self) -> dict[str, Any]:
        """The upload, checked file by file."""
        given = super().clean() or {}
        if not self.errors:
            if given["name_one"] == given["name_two"]:
                raise forms.ValidationError("The two tables must have different names.")
            parts = {
                uploads.ONE: "one",
                uploads.TWO: "two",
                uploads.PAIRS: "pairs",
                uploads.GOLD: "gold",
            }
            files = {name: given[key].read() for name, key in parts.items() if given[key]}
            about = {
                uploads.NAME_ONE: given["name_one"],
                uploads.NAME_TWO: given["name_two"],
                uploads.ID_COLUMN: given["id_column"],
            }
            given["upload"] = _checked(uploads.Upload(uploads.TABLES, files, about))
        return given


def _checked(upload: uploads.Upload) -> uploads.Upload:
    try:
        uploads.check_files(upload.files)
    except InputError as error:
        raise forms.ValidationError(str(error)) from None
    return upload
