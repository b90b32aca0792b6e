"""What an intruder finds who knows events, counted from a released file alone, one by one."""

from collections import Counter, defaultdict
from itertools import combinations, permutations

import numpy as np


def unit_risks(units, labels, m):
    """The chance of each unit by m known events: units are lists of (slot, rows) of one class."""
    shown = [Counter() for _ in units]
    for own, has in zip(units, shown, strict=True):
        for slot, rows in own:
            has[labels[slot]] += rows
    found = []
    for own in units:
        slots = [slot for slot, _ in own]
        sets = [*combinations(slots, min(m, len(slots)))]
        chances = []
        for each in sets:
            asked = Counter(labels[slot] for slot in each)
            chances.append(1 / sum(all(has[a] >= n for a, n in asked.items()) for has in shown))
        found.append(sum(chances) / len(chances))
    return found


def fewest_sharing(released, original, quasi_identifiers, person, columns, m):
    """The fewest persons of a class who show up to m events of one of its persons.

    Parameters
    ----------
    released, original
        The same rows as lists of dictionaries; the original ones with their persons.
    quasi_identifiers, person, columns
        Names of columns; ``columns`` say what happened.
    m
        How many events are known at most.
    """
    classes, written = defaultdict(list), {}
    for row, (new, old) in enumerate(zip(released, original, strict=True)):
        key = tuple(new[name] for name in quasi_identifiers)
        classes[key].append(row)
        event = tuple(old[name] for name in columns)
        shows = tuple(new[name] for name in columns)
        assert written.setdefault((key, event), shows) == shows, "one event, written in two ways"
    fewest = len(released)
    for key, rows in classes.items():
        shown, own, events = defaultdict(Counter), defaultdict(set), defaultdict(set)
        for row in rows:
            shown[released[row][person]][tuple(released[row][name] for name in columns)] += 1
            own[original[row][person]].add(released[row][person])
            events[original[row][person]].add(tuple(original[row][name] for name in columns))
        for target, known in events.items():
            sets = [one for many in range(1, m + 1) for one in combinations(sorted(known), many)]
            for each in sets:
                asked = Counter(written[key, event] for event in each)
                fit = {p for p, has in shown.items() if all(has[a] >= n for a, n in asked.items())}
                if not own[target] & fit:
                    continue  # no pseudonym of the target shows them together
                fewest = min(fewest, sum(1 for ids in own.values() if ids & fit))
    return fewest


def found_by_dates(released, original, quasi_identifiers, person, day, known, m):
    """Chances of an intruder who knows m days to within some, and that each person has one offset.

    The first list is of one who takes any pseudonym that fits all that is known; the second of one
    who takes the pseudonym that fits by most offsets, none of which moves any record of it out of
    the days of the file.

    Parameters
    ----------
    released, original
        The same rows as lists of dictionaries; days as texts.
    quasi_identifiers, person, day
        Names of columns.
    known
        Days by which what is known may be off.
    m
        How many different days are known.
    """
    rng = np.random.default_rng(1)
    shows, was = (
        np.array([row[day] for row in rows], dtype="datetime64[D]").astype(np.int64)
        for rows in (released, original)
    )
    classes = defaultdict(list)
    for at, row in enumerate(released):
        classes[tuple(row[name] for name in quasi_identifiers)].append(at)
    any_fit, best_fit = [], []
    for rows in classes.values():
        shown, own = defaultdict(list), defaultdict(list)
        for at in rows:
            shown[released[at][person]].append(shows[at])
            own[released[at][person]].append(was[at])
        units = [*shown.values()]
        latest = np.array([max(each) for each in units]) - was.max()
        earliest = np.array([min(each) for each in units]) - was.min()
        tuples = {}
        for place, target in enumerate(own.values()):
            days = rng.permutation(np.unique(target))[:m]
            if len(days) not in tuples:
                every = [[*permutations(each, len(days))] for each in units]
                of = np.repeat(np.arange(len(units)), [len(each) for each in every])
                tuples[len(days)] = of, np.array([one for each in every for one in each])
            of, dates = tuples[len(days)]
            moved = dates - days - rng.integers(-known, known + 1, len(days))
            low, high = moved.max(axis=1) - known, moved.min(axis=1) + known
            fits = np.unique(of[low <= high])
            any_fit.append((place in fits) / len(fits))
            offsets = np.zeros(len(units))
            inside = np.minimum(high, earliest[of]) - np.maximum(low, latest[of]) + 1
            np.maximum.at(offsets, of, inside)
            best = np.flatnonzero(offsets == offsets.max())
            best_fit.append((place in best) / len(best))
    return any_fit, best_fit
