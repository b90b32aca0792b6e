"""The bank data of Section 6: the financial data of the PKDD'99 Discovery Challenge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.schema import Schema
from sfumato.studies.kartal_li.data.data_set import DataSet, Numbers, Size
from sfumato.studies.kartal_li.data.delimited import (
    dates,
    decimals,
    once_each,
    read_delimited,
    whole_numbers,
)

CLIENTS, ACCOUNTS, OWNERS = "client.asc", "account.asc", "disp.asc"
TRANSACTIONS, DISTRICTS = "trans.asc", "district.asc"
SALARY = "A11"
"""The column of the average salary of a district."""
OWNER, UNKNOWN = "OWNER", "?"
WOMEN_LATER = 50
"""Birth numbers add it to the months of women."""
SCHEMA = Schema(
    person="client",
    quasi_identifiers={"born": "numeric", "salary": "numeric", "opened": "numeric"},
    sensitive="moved",
)
"""Date of birth, salary level, account open date; the amount and its month are sensitive."""


def bank_records(folder: Path) -> pa.Table:
    """The transactions with the owners of their accounts, as Section 6 joins them.

    The salary level of a client is the average salary of the client's district. Transactions
    without a partner bank miss a value and are removed, as are those of clients whose district
    has no salary. The amount, rounded to the nearest hundred (halves up), and the month of the
    transaction together are one sensitive value, ``moved``. The order is that of the transactions.

    Parameters
    ----------
    folder
        The folder that holds ``client.asc``, ``account.asc``, ``disp.asc``, ``trans.asc`` and
        ``district.asc``, separated by ``;``, text in double quotes.

    Raises
    ------
    InputError
        If a file cannot be read or does not hold what it should.
    """
    moved = _transactions(folder)
    people = _owners(folder).join(_clients(folder), "client", join_type="inner")
    people = people.join(_salaries(folder), "district", join_type="inner")
    people = people.join(_accounts(folder), "account", join_type="inner")
    joined = moved.join(people, "account", join_type="inner").sort_by("place")
    return joined.select(["client", "born", "salary", "opened", "moved"])


def _read(folder: Path, name: str, columns: Sequence[str]) -> pa.Table:
    return read_delimited(folder / name, columns, delimiter=";")


def _transactions(folder: Path) -> pa.Table:
    table = _read(folder, TRANSACTIONS, ("account_id", "date", "amount", "bank"))
    amount = decimals(table, "amount", TRANSACTIONS)
    hundreds = (np.floor(amount / 100 + 0.5) * 100).astype(np.int64)
    month = pc.strftime(dates(table, "date", TRANSACTIONS), "%Y-%m")
    moved = pa.table(
        {
            "account": whole_numbers(table, "account_id", TRANSACTIONS),
            "moved": pc.binary_join_element_wise(month, pa.array(hundreds).cast(pa.string()), " "),
            "place": pa.array(range(table.num_rows)),
        }
    )
    return moved.filter(pc.not_equal(table.column("bank"), ""))


def _owners(folder: Path) -> pa.Table:
    table = _read(folder, OWNERS, ("client_id", "account_id", "type"))
    owns = pc.equal(table.column("type"), OWNER).to_numpy()
    account = whole_numbers(table, "account_id", OWNERS)[owns]
    once_each(account, "account_id", f"{OWNERS} (type {OWNER})")
    client = whole_numbers(table, "client_id", OWNERS)[owns]
    return pa.table({"account": account, "client": client})


def _clients(folder: Path) -> pa.Table:
    table = _read(folder, CLIENTS, ("client_id", "birth_number", "district_id"))
    client = whole_numbers(table, "client_id", CLIENTS)
    once_each(client, "client_id", CLIENTS)
    return pa.table(
        {
            "client": client,
            "born": dates(table, "birth_number", CLIENTS, women_later=WOMEN_LATER),
            "district": whole_numbers(table, "district_id", CLIENTS),
        }
    )


def _salaries(folder: Path) -> pa.Table:
    table = _read(folder, DISTRICTS, ("A1", SALARY))
    district = whole_numbers(table, "A1", DISTRICTS)
    once_each(district, "A1", DISTRICTS)
    salary = decimals(table, SALARY, DISTRICTS, missing=UNKNOWN)
    known = ~np.isnan(salary)
    return pa.table({"district": district[known], "salary": salary[known]})


def _accounts(folder: Path) -> pa.Table:
    table = _read(folder, ACCOUNTS, ("account_id", "date"))
    account = whole_numbers(table, "account_id", ACCOUNTS)
    once_each(account, "account_id", ACCOUNTS)
    return pa.table({"account": account, "opened": dates(table, "date", ACCOUNTS)})


BANK = DataSet(
    key="bank",
    source="PKDD'99 Discovery Challenge, financial data",
    files=(CLIENTS, ACCOUNTS, OWNERS, TRANSACTIONS, DISTRICTS),
    folders=(".", "pkdd99", "pkdd", "berka", "data_berka", "pkdd99/data_berka"),
    read=bank_records,
    schema=SCHEMA,
    persons="clients",
    selection=(
        "Transactions that name a partner bank, with the owners of their accounts; date of birth, "
        "average salary of the client's district and account open date are numeric; the amount, "
        "rounded to the nearest hundred, with the month is sensitive."
    ),
    remark=(
        "The paper neither says which missing values it removed nor what a period is: the "
        "transactions with a partner bank and the month are what comes nearest to its words."
    ),
    numbers=Numbers(9, 12, 15, 18),
    published=Size(273_508, 3_674),
)
"""What the study knows of it."""
