"""Who fits known events, by trying every way to give each event a record of its own."""

from itertools import combinations, permutations


def fits(labels, ranges):
    """Whether each range can have a label of its own, whatever the order."""
    return any(
        all(low <= label <= high for label, (low, high) in zip(chosen, ranges, strict=True))
        for chosen in permutations(labels, len(ranges))
    )


def shows_more(labels, ranges, silent, detailed):
    told = [any(low <= label <= high for low, high in ranges) for label in labels]
    new = (not known and label not in silent for label, known in zip(labels, told, strict=True))
    return detailed or any(new)


def holders(ids, owner, ranges, silent=(), detailed=()):
    """Chance to find and to learn of a person, by the best part of the known ranges.

    ``ids`` has the labels of each id of the class, ``owner`` the ids of the person.
    """
    several = any(len(own) > 1 for own in owner.values())
    person = owner["target"]
    found = learned = 0.0
    sizes = range(1, len(ranges) + 1) if several and ranges else [len(ranges)]
    for part in (part for size in sizes for part in combinations(ranges, size)):
        fitting = [one for one, labels in ids.items() if fits(labels, part)]
        own = [one for one in fitting if one in person]
        if own:
            more = [one for one in own if shows_more(ids[one], ranges, silent, one in detailed)]
            found = max(found, len(own) / len(fitting))
            learned = max(learned, len(more) / len(fitting))
    return found, learned
