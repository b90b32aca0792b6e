"""Options that are out of range, contradict each other, or point to what cannot be written."""

from __future__ import annotations

from pathlib import Path

from cli.malformed.case import CANARY, GOOD, NUMBER, PERSONS, Case, Content, data, schema

NO_PROMISE: tuple[str, ...] = ()
KEY = f"{CANARY}-a-secret-of-some-length"


def option(what: str, said: str, *options: str) -> Case:
    """Options that both commands know."""
    return Case(f"option: {what}", said, options=options)


def making(what: str, said: str, *options: str, **files: Content) -> Case:
    """Options of ``anonymize`` beside a promise."""
    case = option(what, said, *options)
    named = {name.replace("_", "."): content for name, content in files.items()}
    return Case(case.what, said, named, options=options, commands=("anonymize",))


def promise(what: str, said: str, *promises: str, code: int = 1) -> Case:
    return Case(f"promise: {what}", said, promise=promises, commands=("anonymize",), code=code)


def output(what: str, said: str, path: str, name: str = "", content: Content = None) -> Case:
    files = {name: content} if name else {}
    return Case(f"output: {what}", said, files, output=path, commands=("anonymize",))


SHARE = "option --threshold must be"
DELIMITER = "option --delimiter must be one ASCII character"
NO_VALUE = "Option '{}' requires an argument"

BOTH = [
    option("a threshold of 0", SHARE, "--threshold", "0"),
    option("a threshold below 0", SHARE, "--threshold", "-0.1"),
    option("a threshold above 1", SHARE, "--threshold", "2"),
    option("a threshold just above 1", SHARE, "--threshold", "1.0000001"),
    option("a threshold that is no number", SHARE, "--threshold", "nan"),
    option("an infinite threshold", SHARE, "--threshold", "inf"),
    option("a threshold in percent", "'--threshold'", "--threshold", "20%"),
    option("a threshold with a comma", "'--threshold'", "--threshold", "0,2"),
    option("a threshold of nothing", "'--threshold'", "--threshold", ""),
    Case(
        "option: no threshold behind its name",
        NO_VALUE.format("--threshold"),
        options=("--threshold",),
        commands=("assess",),
    ),
    option(
        "a delimiter of two characters", f"{DELIMITER}.*found 2 characters", "--delimiter", ";;"
    ),
    option("a delimiter of none", f"{DELIMITER}.*found 0 characters", "--delimiter", ""),
    option("a delimiter in words", f"{DELIMITER}.*found 2 characters", "--delimiter", "\\t"),
    option("a quote as delimiter", DELIMITER, "--delimiter", '"'),
    option("a line end as delimiter", DELIMITER, "--delimiter", "\n"),
    option("a return as delimiter", DELIMITER, "--delimiter", "\r"),
    option("a delimiter beyond ASCII", DELIMITER, "--delimiter", "¦"),
    option("an unknown option", "No such option: --k-anonymity", "--k-anonymity", "2"),
    option("an option misspelt", "No such option: --treshold", "--treshold", "0.2"),
    option("a second file", "unexpected extra argument", "schema.toml"),
    option("JSON with a value", "Option '--json' does not take a value", "--json=yes"),
    option(
        "a report of an unknown kind",
        "must end in .html .* or .json; found the ending .pdf",
        "--report",
        "report.pdf",
    ),
    option(
        "a report without kind",
        "must end in .html .* or .json; found no ending",
        "--report",
        "report",
    ),
    option(
        "a report in no folder", "must be in a folder that exists", "--report", "none/report.html"
    ),
    option(
        "a report in a file", "must be in a folder that exists", "--report", "edu.csv/report.html"
    ),
    Case(
        "option: a report where a folder is",
        "must be a file; found a folder",
        {"report.html": Path.mkdir},
        options=("--report", "report.html"),
    ),
    Case(
        "option: a report whose JSON is a folder",
        "must be a file; found a folder",
        {"report.json": Path.mkdir},
        options=("--report", "report.html"),
    ),
    Case(
        "the folder as schema",
        "schema file \\. must be a file that can be read; found a folder",
        schema=".",
    ),
    Case(
        "a schema in no folder",
        "schema file s.toml is not there",
        schema="none/s.toml",
    ),
    Case(
        "a schema below a file",
        "schema file s.toml must be .* found not a directory",
        schema="edu.csv/s.toml",
    ),
    Case("data below a file", "file x.csv must be .* found not a directory", data="edu.csv/x.csv"),
    Case(
        "data without a name", "must have a suffix that says its format; found no suffix", data=""
    ),
    Case("standard input", "must have a suffix that says its format; found no suffix", data="-"),
    Case(
        "a folder as data",
        "file \\. must have a suffix that says its format; found no suffix",
        data=".",
    ),
    Case(
        "a very long name",
        "must be a file that can be read; found file name too long",
        data="x" * 300 + ".csv",
    ),
]

MAKING = [
    making("an unknown cut", "'--cut': .* is not one of", "--cut", CANARY.upper()[::-1]),
    making("a cut in capitals", "'--cut': .* is not one of", "--cut", "Median"),
    making(
        "an unknown split",
        "'--split': .* is not one of 'balance', 'variance', 'range'",
        "--split",
        "gini",
    ),
    making(
        "unknown values", "'--values': .* is not one of 'range', 'bounds'", "--values", "median"
    ),
    making("two values", "'--values': .* is not one of", "--values", "range,set"),
    making(
        "a cap of 0",
        "option --cap-records must be a whole number; accepted: 1 or more",
        "--cap-records",
        "0",
    ),
    making("a cap below 0", "option --cap-records must be a whole number", "--cap-records", "-3"),
    making("a cap with decimals", "'--cap-records'", "--cap-records", "2.5"),
    making("a cap in words", "'--cap-records'", "--cap-records", "two"),
    making("suppression of all", "option --suppress must be a share", "--suppress", "1"),
    making("suppression below 0", "option --suppress must be a share", "--suppress", "-0.1"),
    making("suppression above 1", "option --suppress must be a share", "--suppress", "20"),
    making("suppression of no number", "option --suppress must be a share", "--suppress", "nan"),
    making("suppression in words", "'--suppress'", "--suppress", "some"),
    making("a seed in words", "'--seed'", "--seed", "lucky"),
    making("a seed with decimals", "'--seed'", "--seed", "1.5"),
    making(
        "a seed below 0",
        "option --seed must be a whole number; accepted: 0 to 2\\*\\*63 - 1",
        "--seed",
        "-1",
    ),
    making("a seed too large", "option --seed must be a whole number", "--seed", str(2**63)),
    making("a seed of very many digits", "seed", "--seed", "9" * 5000),
    making("order with a value", "Option '--keep-order' does not take a value", "--keep-order=no"),
    making(
        "no file of a key",
        "option --pseudonym-key is not there",
        "--pseudonym-key",
        "key",
    ),
    making("a folder as key", "option --pseudonym-key must be a file", "--pseudonym-key", ".."),
    making(
        "an empty key",
        "must be a secret of at least 16 bytes; found 0 bytes",
        "--pseudonym-key",
        "key",
        key=b"",
    ),
    making(
        "a key of line ends",
        "at least 16 bytes; found 0 bytes",
        "--pseudonym-key",
        "key",
        key=b"\n" * 30,
    ),
    making(
        "a short key",
        "at least 16 bytes; found 15 bytes",
        "--pseudonym-key",
        "key",
        key=b"15 bytes of key",
    ),
    Case(
        "option: a key without persons",
        "option --pseudonym-key is for a file with a person column",
        {
            "key": KEY,
            "schema.toml": schema(roles={"person": None, "insensitive": '["note", "patient"]'}),
        },
        options=("--pseudonym-key", "key"),
        commands=("anonymize",),
    ),
    Case(
        "option: values whose columns exist already",
        "'age_low'",
        {"visits.csv": data(age_low=GOOD["note"])},
        options=("--values", "bounds"),
        commands=("anonymize",),
    ),
]

PROMISES = [
    promise("none", "must keep at least one promise; found no promise"),
    promise(
        "g of 1",
        "option --g-balance must be a share; accepted: a number in \\[0, 1\\)",
        "--g-balance",
        "1",
    ),
    promise("g below 0", "option --g-balance must be a share", "--g-balance", "-0.5"),
    promise("g above 1", "option --g-balance must be a share", "--g-balance", "90"),
    promise("g of no number", "option --g-balance must be a share", "--g-balance", "nan"),
    promise("infinite g", "option --g-balance must be a share", "--g-balance", "inf"),
    promise("g in words", "'--g-balance'", "--g-balance", "high"),
    promise(
        "h of 0",
        "option --h-affiliation must be a share; accepted: a number in \\(0, 1\\]",
        "--h-affiliation",
        "0",
    ),
    promise("h above 1", "option --h-affiliation must be a share", "--h-affiliation", "1.01"),
    promise("h below 0", "option --h-affiliation must be a share", "--h-affiliation", "-1"),
    promise("h of no number", "option --h-affiliation must be a share", "--h-affiliation", "nan"),
    promise("k of 0", "option --k must be a whole number; accepted: 1 or more", "--k", "0"),
    promise("k below 0", "option --k must be a whole number", "--k", "-5"),
    promise("k with decimals", "'--k'", "--k", "2.5"),
    promise("k with an exponent", "'--k'", "--k", "1e3"),
    promise("k in words", "'--k'", "--k", "five"),
    promise("k of nothing", "'--k'", "--k", ""),
    promise("no number behind k", NO_VALUE.format("--k") + "|'--k'", "--k"),
    promise("pid_k of 0", "option --pid-k must be a whole number", "--pid-k", "0"),
    promise("pid_k with decimals", "'--pid-k'", "--pid-k", "1.5"),
    promise("pid_k with another line", "No such option: --pid_k", "--pid_k", "2"),
    promise("l of 0", "option --l must be a whole number", "--l", "0"),
    promise("l with decimals", "'--l'", "--l", "2.0001"),
    promise("marketer of 0", "option --marketer must be a share", "--marketer", "0"),
    promise("marketer above 1", "option --marketer must be a share", "--marketer", "5"),
    promise(
        "one of two is wrong", "option --k must be a whole number", "--g-balance", "0.5", "--k", "0"
    ),
]

WITHOUT_SENSITIVE = [
    Case(
        f"promise: {words[0]} without a sensitive attribute",
        f"promise {words[0][2:].replace('-', '_')} needs a sensitive attribute",
        {"schema.toml": schema(roles={"sensitive": None, "insensitive": '["note", "icd9"]'})},
        promise=words,
        commands=("anonymize",),
    )
    for words in (("--h-affiliation", "0.5"), ("--l", "2"))
]

FOLDER = "must be in a folder that exists and can be written"
INPUT = "must not replace a file that this command reads"

OUTPUTS = [
    output("in no folder", f"output r.csv {FOLDER}", "none/r.csv"),
    output("below a file", f"output r.csv {FOLDER}", "edu.csv/r.csv"),
    output("where the system forbids it", "output r.csv must be", "/proc/r.csv"),
    output("a folder", "output r.csv must be a file; found a folder", "r.csv", "r.csv", Path.mkdir),
    output("this folder", "must be a file; found a folder", "."),
    output(
        "an unknown suffix", "output r.ods must have a suffix .* found the suffix .ods", "r.ods"
    ),
    output("no suffix", "output r must have a suffix that says its format; found no suffix", "r"),
    output("gzip", "found the suffix .gz; accepted: .csv, .tsv, .parquet", "r.csv.gz"),
    output("standard output", "must have a suffix", "-"),
    output("no name", "must be a file|must have a suffix", ""),
    output("a very long name", "output x+.csv must be", "x" * 300 + ".csv"),
    output("the data itself", f"output visits.csv {INPUT}", "visits.csv"),
    output(
        "the data by another way",
        f"output visits.csv {INPUT}",
        "sub/../visits.csv",
        "sub",
        Path.mkdir,
    ),
    output(
        "the data by a link",
        f"output link.csv {INPUT}",
        "link.csv",
        "link.csv",
        lambda path: path.symlink_to("visits.csv"),
    ),
    output("the hierarchy", f"output edu.csv {INPUT}", "edu.csv"),
    Case(
        "output: a manifest over the schema",
        f"output release.toml {INPUT}",
        {"release.toml": schema()},
        schema="release.toml",
        commands=("anonymize",),
    ),
    Case(
        "output: a manifest over the key",
        f"output release.toml {INPUT}",
        {"release.toml": KEY},
        options=("--pseudonym-key", "release.toml"),
        commands=("anonymize",),
    ),
    Case(
        "output: a manifest where a folder is",
        "output release.toml must be a file; found a folder",
        {"release.toml": Path.mkdir},
        commands=("anonymize",),
    ),
]

MANIFEST = """
versions = {}
[release]
seed = 7
keyed_pseudonyms = false
schema_sha256 = ""
input_sha256 = ""
output_sha256 = ""
[options]
cut = "median"
split = "balance"
values = "range"
keep_order = false
suppress = 0.0
threshold = 0.2
[[constraints]]
name = "k"
k = 2
"""
WRONG_SEED = "seed must be|--repeat needs the secret"
NO_MANIFEST = "manifest m.toml must be a release.toml that sfumato wrote"


def repeat(what: str, said: str, content: Content, *options: str) -> Case:
    """A release that is to be repeated."""
    return Case(
        f"repeat: {what}",
        said,
        {"m.toml": content, "key": KEY},
        options=("--repeat", "m.toml", *options),
        promise=NO_PROMISE,
        commands=("anonymize",),
    )


def changed(what: str, old: str, new: str, said: str = NO_MANIFEST) -> Case:
    if old not in MANIFEST:
        raise ValueError(old)
    return repeat(what, said, MANIFEST.replace(old, new))


BESIDE = (
    "option --repeat takes promises, options and seed from the manifest; found option {} beside it"
)

REPEATS = [
    repeat("no file", NO_MANIFEST, None),
    repeat("a folder", NO_MANIFEST, Path.mkdir),
    repeat("an empty file", NO_MANIFEST, b""),
    repeat("no TOML", NO_MANIFEST, f"{CANARY}\n"),
    repeat("Latin-1", NO_MANIFEST, b"# \xe4\n"),
    repeat("a schema", NO_MANIFEST, schema()),
    repeat("brackets too deep", NO_MANIFEST, "a = " + "[" * 5000),
    repeat("a very long number", NO_MANIFEST, "a = " + "9" * 5000),
    repeat("promises beside it", BESIDE.format("--k"), MANIFEST, "--k", "3"),
    repeat("a seed beside it", BESIDE.format("--seed"), MANIFEST, "--seed", "7"),
    repeat("values beside it", BESIDE.format("--values"), MANIFEST, "--values", "range"),
    repeat("order beside it", BESIDE.format("--keep-order"), MANIFEST, "--keep-order"),
    repeat("a threshold beside it", BESIDE.format("--threshold"), MANIFEST, "--threshold", "0.2"),
    repeat(
        "a key too many",
        "found a manifest without keyed pseudonyms; leave out",
        MANIFEST,
        "--pseudonym-key",
        "key",
    ),
    changed(
        "a key too few",
        "pseudonyms = false",
        "pseudonyms = true",
        "a manifest with keyed pseudonyms; give",
    ),
    changed("no seed", "seed = 7", ""),
    changed(
        "a seed as text",
        "seed = 7",
        f'seed = "{CANARY}"',
        WRONG_SEED,
    ),
    changed(
        "a seed below 0",
        "seed = 7",
        "seed = -7",
        WRONG_SEED,
    ),
    changed(
        "keyed as a number",
        "pseudonyms = false",
        f"pseudonyms = {NUMBER}",
        "manifest with keyed pseudonyms",
    ),
    changed("an unknown option", "keep_order", "shuffle"),
    changed("an unknown word", '"median"', f'"{CANARY}"', "parameter cut must be one of the known"),
    changed("a threshold of 0", "threshold = 0.2", "threshold = 0", "parameter threshold must be"),
    changed(
        "order as text",
        "keep_order = false",
        'keep_order = "no"',
        "parameter keep_order must be true or false",
    ),
    changed("options as a number", '[options]\ncut = "median"', f"[[options]]\ncut = {NUMBER}"),
    changed("no promises", '[[constraints]]\nname = "k"\nk = 2', ""),
    changed(
        "an empty list of promises",
        '[[constraints]]\nname = "k"\nk = 2',
        "[constraints]",
        "at least one promise|--repeat needs the secret|" + NO_MANIFEST,
    ),
    changed("an unknown promise", 'name = "k"', f'name = "{CANARY}"'),
    changed("a promise without name", 'name = "k"', ""),
    changed("a promise without number", "k = 2", ""),
    changed("a promise with another number", "k = 2", "g = 0.5"),
    changed("a promise of 0", "k = 2", "k = 0", "parameter k must be a whole number"),
    changed("a promise as text", "k = 2", f'k = "{CANARY}"', "parameter k must be a whole number"),
    changed("promises as text", '[[constraints]]\nname = "k"\nk = 2', "[constraints]\nk = 2"),
    changed("a name as a list", 'name = "k"', f'name = ["{CANARY}"]'),
]

NO_RELEASE = "No release of this file keeps every promise"
SHARED = f"{NO_RELEASE}.*h_affiliation asks for at most 0.1; .* column 'icd9' has"

NOT_MET = [
    promise(
        "more records than there are",
        f"{NO_RELEASE}.*k asks for at least 13 records; the file has {len(PERSONS)}",
        "--k",
        "13",
        code=5,
    ),
    promise(
        "more persons than there are",
        f"{NO_RELEASE}.*pid_k asks for at least 7 people; the file has 6",
        "--pid-k",
        "7",
        code=5,
    ),
    promise("a huge k", f"{NO_RELEASE}.*k asks", "--k", str(10**30), code=5),
    promise("a huge pid_k", f"{NO_RELEASE}.*pid_k asks", "--pid-k", str(10**30), code=5),
    promise("a huge l", f"{NO_RELEASE}.*l asks", "--l", str(10**30), code=5),
    promise(
        "more balance than there is",
        f"{NO_RELEASE}.*g_balance asks for at least 0.99; .* reach",
        "--g-balance",
        "0.99",
        code=5,
    ),
    promise("less affiliation than there is", SHARED, "--h-affiliation", "0.1", code=5),
    promise(
        "more values than there are",
        f"{NO_RELEASE}.*l asks for at least 6 distinct values; column 'icd9' has 5",
        "--l",
        "6",
        code=5,
    ),
    promise(
        "a smaller marketer risk than there is",
        f"{NO_RELEASE}.*marketer allows",
        "--marketer",
        "0.01",
        code=5,
    ),
    promise(
        "one of two cannot be met", f"{NO_RELEASE}.*pid_k asks", "--k", "2", "--pid-k", "7", code=5
    ),
    promise(
        "none of two can be met",
        f"{NO_RELEASE}.*k asks.*pid_k asks",
        "--k",
        "99",
        "--pid-k",
        "99",
        code=5,
    ),
    promise(
        "too little suppression",
        f"{NO_RELEASE}.*What can be done:\n- (cap|suppress)",
        "--g-balance",
        "0.83",
        "--suppress",
        "0.01",
        code=5,
    ),
    promise(
        "a cap that takes too much",
        f"{NO_RELEASE}.*k asks for at least 10 records; the file has 6",
        "--k",
        "10",
        "--cap-records",
        "1",
        code=5,
    ),
    Case(
        "promise: one person alone",
        f"{NO_RELEASE}.*g_balance asks",
        {"visits.csv": data(patient=[f"{CANARY}-1"] * len(PERSONS))},
        promise=("--g-balance", "0.1"),
        commands=("anonymize",),
        code=5,
    ),
]

CASES = [
    *BOTH,
    *MAKING,
    *PROMISES,
    *WITHOUT_SENSITIVE,
    *OUTPUTS,
    *REPEATS,
    *NOT_MET,
]
