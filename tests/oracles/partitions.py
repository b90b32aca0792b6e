"""All partitions of a few nodes, and their probabilities."""

import math


def partitions_of(nodes, held):
    """Every partition of ``range(nodes)``: for each node the least one of its cluster.

    Those with a source twice in a cluster are left out.
    """
    if not nodes:
        yield ()
        return
    new = nodes - 1
    for labels in partitions_of(new, held):
        for label in [*sorted(set(labels)), new]:
            if not any(held[i] & held[new] for i in range(new) if labels[i] == label):
                yield (*labels, label)


def probabilities(nodes, weights, held, apart):
    """Probability of each partition, by exp of the sum of the weights within its clusters."""
    found = {}
    for labels in partitions_of(nodes, held):
        total = sum(
            weights.get((j, i), apart)
            for i in range(nodes)
            for j in range(i)
            if labels[i] == labels[j]
        )
        found[labels] = math.exp(total)
    whole = sum(found.values())
    return {labels: weight / whole for labels, weight in found.items()}
