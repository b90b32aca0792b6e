"""The movie data of Section 6: MovieLens 100K (Harper and Konstan 2016)."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.schema import Schema
from sfumato.studies.kartal_li.data.data_set import DataSet, Numbers, Size
from sfumato.studies.kartal_li.data.delimited import once_each, read_delimited, whole_numbers

RATINGS, USERS = "u.data", "u.user"
RATING_COLUMNS = ("user", "item", "rating", "timestamp")
USER_COLUMNS = ("user", "age", "gender", "occupation", "zip")
SCHEMA = Schema(
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
    ratings = read_delimited(folder / RATINGS, RATING_COLUMNS, delimiter="\t", names=RATING_COLUMNS)
    users = read_delimited(
        folder / USERS, ("user", "age", "gender", "zip"), delimiter="|", names=USER_COLUMNS
    )
    user = whole_numbers(users, "user", USERS)
    once_each(user, "user", USERS)
    people = pa.table(
        {
            "user": user,
            "age": whole_numbers(users, "age", USERS),
            "gender": users.column("gender"),
            "zip": _zip_numbers(users.column("zip")),
        }
    )
    seconds = pa.array(whole_numbers(ratings, "timestamp", RATINGS), pa.timestamp("s"))
    whole_numbers(ratings, "rating", RATINGS)
    seen = pc.binary_join_element_wise(
        ratings.column("item"), ratings.column("rating"), pc.strftime(seconds, "%Y-%m-%d"), " "
    )
    rated = pa.table(
        {
            "user": whole_numbers(ratings, "user", RATINGS),
            "seen": seen,
            "place": pa.array(range(len(seen))),
        }
    )
    joined = rated.join(people, "user", join_type="inner").sort_by("place")
    return joined.select(["user", "age", "gender", "zip", "seen"])


def _zip_numbers(codes: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.struct_field(pc.extract_regex(codes, ZIP), "code").cast(pa.int32())


MOVIE = DataSet(
    key="movie",
    source="MovieLens 100K",
    files=(RATINGS, USERS),
    folders=(".", "ml-100k", "movielens", "movielens/ml-100k", "movielens-100k"),
    read=movie_records,
    schema=SCHEMA,
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
"""What the study knows of it."""
