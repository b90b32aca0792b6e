"""The loops over partitions of records into persons: exact draws, Gibbs sampling, best moves.

Loops without the interpreter's lock: they check nothing, so that their callers must pass
contiguous arrays of the stated types.
"""

import numpy as np

from libc.math cimport exp, log1p
from libc.stdint cimport int32_t, int64_t, uint64_t

cdef enum:
    MOST = 10  # nodes up to which the partitions are summed over, in 3 ** nodes steps
    UNKNOWN = -1  # for how many sweeps a node stays where it is
    ALONE = -1  # what a node may do, where it joins no cluster
    STAY = -2
    NOWHERE = -3

cdef int64_t ALWAYS = 1000000000000000
cdef double NEVER = 1e-15  # odds of a move that is not waited for
cdef double IMPOSSIBLE = -1e300

cdef double HIGHEST = 15.0  # log odds of two nodes: those of all pairs of ten stay below exp's range
cdef double LOWEST = -600.0


cdef inline double _uniform(uint64_t[::1] state) noexcept nogil:
    """A number in [0, 1) by SplitMix64 (Steele, Lea and Flood 2014)."""
    cdef uint64_t z
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    z ^= z >> 31
    return <double>(z >> 11) * (1.0 / 9007199254740992.0)


cdef int _sum_exactly(
    int64_t n, const double[:, ::1] between, const uint64_t[::1] held, double[::1] total,
    uint64_t[::1] sources, double[::1] worth, double[::1] ways,
) except -1 nogil:
    """Weight of each set of nodes as one cluster, and of all its partitions together."""
    cdef int64_t full = (<int64_t>1) << n, subset, rest, low, j, part, others
    total[0], sources[0], worth[0], ways[0] = 0.0, 0, 0.0, 1.0
    for subset in range(1, full):
        low = 0
        while not (subset >> low) & 1:
            low += 1
        rest = subset & (subset - 1)
        total[subset] = total[rest]
        for j in range(low + 1, n):
            if (rest >> j) & 1:
                total[subset] += between[low, j]
        if worth[rest] < 0 or (sources[rest] & held[low]):
            worth[subset], sources[subset] = -1.0, 0
        else:
            sources[subset] = sources[rest] | held[low]
            worth[subset] = exp(max(total[subset], LOWEST))
    for subset in range(1, full):
        rest = subset & (subset - 1)
        low = subset ^ rest
        ways[subset], part = 0.0, rest
        while True:  # all subsets of the rest, with the lowest node
            others = part | low
            if worth[others] > 0:
                ways[subset] += worth[others] * ways[subset ^ others]
            if part == 0:
                break
            part = (part - 1) & rest
    return 0


cdef int _draw_exactly(
    int64_t n, const double[::1] worth, const double[::1] ways, double uniform,
    uint64_t[::1] state, int64_t first, int32_t[::1] label,
) except -1 nogil:
    """One partition, with the probability that its weight gives it, its first cluster by a number.
    """
    cdef int64_t left = ((<int64_t>1) << n) - 1, rest, low, part, others, j, lowest
    cdef double at
    while left:
        rest = left & (left - 1)
        low = left ^ rest
        at = uniform * ways[left]
        uniform = _uniform(state)
        part = rest
        others = low
        while True:
            if worth[part | low] > 0:
                others = part | low
                at -= worth[others] * ways[left ^ others]
                if at < 0:
                    break
            if part == 0:
                break
            part = (part - 1) & rest
        lowest = -1
        for j in range(n):
            if (others >> j) & 1:
                if lowest < 0:
                    lowest = j
                label[first + j] = <int32_t>(first + lowest)
        left ^= others
    return 0


cdef int _towards(
    int64_t node, int64_t first, const int64_t[::1] edges, const int32_t[::1] other,
    const double[::1] weight, const int64_t[::1] size, const int64_t[::1] cluster,
    double[::1] sums, int64_t[::1] covered, int64_t[::1] touched,
) except -1 nogil:
    """Sums of a node's edges to each cluster around it; gives the number of these."""
    cdef int64_t e, c, number = 0
    for e in range(edges[node], edges[node + 1]):
        c = cluster[other[e]]
        if covered[c] == 0:
            touched[number] = c
            number += 1
            sums[c] = 0.0
        sums[c] += weight[e]
        covered[c] += size[node] * size[other[e]]
    return <int>number


cdef int _unsettle(
    int64_t node, const int64_t[::1] edges, const int32_t[::1] other,
    const int64_t[::1] following, int64_t[::1] stays,
) except -1 nogil:
    """Let all nodes of a node's cluster, and all around it, be looked at again."""
    cdef int64_t member = node, e
    while True:
        stays[member] = UNKNOWN
        for e in range(edges[member], edges[member + 1]):
            stays[other[e]] = UNKNOWN
        member = following[member]
        if member == node:
            return 0


cdef inline int _enter(
    int64_t node, int64_t c, int64_t[::1] member, int64_t[::1] following, int64_t[::1] preceding
) except -1 nogil:
    """Put a node into the ring of a cluster's members."""
    cdef int64_t before = member[c]
    if before < 0:
        member[c] = following[node] = preceding[node] = node
        return 0
    following[node], preceding[node] = following[before], before
    preceding[following[before]] = node
    following[before] = node
    return 0


cdef inline int _leave(
    int64_t node, int64_t c, int64_t[::1] member, int64_t[::1] following, int64_t[::1] preceding
) except -1 nogil:
    member[c] = following[node] if following[node] != node else -1
    following[preceding[node]] = following[node]
    preceding[following[node]] = preceding[node]
    return 0


cdef int64_t _choose(
    int64_t node, int64_t own, int64_t number, bint best, const double[::1] gain,
    uint64_t[::1] state, int64_t[::1] stays,
) except -4 nogil:
    """The place of the cluster that a node joins, or ALONE, or STAY.

    For how many sweeps a node stays where it is, while nothing moves around it, is drawn at once,
    from the geometric distribution: the chain is the one that draws in each sweep.
    """
    cdef int64_t k, chosen = ALONE
    cdef double top = 0.0, leaving, staying, at
    for k in range(number):
        if gain[k] > top:
            top = gain[k]
    if best:
        for k in range(number):
            if gain[k] >= top and gain[k] > 1e-12:
                chosen = k
                break
        if chosen != own:
            return chosen
        stays[node] = ALWAYS
        return STAY
    leaving = 0.0 if own == ALONE else exp(-top)
    staying = exp(-top) if own == ALONE else 0.0
    for k in range(number):
        if k == own:
            staying = exp(gain[k] - top)
        elif gain[k] > IMPOSSIBLE:
            leaving += exp(gain[k] - top)
    if stays[node] == UNKNOWN:
        if leaving < NEVER * staying:
            stays[node] = ALWAYS
            return STAY
        at = log1p(-_uniform(state)) / log1p(-leaving / (leaving + staying))
        if at >= 1:
            stays[node] = <int64_t>min(at, 1e15) - 1
            return STAY
    at = _uniform(state) * leaving
    if own != ALONE:
        at -= exp(-top)
        if at < 0:
            return ALONE
    for k in range(number):
        if k != own and gain[k] > IMPOSSIBLE:
            chosen = k
            at -= exp(gain[k] - top)
            if at < 0:
                break
    return chosen


cdef int _move(
    int64_t first, int64_t last, const int64_t[::1] edges, const int32_t[::1] other,
    const double[::1] weight, const int64_t[::1] size, const uint64_t[::1] held, double apart,
    bint best, uint64_t[::1] state, int64_t[::1] cluster, int64_t[::1] records,
    uint64_t[::1] sources, int64_t[::1] nodes, double[::1] sums, int64_t[::1] covered,
    int64_t[::1] touched, double[::1] gain, int64_t[::1] free, int64_t[::1] member,
    int64_t[::1] following, int64_t[::1] preceding, int64_t[::1] stays,
) except -1 nogil:
    """One sweep: each node leaves its cluster and joins one; gives the number of changes."""
    cdef int64_t node, c, old, number, k, own, chosen, changes = 0, frees = 0
    for c in range(first, last):
        if nodes[c] == 0:
            free[frees] = c
            frees += 1
    for node in range(first, last):
        if stays[node] > 0:
            stays[node] -= 1
            continue
        old = cluster[node]
        number = _towards(
            node, first, edges, other, weight, size, cluster, sums, covered, touched
        )
        records[old] -= size[node]
        sources[old] &= ~held[node]
        nodes[old] -= 1
        own = ALONE if nodes[old] == 0 else NOWHERE
        for k in range(number):
            c = touched[k]
            if nodes[c] == 0 or (sources[c] & held[node]):
                gain[k] = IMPOSSIBLE
            else:
                gain[k] = sums[c] + (records[c] * size[node] - covered[c]) * apart
                if c == old:
                    own = k
            covered[c] = 0
        chosen = _choose(node, own, number, best, gain, state, stays)
        c = old
        if chosen != STAY:
            changes += 1
            _unsettle(node, edges, other, following, stays)
            _leave(node, old, member, following, preceding)
            if chosen == ALONE:
                frees -= 1
                c = free[frees]
            else:
                c = touched[chosen]
            if nodes[old] == 0:
                free[frees] = old
                frees += 1
            _enter(node, c, member, following, preceding)
            _unsettle(node, edges, other, following, stays)
            cluster[node] = c
        records[c] += size[node]
        sources[c] |= held[node]
        nodes[c] += 1
    return <int>changes


cdef int _grow(
    int64_t first, int64_t last, const int64_t[::1] order, int64_t begin, int64_t end,
    const int64_t[::1] edges, const int32_t[::1] other, const double[::1] weight,
    const int32_t[::1] owner, const int64_t[::1] size, double apart, int64_t[::1] cluster,
    int64_t[::1] records, uint64_t[::1] sources, int64_t[::1] nodes, int64_t[::1] following,
    int64_t[::1] tail,
) except -1 nogil:
    """Join clusters along the edges from the greatest weight down, wherever it is worth more."""
    cdef int64_t k, e, a, b, member, f, number
    cdef double link
    for k in range(begin, end):
        e = order[k]
        a, b = cluster[owner[e]], cluster[other[e]]
        if a == b or (sources[a] & sources[b]):
            continue
        if nodes[a] < nodes[b]:
            a, b = b, a
        link, number, member = 0.0, 0, b
        while member >= 0:  # the members of a cluster are chained from the node that names it
            for f in range(edges[member], edges[member + 1]):
                if cluster[other[f]] == a:
                    link += weight[f]
                    number += size[member] * size[other[f]]
            member = following[member]
        link += (records[a] * records[b] - number) * apart
        if link <= 0:
            continue
        member = b
        while member >= 0:
            cluster[member] = a
            member = following[member]
        following[tail[a]] = b
        tail[a] = tail[b]
        records[a] += records[b]
        sources[a] |= sources[b]
        nodes[a] += nodes[b]
        records[b], sources[b], nodes[b] = 0, 0, 0
    return 0


def partitions(
    const int64_t[::1] start, const int64_t[::1] edges, const int32_t[::1] other,
    const double[::1] weight, const int32_t[::1] owner, const int64_t[::1] order,
    const int64_t[::1] size, const uint64_t[::1] held, double apart, bint best, int64_t warm,
    int64_t thin, const uint64_t[::1] seed, int32_t[:, ::1] label,
):
    """Partitions of each component's nodes, drawn or the best found."""
    cdef int64_t count = size.shape[0], draws = label.shape[0], g, n, i, j, e, d, sweep
    cdef int64_t first, last, most = 0, full = (<int64_t>1) << MOST
    cdef uint64_t[::1] state = np.zeros(1, np.uint64)
    cdef double[:, ::1] between = np.zeros((MOST, MOST))
    cdef int64_t[::1] cluster = np.arange(count), records = np.array(size)
    cdef int64_t[::1] nodes = np.ones(count, np.int64), named = np.zeros(count, np.int64)
    cdef int64_t[::1] following = np.full(count, -1), preceding = np.arange(count)
    cdef int64_t[::1] member = np.arange(count), stays = np.full(count, UNKNOWN)
    cdef double[::1] sums = np.zeros(count), gain
    cdef uint64_t[::1] sources = np.array(held)
    cdef int64_t[::1] covered = np.zeros(count, np.int64), touched, free
    cdef int64_t[::1] stratum = np.zeros(draws, np.int64)
    cdef double[::1] set_total = np.zeros(full), worth = np.zeros(full), ways = np.zeros(full)
    cdef uint64_t[::1] set_sources = np.zeros(full, np.uint64)
    for g in range(start.shape[0] - 1):
        most = max(most, start[g + 1] - start[g])
    touched, free = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64)
    gain = np.zeros(most + 1)
    with nogil:
        for g in range(start.shape[0] - 1):
            first, last = start[g], start[g + 1]
            n = last - first
            state[0] = seed[g]
            if n <= MOST and not best:
                for i in range(n):
                    for j in range(n):
                        between[i, j] = apart * size[first + i] * size[first + j]
                    for e in range(edges[first + i], edges[first + i + 1]):
                        between[i, other[e] - first] = min(weight[e], HIGHEST)
                _sum_exactly(n, between, held[first:last], set_total, set_sources, worth, ways)
                for d in range(draws):  # a stratum for each draw, in an order of this component
                    i = <int64_t>(_uniform(state) * (d + 1))
                    stratum[d] = stratum[i]
                    stratum[i] = d
                for d in range(draws):
                    _draw_exactly(
                        n, worth, ways, (stratum[d] + _uniform(state)) / draws, state, first,
                        label[d],
                    )
                continue
            _grow(
                first, last, order, edges[first] // 2, edges[last] // 2, edges, other, weight,
                owner, size, apart, cluster, records, sources, nodes, following, member,
            )
            for i in range(first, last):
                member[i] = -1
            for i in range(first, last):
                _enter(i, cluster[i], member, following, preceding)
            for d in range(draws):
                for sweep in range(warm if d == 0 else thin):
                    i = _move(
                        first, last, edges, other, weight, size, held, apart, best, state,
                        cluster, records, sources, nodes, sums, covered, touched, gain, free,
                        member, following, preceding, stays,
                    )
                    if best and i == 0:
                        break
                for i in range(first, last):
                    named[i] = -1
                for i in range(first, last):
                    if named[cluster[i]] < 0:
                        named[cluster[i]] = i
                    label[d, i] = <int32_t>named[cluster[i]]
    return 0
