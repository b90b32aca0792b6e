"""The PKDD'99 bank data as published: read, joined, refused."""

from __future__ import annotations

import csv
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from studies.kartal_li.data_sets import BANK, bank_records
from studies.kartal_li.tree_measurement import encode

from sfumato.core.errors import InputError

HEADS = {
    "district.asc": ";".join(f'"A{index}"' for index in range(1, 17)),
    "client.asc": '"client_id";"birth_number";"district_id"',
    "account.asc": '"account_id";"district_id";"frequency";"date"',
    "disp.asc": '"disp_id";"client_id";"account_id";"type"',
    "trans.asc": (
        '"trans_id";"account_id";"date";"type";"operation";"amount";"balance";"k_symbol";'
        '"bank";"account"'
    ),
}
LINES = {
    "district.asc": [
        '1;"Hl.m. Praha";"Prague";1204953;0;0;0;1;1;100.0;12541;0.29;0.43;167;85677;99107',
        '18;"Pisek";"south Bohemia";70699;60;13;2;1;4;65.3;8968;2.8;3.35;131;1740;1910',
        '69;"Jesenik";"north Moravia";42821;4;13;5;1;3;48.4;?;?;7.01;124;?;1358',
    ],
    "client.asc": ['1;"706213";18', '2;"450204";1', '3;"190922";69'],
    "account.asc": [
        '1;18;"POPLATEK MESICNE";950324',
        '2;1;"POPLATEK TYDNE";930226',
        '3;69;"POPLATEK MESICNE";970707',
    ],
    "disp.asc": ['1;1;1;"OWNER"', '2;2;2;"OWNER"', '3;1;2;"DISPONENT"', '4;3;3;"OWNER"'],
    "trans.asc": [
        '1;2;930226;"PRIJEM";"VKLAD";700.00;700.00;"";;',
        '2;1;950413;"PRIJEM";"PREVOD Z UCTU";3679.00;4679.00;"";"AB";"41403269"',
        '3;2;980131;"VYDAJ";"PREVOD NA UCET";7250.00;9.00;"SIPO";"ST";"89597016"',
        '4;2;980228;"VYDAJ";"PREVOD NA UCET";49.90;9.00;"UVER";"ST";"89597016"',
        '5;3;980131;"VYDAJ";"PREVOD NA UCET";100.00;9.00;"SIPO";"QR";"1"',
        '6;2;980131;"VYDAJ";"VYBER";100.00;9.00;" ";"";""',
    ],
}


def write(folder: Path, **changed: list[str]) -> None:
    for name, lines in LINES.items():
        content = [HEADS[name], *changed.get(name.removesuffix(".asc"), lines)]
        (folder / name).write_bytes(("\r\n".join(content) + "\r\n").encode())


def test_dates_salaries_and_amounts(tmp_path: Path) -> None:
    """A woman's month is 50 later; no bank, no salary: dropped; a disponent is no owner."""
    write(tmp_path)
    woman = {"client": 1, "born": date(1970, 12, 13), "salary": 8968.0}
    man = {"client": 2, "born": date(1945, 2, 4), "salary": 12541.0, "opened": date(1993, 2, 26)}
    assert bank_records(tmp_path).to_pylist() == [
        woman | {"opened": date(1995, 3, 24), "moved": "1995-04 3700"},
        man | {"moved": "1998-01 7300"},
        man | {"moved": "1998-02 0"},
    ]


def read(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / name).open(newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def as_date(text: str) -> date:
    year, month, day = int(text[:2]), int(text[2:4]), int(text[4:])
    return date(1900 + year, month - 50 * (month > 50), day)


def test_it_joins_as_a_reader_in_plain_python_does(bank: Path) -> None:
    salary = {each["A1"]: each["A11"] for each in read(bank, "district.asc")}
    clients = {each["client_id"]: each for each in read(bank, "client.asc")}
    opened = {each["account_id"]: as_date(each["date"]) for each in read(bank, "account.asc")}
    owner = {
        each["account_id"]: clients[each["client_id"]]
        for each in read(bank, "disp.asc")
        if each["type"] == "OWNER"
    }
    expected = []
    for each in read(bank, "trans.asc"):
        client = owner[each["account_id"]]
        pay = salary[client["district_id"]]
        if not each["bank"] or pay == "?":
            continue
        hundreds = (Decimal(each["amount"]) / 100).quantize(Decimal(1), ROUND_HALF_UP)
        moved = f"{as_date(each['date']):%Y-%m} {100 * int(hundreds)}"
        expected.append(
            (
                int(client["client_id"]),
                as_date(client["birth_number"]),
                float(pay),
                opened[each["account_id"]],
                moved,
            )
        )
    found = bank_records(bank)
    assert [tuple(each.values()) for each in found.to_pylist()] == expected
    assert 0 < found.num_rows < len(read(bank, "trans.asc"))
    kinds = [str(identifier.kind) for identifier in encode(found, BANK).table.quasi_identifiers]
    assert kinds == ["numeric"] * 3


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"client": ['1;"709913";18']}, r"'birth_number' of file client\.asc .* dates .* row 1"),
        ({"client": ['1;"700230";18']}, r"'birth_number' of file client\.asc .* dates .* row 1"),
        ({"client": ['1;"canary";18']}, r"'birth_number' of file client\.asc .* row 1"),
        ({"client": ['1;"706213";18'] * 2}, r"'client_id' of file client\.asc must name each"),
        ({"client": ['1;"706213"']}, r"file client\.asc .* another number of cells in row 1"),
        ({"client": []}, r"file client\.asc must have records"),
        ({"account": ["1;18;x;950332"]}, r"'date' of file account\.asc .* row 1"),
        ({"account": ["1;18;x;950324"] * 2}, r"'account_id' of file account\.asc must name"),
        ({"disp": ['1;1;1;"OWNER"', '2;2;1;"OWNER"']}, r"'account_id' of file disp\.asc"),
        ({"disp": ['1;canary;1;"OWNER"']}, r"'client_id' of file disp\.asc .* row 1"),
        ({"trans": ["1;1;980101;a;b;canary;0;;AB;1"]}, r"'amount' of file trans\.asc .* row 1"),
        ({"trans": ["1;1;980001;a;b;1.00;0;;AB;1"]}, r"'date' of file trans\.asc .* row 1"),
        ({"district": ["1" + ";canary" * 15]}, r"'A11' of file district\.asc .* row 1"),
    ],
)
def test_what_is_malformed_is_named_without_its_value(
    tmp_path: Path, changed: dict[str, list[str]], said: str
) -> None:
    write(tmp_path, **changed)
    with pytest.raises(InputError, match=said) as caught:
        bank_records(tmp_path)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("name", BANK.files)
def test_a_missing_column_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    text = (tmp_path / name).read_text()
    (tmp_path / name).write_text(text.replace("_id", "_number").replace("A1", "B1"))
    with pytest.raises(InputError, match=rf"file {name} must have the columns as published"):
        bank_records(tmp_path)
