"""Small files in the formats of MovieLens 100K and of the PKDD'99 bank data, from a seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

ZIPS = ("85711", "94043", "32067", "15213", "98101", "01331-2117", "V3N4P", "T8H1N")
BANKS = ('"YZ"', '"ST"', '"QR"', "", "", '""')


def movielens_files(folder: Path, seed: int = 1, users: int = 60) -> None:
    """``u.data`` and ``u.user``, users with 3 to 40 ratings of 80 movies."""
    rng = np.random.default_rng(seed)
    people, ratings = [], []
    for user in range(1, users + 1):
        gender, code = rng.choice(["M", "F"]), rng.choice(ZIPS)
        people.append(f"{user}|{rng.integers(7, 74)}|{gender}|writer|{code}")
        for item in rng.choice(80, size=rng.integers(3, 41), replace=False) + 1:
            seconds = rng.integers(874_724_710, 893_286_638)
            ratings.append(f"{user}\t{item}\t{rng.integers(1, 6)}\t{seconds}")
    rng.shuffle(ratings)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "u.user").write_text("\n".join(people) + "\n", encoding="utf-8")
    (folder / "u.data").write_text("\n".join(ratings) + "\n", encoding="utf-8")


def bank_files(folder: Path, seed: int = 2, clients: int = 60) -> None:
    """The five files, with CRLF, quoted text, women's months + 50 and missing cells."""
    rng = np.random.default_rng(seed)
    tables = {
        "district.asc": [";".join(f'"A{index}"' for index in range(1, 17))],
        "client.asc": ['"client_id";"birth_number";"district_id"'],
        "account.asc": ['"account_id";"district_id";"frequency";"date"'],
        "disp.asc": ['"disp_id";"client_id";"account_id";"type"'],
        "trans.asc": [
            (
                '"trans_id";"account_id";"date";"type";"operation";"amount";"balance";"k_symbol";'
                '"bank";"account"'
            )
        ],
    }
    for district in range(1, 9):
        salary = "?" if district == 8 else 8_000 + 137 * district
        cells = f'{district};"Hl.m. Praha";"Prague";1204953;0;0;0;1;1;100.0;{salary}'
        tables["district.asc"].append(cells + ";0.29;0.43;167;85677;99107")
    disposition = 0
    for client in range(1, clients + 1):
        month = rng.integers(1, 13) + rng.choice([0, 50])
        born = f"{rng.integers(11, 88):02d}{month:02d}{rng.integers(1, 29):02d}"
        tables["client.asc"].append(f'{client};"{born}";{rng.integers(1, 9)}')
        opened = f"{rng.integers(93, 98)}{rng.integers(1, 13):02d}{rng.integers(1, 29):02d}"
        account = 100 + client
        tables["account.asc"].append(f'{account};{rng.integers(1, 9)};"POPLATEK MESICNE";{opened}')
        for owner, kind in ((client, "OWNER"), (client % clients + 1, "DISPONENT")):
            if kind == "OWNER" or rng.random() < 0.2:
                disposition += 1
                tables["disp.asc"].append(f'{disposition};{owner};{account};"{kind}"')
        for _ in range(rng.integers(2, 30)):
            day = f"{rng.integers(93, 99)}{rng.integers(1, 13):02d}{rng.integers(1, 29):02d}"
            amount = f"{rng.integers(10, 9_000)}.{rng.integers(0, 10)}0"
            bank = rng.choice(BANKS)
            number = len(tables["trans.asc"])
            tables["trans.asc"].append(
                f'{number};{account};{day};"VYDAJ";"PREVOD NA UCET";{amount};20100.00;"";{bank};'
            )
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in tables.items():
        (folder / name).write_bytes(("\r\n".join(lines) + "\r\n").encode())
