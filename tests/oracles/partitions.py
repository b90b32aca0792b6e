"""All partitions of a few nodes, and their probabilities."""

import math


def partitions_of(nodes):
    """Every partition of ``range(nodes)``: for each node the least one of its cluster."""
    if not nodes:
        yield ()
        return
    for labels in partitions_of(nodes - 1):
        for label in [*sorted(set(labels)), nodes - 1]:
            yield (*labels, label)


def probabilities(nodes, weights, held, apart):
    """Probability of each partition, by exp of the sum of the weights within its clusters."""
    found = {}
    for labels in partitions_of(nodes):
        total, fits = 0.0, True
        for i in range(nodes):
            for j in range(i):
                if labels[i] == labels[j]:
                    total += weights.get((j, i), apart)
                    fits &= not held[i] & held[j]
        if fits:
            found[labels] = math.exp(total)
    whole = sum(found.values())
    return {labels: weight / whole for labels, weight in found.items()}
