"""The three data sets of Section 6, read and joined from their files as they were published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.schema import Schema
from sfumato.table.table_files import open_source
from studies import study_files
from studies.kartal_li.published_numbers import VALUE_RISKS


class Numbers(NamedTuple):
    """The numbers of the paper's tables about one data set."""

    record_risks: int
    record_losses: int
    value_risks: int
    value_losses: int


class Size(NamedTuple):
    """How many records and persons the paper had (Section 6)."""

    records: int
    persons: int


@dataclass(frozen=True)
class DataSet:
    """What the study knows of a data set before it reads it.

    Attributes
    ----------
    key
        How the paper calls it: patient, movie or bank.
    files
        Names of its files, as published.
    folders
        Where they may lie, relative to the data folder.
    read
        Reads and joins them, from the folder that holds them.
    schema
        What the columns of the joined records are.
    persons
        What a person is called.
    selection
        How the records were selected, as a sentence.
    remark
        What else to know when comparing; may be empty.
    numbers
        The numbers of its tables.
    published
        The paper's numbers of records and persons.
    common
        A value that a larger share of the persons has is left out in a second reading of the
        sensitive attribute; ``None`` for no second reading.
    targets
        MaxGSAR in percent at which that attribute, as it stands, is compared beyond the paper.
    """

    key: str
    source: str
    files: tuple[str, ...]
    folders: tuple[str, ...]
    read: Callable[[Path], pa.Table]
    schema: Schema
    persons: str
    selection: str
    remark: str
    numbers: Numbers
    published: Size
    common: float | None = None
    targets: tuple[int, ...] = ()


CONDITIONS, DEMOGRAPHICS = "conditions_2005.parquet", "demographics_2005.parquet"
PATIENT, CODE, EDUCATION = "DUPERSID", "ICD9CODX", "EDUCYEAR"
PATIENT_SCHEMA = Schema(
    person=PATIENT,
    quasi_identifiers=dict.fromkeys(("DOBYY", EDUCATION, "income"), "numeric")
    | {"poverty": "ordered"},
    sensitive=CODE,
)
"""Year of birth, years of education, income, poverty level; the ICD-9 code is sensitive."""


def patient_records(folder: Path) -> pa.Table:
    """The patients' conditions with their demographics, as Section 6 joins them.

    Joined on the patient; records without a valid ICD-9 code or with unknown education (codes
    below 0 mean missing) are dropped. The order is that of the conditions.

    Parameters
    ----------
    folder
        The folder that holds ``conditions_2005.parquet`` and ``demographics_2005.parquet``.

    Raises
    ------
    InputError
        If a file is missing or damaged, lacks a column, or does not hold what it should.
    """
    conditions = _read_parquet(folder, CONDITIONS, (PATIENT, CODE))
    demographics = _read_parquet(folder, DEMOGRAPHICS, (PATIENT, *PATIENT_SCHEMA.quasi_identifiers))
    patients = demographics.column(PATIENT)
    if pc.count_distinct(patients, mode="all").as_py() < demographics.num_rows:
        raise InputError(
            f"column '{PATIENT}' of file {DEMOGRAPHICS}",
            "must name each patient once",
            found="a patient in several rows",
        )
    numbered = conditions.append_column("place", pa.array(range(conditions.num_rows)))
    try:
        joined = numbered.join(demographics, PATIENT, join_type="inner").sort_by("place")
        valid = pc.and_(
            pc.invert(pc.starts_with(pc.utf8_ltrim_whitespace(joined.column(CODE)), "-")),
            pc.greater_equal(joined.column(EDUCATION), 0),
        )
    except pa.ArrowException:
        raise InputError(
            f"files {CONDITIONS} and {DEMOGRAPHICS}",
            f"must hold '{PATIENT}' of one type, '{CODE}' as text and '{EDUCATION}' as numbers",
        ) from None
    return joined.filter(valid).drop_columns(["place"])


def _read_parquet(folder: Path, name: str, columns: Sequence[str]) -> pa.Table:
    batches = open_source(folder / name).batches(columns)
    return pa.Table.from_batches(list(batches))


PATIENT_DATA = DataSet(
    key="patient",
    source="INFORMS Data Mining Contest 2008, year 2005",
    files=(CONDITIONS, DEMOGRAPHICS),
    folders=("informs", "."),
    read=patient_records,
    schema=PATIENT_SCHEMA,
    persons="patients",
    selection=(
        "Conditions with their patients' demographics, with a valid ICD-9 code and known "
        "education; year of birth, education and income are numeric, poverty is ordered, the "
        "ICD-9 code is sensitive."
    ),
    remark=(
        "The paper does not describe its selection fully, so that its numbers are near, not equal. "
        "In four other orders of persons' ties MaxGIDR moved by up to 16 points for k, 10 for K "
        "and 1 for g, AvgGIDR by up to 0.4."
    ),
    numbers=Numbers(7, 10, 13, 16),
    published=Size(117_307, 29_531),
    common=VALUE_RISKS["patient"]["h"][0.5, 0.05].largest / 100,
    targets=(50, 40, 30, 25),
)
"""What the study knows of it. No value can be more common than MaxGSAR (Lemma 1)."""


RATINGS, USERS = "u.data", "u.user"
RATING_COLUMNS = ("user", "item", "rating", "timestamp")
USER_COLUMNS = ("user", "age", "gender", "occupation", "zip")
MOVIE_SCHEMA = Schema(
    person="user",
    quasi_identifiers={"age": "numeric", "gender": "categorical", "zip": "numeric"},
    sensitive="seen",
)
"""Age, gender and ZIP code; the movie with its rating and day is sensitive."""
ZIP = r"^(?P<code>\d{5})(?:-\d{4})?$"
"""A ZIP code, with or without the four more digits of ZIP+4."""


def movie_records(folder: Path) -> pa.Table:
    """The ratings with their users, as Section 6 joins them.

    The movie, its rating and the day of the rating (in UTC) together are one sensitive value,
    ``seen``: the paper says "month/year", but prints what comes from the day. A ZIP code is the
    number of its first five digits; one that has letters, or not as many digits, is missing. The
    order is that of the ratings.

    Parameters
    ----------
    folder
        The folder that holds ``u.data`` (user, item, rating, timestamp, tab-separated) and
        ``u.user`` (user, age, gender, occupation, ZIP, separated by ``|``).

    Raises
    ------
    InputError
        If a file cannot be read or does not hold what it should.
    """
    ratings = study_files.read_delimited(
        folder / RATINGS, RATING_COLUMNS, delimiter="\t", names=RATING_COLUMNS
    )
    users = study_files.read_delimited(
        folder / USERS, ("user", "age", "gender", "zip"), delimiter="|", names=USER_COLUMNS
    )
    user = study_files.whole_numbers(users, "user", USERS)
    study_files.once_each(user, "user", USERS)
    people = pa.table(
        {
            "user": user,
            "age": study_files.whole_numbers(users, "age", USERS),
            "gender": users.column("gender"),
            "zip": pc.struct_field(pc.extract_regex(users.column("zip"), ZIP), "code").cast(
                pa.int32()
            ),
        }
    )
    seconds = pa.array(study_files.whole_numbers(ratings, "timestamp", RATINGS), pa.timestamp("s"))
    study_files.whole_numbers(ratings, "rating", RATINGS)
    seen = pc.binary_join_element_wise(
        ratings.column("item"), ratings.column("rating"), pc.strftime(seconds, "%Y-%m-%d"), " "
    )
    rated = pa.table(
        {
            "user": study_files.whole_numbers(ratings, "user", RATINGS),
            "seen": seen,
            "place": pa.array(range(len(seen))),
        }
    )
    joined = rated.join(people, "user", join_type="inner").sort_by("place")
    return joined.select(["user", "age", "gender", "zip", "seen"])


MOVIE = DataSet(
    key="movie",
    source="MovieLens 100K",
    files=(RATINGS, USERS),
    folders=(".", "ml-100k", "movielens", "movielens/ml-100k", "movielens-100k"),
    read=movie_records,
    schema=MOVIE_SCHEMA,
    persons="users",
    selection=(
        "Ratings with their users; age and the ZIP code are numeric (other codes, such as Canadian "
        "ones with letters, count as missing), the gender is categorical; the movie with its "
        "rating and the day of the rating is sensitive."
    ),
    remark=(
        "The paper names the month and year of the rating, but what it prints in Table 14 comes "
        "from the day."
    ),
    numbers=Numbers(8, 11, 14, 17),
    published=Size(100_000, 943),
)


CLIENTS, ACCOUNTS, OWNERS = "client.asc", "account.asc", "disp.asc"
TRANSACTIONS, DISTRICTS = "trans.asc", "district.asc"
SALARY = "A11"
"""The column of the average salary of a district."""
OWNER, UNKNOWN = "OWNER", "?"
WOMEN_LATER = 50
"""Birth numbers add it to the months of women."""
BANK_SCHEMA = Schema(
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


def _read_bank_file(folder: Path, name: str, columns: Sequence[str]) -> pa.Table:
    return study_files.read_delimited(folder / name, columns, delimiter=";")


def _transactions(folder: Path) -> pa.Table:
    table = _read_bank_file(folder, TRANSACTIONS, ("account_id", "date", "amount", "bank"))
    amount = study_files.decimals(table, "amount", TRANSACTIONS)
    hundreds = (np.floor(amount / 100 + 0.5) * 100).astype(np.int64)
    month = pc.strftime(study_files.dates(table, "date", TRANSACTIONS), "%Y-%m")
    moved = pa.table(
        {
            "account": study_files.whole_numbers(table, "account_id", TRANSACTIONS),
            "moved": pc.binary_join_element_wise(month, pa.array(hundreds).cast(pa.string()), " "),
            "place": pa.array(range(table.num_rows)),
        }
    )
    return moved.filter(pc.not_equal(table.column("bank"), ""))


def _owners(folder: Path) -> pa.Table:
    table = _read_bank_file(folder, OWNERS, ("client_id", "account_id", "type"))
    owns = pc.equal(table.column("type"), OWNER).to_numpy()
    account = study_files.whole_numbers(table, "account_id", OWNERS)[owns]
    study_files.once_each(account, "account_id", f"{OWNERS} (type {OWNER})")
    client = study_files.whole_numbers(table, "client_id", OWNERS)[owns]
    return pa.table({"account": account, "client": client})


def _clients(folder: Path) -> pa.Table:
    table = _read_bank_file(folder, CLIENTS, ("client_id", "birth_number", "district_id"))
    client = study_files.whole_numbers(table, "client_id", CLIENTS)
    study_files.once_each(client, "client_id", CLIENTS)
    return pa.table(
        {
            "client": client,
            "born": study_files.dates(table, "birth_number", CLIENTS, women_later=WOMEN_LATER),
            "district": study_files.whole_numbers(table, "district_id", CLIENTS),
        }
    )


def _salaries(folder: Path) -> pa.Table:
    table = _read_bank_file(folder, DISTRICTS, ("A1", SALARY))
    district = study_files.whole_numbers(table, "A1", DISTRICTS)
    study_files.once_each(district, "A1", DISTRICTS)
    salary = study_files.decimals(table, SALARY, DISTRICTS, missing=UNKNOWN)
    known = ~np.isnan(salary)
    return pa.table({"district": district[known], "salary": salary[known]})


def _accounts(folder: Path) -> pa.Table:
    table = _read_bank_file(folder, ACCOUNTS, ("account_id", "date"))
    account = study_files.whole_numbers(table, "account_id", ACCOUNTS)
    study_files.once_each(account, "account_id", ACCOUNTS)
    return pa.table({"account": account, "opened": study_files.dates(table, "date", ACCOUNTS)})


BANK = DataSet(
    key="bank",
    source="PKDD'99 Discovery Challenge, financial data",
    files=(CLIENTS, ACCOUNTS, OWNERS, TRANSACTIONS, DISTRICTS),
    folders=(".", "pkdd99", "pkdd", "berka", "data_berka", "pkdd99/data_berka"),
    read=bank_records,
    schema=BANK_SCHEMA,
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


DATA_SETS = (PATIENT_DATA, MOVIE, BANK)
