"""The tree's loops: cuts at the median, places of a search, and the search as a whole.

A node is a segment ``order[low:high]`` of an order of the persons. Loops without the interpreter's
lock: they check nothing, so that their callers must pass contiguous arrays of the stated types.
Every function that may meet a broken index returns a number, by which the build with checked
bounds passes the error on without the lock.

Sums of floats are added up in the order that is written here, and the compiler is told to contract
none of it: a release is the same bytes on every machine.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

cdef enum:
    CLEARED_AT_ONCE = 16
    # Counters per person that are set to 0 faster than those of the person's values are found.
    LARGE = 4096
    # Persons of a node whose best place is counted alone, because it mostly keeps the promises.

cdef double LEAST_GAIN = 1e-12
# The least share of a node's loss that a cut must gain, and the rounding of a share.


# ------------------------------------------------------------------------ cuts at the median


def ordered_cuts(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int64_t[::1] node_records,
    const int64_t[::1] records,
    const int32_t[::1] position,
    int64_t missing_position,
    bint strict,
    const double[::1] total,
    const double[::1] square,
    const int64_t[::1] present,
):
    """Median cut of every node along one ordered axis; see `tree_loops.ordered_cuts`."""
    cdef Py_ssize_t nodes = low.shape[0]
    lefts = np.zeros(nodes, np.int64)
    lefts_records = np.zeros(nodes, np.int64)
    lefts_squares = np.zeros(nodes, np.int64)
    variances = np.zeros(nodes, np.float64)
    cdef int64_t[::1] left = lefts, left_records = lefts_records, left_squares = lefts_squares
    cdef double[::1] variance = variances
    cdef Py_ssize_t node
    cdef int64_t place, start, stop, whole, counted, below, run_records, run_squares
    cdef int64_t seen, seen_squares, median, end, person, last
    cdef double summed, squared, mean, spread
    cdef bint near
    with nogil:
        for node in range(nodes):
            start, stop, whole = low[node], high[node], node_records[node]
            summed, squared, counted = 0.0, 0.0, 0
            for place in range(start, stop):
                person = order[place]
                summed += total[person]
                squared += square[person]
                counted += present[person]
            if counted > 0:
                mean = summed / counted
                spread = squared / counted - mean * mean
                variance[node] = spread if spread > 0.0 else 0.0
            below = start
            run_records, run_squares = 0, 0
            seen, seen_squares = 0, 0
            median = start
            for place in range(start, stop):
                person = order[place]
                if place > start and position[person] != position[order[place - 1]]:
                    below = place
                    run_records, run_squares = seen, seen_squares
                seen += records[person]
                seen_squares += records[person] * records[person]
                median = place
                if 2 * seen >= whole:
                    break
            last = order[median]
            end = median + 1
            if strict:
                while end < stop and position[order[end]] == position[last]:
                    person = order[end]
                    seen += records[person]
                    seen_squares += records[person] * records[person]
                    end += 1
                near = whole - 2 * run_records <= 2 * seen - whole
                if below > start and (end == stop or near):
                    end, seen, seen_squares = below, run_records, run_squares
                elif end == stop:
                    end, seen, seen_squares = start, 0, 0
            elif position[last] == missing_position:
                end, seen, seen_squares = below, run_records, run_squares
            elif end == stop:
                end = median
                seen -= records[last]
                seen_squares -= records[last] * records[last]
            left[node] = end - start
            left_records[node] = seen
            left_squares[node] = seen_squares
    return lefts, lefts_records, lefts_squares, variances


def ordered_spreads(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int32_t[::1] lowest,
    const int32_t[::1] highest,
):
    """Lowest and highest code of each node; see `tree_loops.ordered_spreads`."""
    cdef Py_ssize_t nodes = low.shape[0], node
    smallests, largests = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    cdef int32_t[::1] smallest = smallests, largest = largests
    cdef int32_t least, most
    cdef int64_t place
    with nogil:
        for node in range(nodes):
            least, most = lowest[order[low[node]]], highest[order[low[node]]]
            for place in range(low[node] + 1, high[node]):
                least = min(least, lowest[order[place]])
                most = max(most, highest[order[place]])
            smallest[node] = least
            largest[node] = most
    return smallests, largests


def indicator_cuts(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int64_t[::1] records,
    const int32_t[::1] member,
    const int64_t[::1] offsets,
    const int32_t[::1] values,
    const int32_t[::1] counts,
    int64_t columns,
):
    """Both sides of every 0/1 column that occurs in each node; see `tree_loops.indicator_cuts`."""
    cdef Py_ssize_t nodes = low.shape[0], node
    cdef int64_t room = 0, entries, place, entry, person, value, slot, first, found = 0
    with nogil:
        for node in range(nodes):
            entries = 0
            for place in range(low[node], high[node]):
                entries += offsets[order[place] + 1] - offsets[order[place]]
            room += min(entries, columns)
    found_nodes, found_columns = np.empty(room, np.int64), np.empty(room, np.int32)
    rights, rights_records = np.zeros(room, np.int64), np.zeros(room, np.int64)
    rights_squares, insides = np.zeros(room, np.int64), np.zeros(room, np.int64)
    cdef int64_t[::1] found_node = found_nodes, right = rights, right_records = rights_records
    cdef int64_t[::1] right_squares = rights_squares, inside = insides
    cdef int32_t[::1] found_column = found_columns
    cdef int64_t[::1] slot_of = np.full(columns, -1, np.int64)
    with nogil:
        for node in range(nodes):
            first = found
            for place in range(low[node], high[node]):
                person = order[place]
                for entry in range(offsets[person], offsets[person + 1]):
                    value = values[entry]
                    slot = slot_of[value]
                    if slot < 0:
                        slot = found
                        slot_of[value] = slot
                        found_node[slot] = node
                        found_column[slot] = <int32_t>value
                        found += 1
                    inside[slot] += counts[entry]
                if member[person] >= 0:
                    slot = slot_of[member[person]]
                    right[slot] += 1
                    right_records[slot] += records[person]
                    right_squares[slot] += records[person] * records[person]
            for slot in range(first, found):
                slot_of[found_column[slot]] = -1
    return (
        found_nodes[:found],
        found_columns[:found],
        rights[:found],
        rights_records[:found],
        rights_squares[:found],
        insides[:found],
    )


def mark_cut(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int64_t[::1] end,
    int8_t[::1] side,
):
    """Mark the persons behind the end of each node as right."""
    cdef Py_ssize_t node
    cdef int64_t place
    with nogil:
        for node in range(low.shape[0]):
            for place in range(low[node], high[node]):
                side[order[place]] = 1 if place >= end[node] else 0


def mark_members(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int32_t[::1] column,
    const int32_t[::1] member,
    int8_t[::1] side,
):
    """Mark the members of an indicator column as right."""
    cdef Py_ssize_t node
    cdef int64_t place, person
    with nogil:
        for node in range(low.shape[0]):
            for place in range(low[node], high[node]):
                person = order[place]
                side[person] = 1 if member[person] == column[node] else 0


def partition(
    int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int8_t[::1] side,
):
    """Move the left persons of each node before the right ones, order kept, in place."""
    cdef Py_ssize_t node
    cdef int64_t longest = 0, write, moved, place, kept_place
    cdef int32_t person
    for node in range(low.shape[0]):
        longest = max(longest, high[node] - low[node])
    cdef int32_t[::1] kept = np.empty(longest, np.int32)
    with nogil:
        for node in range(low.shape[0]):
            write, moved = low[node], 0
            for place in range(low[node], high[node]):
                person = order[place]
                if side[person]:
                    kept[moved] = person
                    moved += 1
                else:
                    order[write] = person
                    write += 1
            for kept_place in range(moved):
                order[write + kept_place] = kept[kept_place]


def side_affiliations(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int8_t[::1] side,
    const int64_t[::1] offsets,
    const int32_t[::1] values,
    int64_t size,
):
    """Most shared value and distinct values on both sides of each node."""
    cdef Py_ssize_t nodes = low.shape[0], node
    affiliations = np.zeros((nodes, 2), np.int64)
    distincts = np.zeros((nodes, 2), np.int64)
    cdef int64_t[:, ::1] affiliation = affiliations, distinct = distincts
    cdef int64_t[:, ::1] shared = np.zeros((2, size), np.int64)
    cdef int64_t place, person, entry, value, half
    with nogil:
        for node in range(nodes):
            for place in range(low[node], high[node]):
                person = order[place]
                half = side[person]
                for entry in range(offsets[person], offsets[person + 1]):
                    value = values[entry]
                    shared[half, value] += 1
                    if shared[half, value] == 1:
                        distinct[node, half] += 1
                    affiliation[node, half] = max(affiliation[node, half], shared[half, value])
            for place in range(low[node], high[node]):
                person = order[place]
                for entry in range(offsets[person], offsets[person + 1]):
                    shared[0, values[entry]] = 0
                    shared[1, values[entry]] = 0
    return affiliations, distincts


# -------------------------------------------------------- what the loops of a search know


cdef class Known:
    """What is known of each person, as `tree_loops.Known` says; loops set what they read."""

    cdef const int64_t[::1] records
    cdef const int32_t[:, ::1] positions
    cdef const int32_t[:, ::1] members
    cdef const double[:, ::1] totals
    cdef const int64_t[:, ::1] presents
    cdef const double[:, ::1] lowest
    cdef const double[:, ::1] highest
    cdef const double[::1] squares
    cdef const int64_t[::1] offsets
    cdef const int32_t[::1] values
    cdef const int32_t[::1] counts
    cdef const int64_t[::1] sensitive_offsets
    cdef const int32_t[::1] sensitive


cdef class Axes:
    """What is known of the axes and of what their values weigh, as `tree_loops.Axes` says."""

    cdef const uint8_t[::1] strict
    cdef const int64_t[::1] missing
    cdef const int64_t[::1] columns
    cdef bint complete
    cdef const double[::1] attribute_weights
    cdef const double[::1] weights
    cdef const int32_t[::1] axis_of
    cdef const double[::1] error_weights
    cdef const double[::1] width_weights
    cdef const double[::1] width_scales


cdef class Limits:
    """What every class must keep, as `tree_loops.Limits` says."""

    cdef int64_t records
    cdef int64_t persons
    cdef double squares
    cdef const int32_t[::1] attribute_of
    cdef const double[::1] affiliation
    cdef const int64_t[::1] distinct
    cdef int64_t sharing


cdef class Chosen:
    """One cut per entry, as `tree_loops.Chosen` says."""

    cdef int64_t[::1] axis
    cdef int32_t[::1] column
    cdef int64_t[::1] left
    cdef int64_t[::1] left_records
    cdef int64_t[::1] left_squares
    cdef double[::1] lost


cdef class Scratch:
    """The memory that the search writes to at each node; counters are zeros between two uses.

    ``total``, ``present``, ``own_total`` and ``own_present`` are sums and numbers of values of the
    node and of a part, per ordered attribute; ``held`` and ``own_held`` count records per 0/1
    column; ``distinct_columns`` and ``covered`` are categories and records per indicator axis.

    ``share`` and ``lost``, per ordered axis and place: share of the records on the smaller side of
    a cut behind it, negative where that is no cut; and the loss of both sides, infinite likewise.

    ``sharers`` counts persons per sensitive value; ``most_shared`` and ``distinct``, per attribute,
    persons of the most shared value and distinct values; ``counts`` persons per number of records.

    ``ends`` and ``grouped`` are the persons by their column of an indicator axis. The entries are
    cuts along indicator axes: where, whether they are known to keep the promises, persons, records
    and squared record counts of their members, and the loss of both sides.

    ``key``, ``place`` and ``checked``, of each ordered axis at each share: the key of its best
    place (or a bound of it), and the place; and whether its places are known to keep the promises.
    """

    cdef double[::1] total
    cdef int64_t[::1] present
    cdef double[::1] own_total
    cdef int64_t[::1] own_present
    cdef int64_t[::1] held
    cdef int64_t[::1] own_held
    cdef int64_t[::1] distinct_columns
    cdef int64_t[::1] covered
    cdef double[:, ::1] share
    cdef double[:, ::1] lost
    cdef int64_t[::1] sharers
    cdef int64_t[::1] most_shared
    cdef int64_t[::1] distinct
    cdef int64_t[::1] counts
    cdef int64_t[::1] ends
    cdef int32_t[::1] grouped
    cdef int64_t[::1] entry_axis
    cdef int32_t[::1] entry_column
    cdef uint8_t[::1] entry_checked
    cdef int64_t[:, ::1] entry_right
    cdef double[::1] entry_lost
    cdef double[:, ::1] key
    cdef int64_t[:, ::1] place
    cdef uint8_t[::1] checked


cdef Known _known(known):
    cdef Known found = Known()
    (
        found.records, found.positions, found.members, found.totals, found.presents, found.lowest,
        found.highest, found.squares, found.offsets, found.values, found.counts,
        found.sensitive_offsets, found.sensitive,
    ) = known
    return found


cdef Axes _axes(axes):
    cdef Axes found = Axes()
    strict, found.missing, found.columns, found.complete, *rest = axes
    found.strict = strict.view(np.uint8)
    (
        found.attribute_weights, found.weights, found.axis_of, found.error_weights,
        found.width_weights, found.width_scales,
    ) = rest
    return found


cdef Limits _limits(limits):
    cdef Limits found = Limits()
    (
        found.records, found.persons, found.squares, found.attribute_of, found.affiliation,
        found.distinct, found.sharing,
    ) = limits
    return found


cdef Chosen _nothing_chosen(Py_ssize_t cuts):
    cdef Chosen chosen = Chosen()
    chosen.axis = np.full(cuts, -1, np.int64)
    chosen.column = np.zeros(cuts, np.int32)
    chosen.left = np.zeros(cuts, np.int64)
    chosen.left_records = np.zeros(cuts, np.int64)
    chosen.left_squares = np.zeros(cuts, np.int64)
    chosen.lost = np.zeros(cuts)
    return chosen


cdef Scratch _scratch(int64_t longest, int64_t most, Axes axes, Limits limits, int64_t shares):
    """Memory for nodes of up to ``longest`` persons, of ``most`` records each at most."""
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t axis, ordered = axes.missing.shape[0], indicators = axes.columns.shape[0]
    cdef int64_t entries = 0, widest = 0
    for axis in range(indicators):
        entries += min(axes.columns[axis], longest)
        widest = max(widest, axes.columns[axis])
    _give_sums(scratch, ordered, axes.weights.shape[0])
    scratch.distinct_columns = np.zeros(indicators, np.int64)
    scratch.covered = np.zeros(indicators, np.int64)
    scratch.share = np.empty((ordered, longest))
    scratch.lost = np.empty((ordered, longest))
    scratch.sharers = np.zeros(limits.attribute_of.shape[0], np.int64)
    scratch.most_shared = np.zeros(limits.distinct.shape[0], np.int64)
    scratch.distinct = np.zeros(limits.distinct.shape[0], np.int64)
    scratch.counts = np.zeros(most + 1, np.int64)
    scratch.ends = np.zeros(widest + 2, np.int64)
    scratch.grouped = np.empty(longest, np.int32)
    scratch.entry_axis = np.empty(entries, np.int64)
    scratch.entry_column = np.empty(entries, np.int32)
    scratch.entry_checked = np.empty(entries, np.uint8)
    scratch.entry_right = np.empty((entries, 3), np.int64)
    scratch.entry_lost = np.empty(entries)
    scratch.key = np.empty((ordered, shares))
    scratch.place = np.empty((ordered, shares), np.int64)
    scratch.checked = np.empty(ordered, np.uint8)
    return scratch


cdef _give_sums(Scratch scratch, attributes, columns):
    """Zeros for the sums of a node and of a part of it."""
    scratch.total, scratch.own_total = np.zeros(attributes), np.zeros(attributes)
    scratch.present = np.zeros(attributes, np.int64)
    scratch.own_present = np.zeros(attributes, np.int64)
    scratch.held, scratch.own_held = np.zeros(columns, np.int64), np.zeros(columns, np.int64)


cdef int64_t _longest_of(const int64_t[::1] low, const int64_t[::1] high) except -1:
    """Persons of the largest node."""
    cdef int64_t longest = 0
    cdef Py_ssize_t node
    for node in range(low.shape[0]):
        longest = max(longest, high[node] - low[node])
    return longest


# ------------------------------------------------------------------- sums over a node


cdef int _forget(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    const int64_t[::1] offsets,
    const int32_t[::1] values,
    int64_t[::1] held,
) except -1 nogil:
    """Set ``held``, which counts nobody else's values, to 0."""
    cdef int64_t place, entry, person
    if held.shape[0] <= CLEARED_AT_ONCE * (stop - start):
        held[:] = 0
        return 0
    for place in range(start, stop):
        person = order[place]
        for entry in range(offsets[person], offsets[person + 1]):
            held[values[entry]] = 0
    return 0


cdef int _forget_held(
    const int32_t[::1] order, int64_t start, int64_t stop, Known known, int64_t[::1] held
) except -1 nogil:
    return _forget(order, start, stop, known.offsets, known.values, held)


cdef int _count_shared(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    int64_t step,
    int64_t shift,
    const int64_t[::1] offsets,
    const int32_t[::1] values,
    int64_t[::1] shared,
    int64_t[::1] most,
    int64_t[::1] distinct,
) except -1 nogil:
    """Fill ``most`` and ``distinct``, ``shift`` places on, with what is met from ``start`` on."""
    cdef int64_t largest = 0, different = 0, place = start, entry, person
    while place != stop:
        person = order[place]
        for entry in range(offsets[person], offsets[person + 1]):
            shared[values[entry]] += 1
            if shared[values[entry]] == 1:
                different += 1
            largest = max(largest, shared[values[entry]])
        most[place + shift] = largest
        distinct[place + shift] = different
        place += step
    return 0


def scan_affiliations(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int64_t[::1] offsets,
    const int32_t[::1] values,
    int64_t size,
):
    """Most shared value and distinct values up to and behind every place of each node."""
    places = len(order)
    lefts, lefts_distinct = np.zeros(places, np.int64), np.zeros(places, np.int64)
    rights, rights_distinct = np.zeros(places, np.int64), np.zeros(places, np.int64)
    cdef int64_t[::1] left = lefts, left_distinct = lefts_distinct
    cdef int64_t[::1] right = rights, right_distinct = rights_distinct
    cdef int64_t[::1] shared = np.zeros(size, np.int64)
    cdef Py_ssize_t node
    cdef int64_t start, stop
    with nogil:
        for node in range(low.shape[0]):
            start, stop = low[node], high[node]
            _count_shared(order, start, stop, 1, 0, offsets, values, shared, left, left_distinct)
            _forget(order, start, stop, offsets, values, shared)
            _count_shared(
                order, stop - 1, start, -1, -1, offsets, values, shared, right, right_distinct
            )
            _forget(order, start, stop, offsets, values, shared)
    return lefts, rights, lefts_distinct, rights_distinct


cdef double _gain_of(Scratch scratch) except? -1.0 nogil:
    """What the squared distance loses when a node's own part is cut off, over attributes.

    Own part and rest, of m and n - m values, gain m (n - m) / n times the squared distance of
    their means, which does not cancel as differences of moments do.
    """
    cdef double gain = 0.0, apart
    cdef int64_t number, own
    cdef Py_ssize_t attribute
    for attribute in range(scratch.total.shape[0]):
        number, own = scratch.present[attribute], scratch.own_present[attribute]
        if 0 < own < number:
            apart = scratch.own_total[attribute] - scratch.total[attribute] * (
                <double>own / <double>number
            )
            gain += apart * apart * (<double>number / <double>(own * (number - own)))
    return gain


cdef int _gather(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    Known known,
    Axes axes,
    Scratch scratch,
    int64_t* records,
    double* whole,
    double* weighted,
) except -1 nogil:
    """Fill the scratch's sums of a node; its records, loss and pairs.

    Pairs are the weighted sum of the squared counts of the 0/1 columns.
    """
    cdef int64_t number = 0, place, person, entry, value, count
    cdef double square = 0.0, pairs = 0.0, moment = 0.0, loss
    cdef Py_ssize_t attribute, attributes = scratch.total.shape[0]
    scratch.total[:] = 0.0
    scratch.present[:] = 0
    for place in range(start, stop):
        person = order[place]
        number += known.records[person]
        square += known.squares[person]
        for attribute in range(attributes):
            scratch.total[attribute] += known.totals[person, attribute]
            scratch.present[attribute] += known.presents[person, attribute]
        for entry in range(known.offsets[person], known.offsets[person + 1]):
            value, count = known.values[entry], known.counts[entry]
            square += axes.weights[value] * count
            pairs += axes.weights[value] * count * (2 * scratch.held[value] + count)
            scratch.held[value] += count
    for attribute in range(attributes):
        if scratch.present[attribute] > 0:
            moment += (
                scratch.total[attribute] * scratch.total[attribute] / scratch.present[attribute]
            )
    loss = square - moment - pairs / number
    records[0] = number
    whole[0] = loss if loss > 0.0 else 0.0
    weighted[0] = pairs
    return 0


def scan_losses(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int64_t[::1] records,
    const double[:, ::1] totals,
    const double[::1] squares,
    const int64_t[:, ::1] presents,
    const int64_t[::1] offsets,
    const int32_t[::1] values,
    const int32_t[::1] counts,
    const double[::1] weights,
):
    """Loss of each node whole, and of its two sides when it is cut behind each place."""
    cdef Known known = Known()
    cdef Axes axes = Axes()
    cdef Scratch scratch = Scratch()
    known.records, known.totals, known.squares, known.presents = records, totals, squares, presents
    known.offsets, known.values, known.counts, axes.weights = offsets, values, counts, weights
    _give_sums(scratch, totals.shape[1], weights.shape[0])
    wholes, afters = np.zeros(len(low), np.float64), np.zeros(len(order), np.float64)
    cdef double[::1] whole = wholes, after = afters
    cdef double[::1] left_total = scratch.own_total
    cdef int64_t[::1] left_present = scratch.own_present
    cdef int64_t[::1] right_held = scratch.held, left_held = scratch.own_held
    cdef Py_ssize_t node, attribute, attributes = totals.shape[1]
    cdef int64_t start, stop, number = 0, left_number, place, person, entry, value, count
    cdef double pairs = 0.0, left_pairs, right_pairs, gain, own_loss = 0.0
    with nogil:
        for node in range(low.shape[0]):
            start, stop = low[node], high[node]
            _gather(order, start, stop, known, axes, scratch, &number, &own_loss, &pairs)
            whole[node] = own_loss
            left_total[:] = 0.0
            left_present[:] = 0
            left_number, left_pairs, right_pairs = 0, 0.0, pairs
            for place in range(start, stop):
                person = order[place]
                left_number += records[person]
                for attribute in range(attributes):
                    left_total[attribute] += totals[person, attribute]
                    left_present[attribute] += presents[person, attribute]
                for entry in range(offsets[person], offsets[person + 1]):
                    value, count = values[entry], counts[entry]
                    right_pairs -= weights[value] * count * (2 * right_held[value] - count)
                    right_held[value] -= count
                    left_pairs += weights[value] * count * (2 * left_held[value] + count)
                    left_held[value] += count
                if place + 1 < stop:
                    gain = left_pairs / left_number + right_pairs / (number - left_number)
                    gain += _gain_of(scratch) - pairs / number
                    gain = own_loss - gain
                    after[place] = gain if gain > 0.0 else 0.0
            _forget(order, start, stop, offsets, values, left_held)
    return wholes, afters


cdef int _group(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    Known known,
    int64_t axis,
    int64_t columns,
    Scratch scratch,
) except -1 nogil:
    """Put a node's persons by column, and where those of column c end into ``ends[c + 1]``."""
    cdef int64_t place, column
    for column in range(columns + 2):
        scratch.ends[column] = 0
    for place in range(start, stop):
        scratch.ends[known.members[axis, order[place]] + 2] += 1
    for column in range(columns):
        scratch.ends[column + 2] += scratch.ends[column + 1]
    for place in range(start, stop):
        column = known.members[axis, order[place]]
        scratch.grouped[scratch.ends[column + 1]] = order[place]
        scratch.ends[column + 1] += 1
    return 0


cdef int _shift_pairs(
    int64_t first,
    int64_t last,
    Known known,
    Axes axes,
    Scratch scratch,
    double* pairs,
    double* less,
) except -1 nogil:
    """Pairs of the members ``grouped[first:last]``, and by how much those of the rest shrink.

    ``own_held`` is left at 0.
    """
    cdef double own_pairs = 0.0, lost = 0.0
    cdef int64_t place, person, entry, value, count, rest
    for place in range(first, last):
        person = scratch.grouped[place]
        for entry in range(known.offsets[person], known.offsets[person + 1]):
            value, count = known.values[entry], known.counts[entry]
            rest = scratch.held[value] - scratch.own_held[value]
            lost += axes.weights[value] * count * (2 * rest - count)
            own_pairs += axes.weights[value] * count * (2 * scratch.own_held[value] + count)
            scratch.own_held[value] += count
    _forget_held(scratch.grouped, first, last, known, scratch.own_held)
    pairs[0] = own_pairs
    less[0] = lost
    return 0


cdef int _own_sums(int64_t first, int64_t last, Known known, Scratch scratch) except -1 nogil:
    """Fill the sums of the part ``grouped[first:last]``."""
    cdef int64_t place, person
    cdef Py_ssize_t attribute
    scratch.own_total[:] = 0.0
    scratch.own_present[:] = 0
    for place in range(first, last):
        person = scratch.grouped[place]
        for attribute in range(scratch.own_total.shape[0]):
            scratch.own_total[attribute] += known.totals[person, attribute]
            scratch.own_present[attribute] += known.presents[person, attribute]
    return 0


cdef int _sizes(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    Known known,
    int64_t* records,
    int64_t* squares,
) except -1 nogil:
    """Number of records, and sum of the persons' squared ones."""
    cdef int64_t number = 0, squared = 0, place, own
    for place in range(start, stop):
        own = known.records[order[place]]
        number += own
        squared += own * own
    records[0] = number
    squares[0] = squared
    return 0


def member_losses(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int32_t[:, ::1] member,
    int64_t columns,
    const int64_t[::1] records,
    const double[:, ::1] totals,
    const double[::1] squares,
    const int64_t[:, ::1] presents,
    const int64_t[::1] offsets,
    const int32_t[::1] values,
    const int32_t[::1] counts,
    const double[::1] weights,
):
    """Persons, records and loss when the members of each 0/1 column are cut off each node."""
    cdef Known known = Known()
    cdef Axes axes = Axes()
    cdef Scratch scratch = Scratch()
    known.records, known.totals, known.squares, known.presents = records, totals, squares, presents
    known.offsets, known.values, known.counts, axes.weights = offsets, values, counts, weights
    known.members = member
    _give_sums(scratch, totals.shape[1], weights.shape[0])
    scratch.ends = np.zeros(columns + 2, np.int64)
    scratch.grouped = np.empty(_longest_of(low, high), np.int32)
    cdef Py_ssize_t node
    cdef int64_t room = 0, column, first, last, number = 0, own_number = 0, own_squares = 0
    cdef int64_t found = 0
    cdef double whole = 0.0, pairs = 0.0, own_pairs = 0.0, lost = 0.0, gain
    for node in range(low.shape[0]):
        room += min(high[node] - low[node], columns)
    found_nodes, found_columns = np.empty(room, np.int64), np.empty(room, np.int32)
    rights, rights_records = np.zeros(room, np.int64), np.zeros(room, np.int64)
    rights_squares, afters = np.zeros(room, np.int64), np.zeros(room, np.float64)
    cdef int64_t[::1] found_node = found_nodes, right = rights, right_records = rights_records
    cdef int64_t[::1] right_squares = rights_squares
    cdef int32_t[::1] found_column = found_columns
    cdef double[::1] after = afters
    with nogil:
        for node in range(low.shape[0]):
            _gather(order, low[node], high[node], known, axes, scratch, &number, &whole, &pairs)
            _group(order, low[node], high[node], known, 0, columns, scratch)
            for column in range(columns):
                first, last = scratch.ends[column], scratch.ends[column + 1]
                if first == last:
                    continue
                _sizes(scratch.grouped, first, last, known, &own_number, &own_squares)
                _own_sums(first, last, known, scratch)
                after[found] = whole
                if own_number < number:
                    _shift_pairs(first, last, known, axes, scratch, &own_pairs, &lost)
                    gain = (pairs - lost) / (number - own_number) - pairs / number
                    gain += own_pairs / own_number
                    gain += _gain_of(scratch)
                    gain = whole - gain
                    after[found] = gain if gain > 0.0 else 0.0
                right_records[found] = own_number
                right_squares[found] = own_squares
                found_node[found] = node
                found_column[found] = <int32_t>column
                right[found] = last - first
                found += 1
            _forget(order, low[node], high[node], offsets, values, scratch.held)
    return (
        found_nodes[:found],
        found_columns[:found],
        rights[:found],
        rights_records[:found],
        rights_squares[:found],
        afters[:found],
    )


# ---------------------------------------------------------------- loss of released values


cdef double _ordered_loss(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    int64_t number,
    Py_ssize_t attribute,
    Known known,
    double weight,
) except? -1.0 nogil:
    """Absolute error and width of one ordered attribute in one node."""
    cdef double total = 0.0, least = INFINITY, most = -INFINITY, mean, error = 0.0, width
    cdef int64_t present = 0, place, person
    for place in range(start, stop):
        person = order[place]
        total += known.totals[person, attribute]
        present += known.presents[person, attribute]
        least = min(least, known.lowest[person, attribute])
        most = max(most, known.highest[person, attribute])
    if present == 0:
        return 0.0
    mean = total / present
    for place in range(start, stop):
        person = order[place]
        error += fabs(
            known.totals[person, attribute] - known.presents[person, attribute] * mean
        )
    width = weight if present < number else most - least
    return weight * (error + width * number)


cdef double _category_error(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    int64_t number,
    Known known,
    Axes axes,
    Scratch scratch,
) except? -1.0 nogil:
    """Absolute error of the 0/1 columns in one node, whose categories per axis are counted."""
    cdef int64_t place, person, entry, value, count, axis
    cdef double error = 0.0, weight, share
    scratch.distinct_columns[:] = 0
    scratch.covered[:] = 0
    for place in range(start, stop):
        person = order[place]
        for entry in range(known.offsets[person], known.offsets[person + 1]):
            value, count = known.values[entry], known.counts[entry]
            axis = axes.axis_of[value]
            if scratch.held[value] == 0:
                scratch.distinct_columns[axis] += 1
            scratch.held[value] += count
            scratch.covered[axis] += count
    for place in range(start, stop):
        person = order[place]
        for entry in range(known.offsets[person], known.offsets[person + 1]):
            value = known.values[entry]
            count = scratch.held[value]
            weight = axes.error_weights[axes.axis_of[value]]
            share = <double>count / <double>number
            error += weight * count * (1.0 - (1.0 if 1.0 < share else share))
            scratch.held[value] = 0
    return error


cdef double _leaf_loss(
    const int32_t[::1] order, int64_t start, int64_t stop, Known known, Axes axes, Scratch scratch
) except? -1.0 nogil:
    """Absolute error and width of the released values of one node; ``held`` comes as zeros."""
    cdef double loss = 0.0, width
    cdef int64_t number = 0, place, others
    cdef Py_ssize_t attribute, axis
    for place in range(start, stop):
        number += known.records[order[place]]
    for attribute in range(known.totals.shape[1]):
        loss += _ordered_loss(
            order, start, stop, number, attribute, known, axes.attribute_weights[attribute]
        )
    loss += _category_error(order, start, stop, number, known, axes, scratch)
    for axis in range(scratch.distinct_columns.shape[0]):
        others = scratch.distinct_columns[axis] - 1 + (scratch.covered[axis] < number)
        if others > 0:
            width = others * axes.width_scales[axis]
            width = 1.0 if 1.0 < width else width
            loss += axes.width_weights[axis] * width * number
    return loss


def leaf_losses(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int64_t[::1] records,
    const double[:, ::1] totals,
    const int64_t[:, ::1] presents,
    const double[:, ::1] lowest,
    const double[:, ::1] highest,
    const double[::1] attribute_weights,
    const int64_t[::1] offsets,
    const int32_t[::1] values,
    const int32_t[::1] counts,
    const int32_t[::1] axis_of,
    const double[::1] error_weights,
    const double[::1] width_weights,
    const double[::1] width_scales,
):
    """Absolute error and width of the released values of each node."""
    cdef Known known = Known()
    cdef Axes axes = Axes()
    cdef Scratch scratch = Scratch()
    known.records, known.totals, known.presents = records, totals, presents
    known.lowest, known.highest = lowest, highest
    known.offsets, known.values, known.counts = offsets, values, counts
    axes.attribute_weights, axes.axis_of, axes.error_weights = (
        attribute_weights, axis_of, error_weights
    )
    axes.width_weights, axes.width_scales = width_weights, width_scales
    scratch.held = np.zeros(axis_of.shape[0], np.int64)
    scratch.distinct_columns = np.zeros(error_weights.shape[0], np.int64)
    scratch.covered = np.zeros(error_weights.shape[0], np.int64)
    losses = np.zeros(len(low), np.float64)
    cdef double[::1] loss = losses
    cdef Py_ssize_t node
    with nogil:
        for node in range(low.shape[0]):
            loss[node] = _leaf_loss(order, low[node], high[node], known, axes, scratch)
    return losses


# ------------------------------------------------------------------ what is promised


cdef bint _large_enough(
    Limits limits, int64_t persons, int64_t records, int64_t squares
) noexcept nogil:
    """Whether one side keeps the promises about its size."""
    if persons < limits.persons or records < limits.records:
        return False
    return squares <= limits.squares * (<double>records * <double>records)


cdef int _met(int64_t persons, Limits limits, Scratch scratch) except -1 nogil:
    """Whether one side keeps the promises about the sensitive values of its persons."""
    cdef Py_ssize_t attribute
    for attribute in range(scratch.distinct.shape[0]):
        if scratch.most_shared[attribute] > limits.affiliation[attribute] * persons:
            return 0
        if scratch.distinct[attribute] < limits.distinct[attribute]:
            return 0
    return 1


cdef int _add(int64_t person, Known known, Limits limits, Scratch scratch) except -1 nogil:
    """Count the sensitive values of one person more."""
    cdef int64_t entry, value, attribute, number
    for entry in range(known.sensitive_offsets[person], known.sensitive_offsets[person + 1]):
        value = known.sensitive[entry]
        attribute = limits.attribute_of[value]
        number = scratch.sharers[value] + 1
        scratch.sharers[value] = number
        scratch.most_shared[attribute] = max(scratch.most_shared[attribute], number)
        if number == 1:
            scratch.distinct[attribute] += 1
    return 0


cdef int _rarer(int64_t person, Known known, Limits limits, Scratch scratch) except -2 nogil:
    """By how much one person more changes how many numbers of records too few persons share."""
    cdef int64_t number
    if limits.sharing <= 1:
        return 0
    number = scratch.counts[known.records[person]] + 1
    scratch.counts[known.records[person]] = number
    return (number == 1) - (number == limits.sharing)


cdef int _forget_persons(
    const int32_t[::1] order, int64_t first, int64_t last, Known known, Limits limits,
    Scratch scratch,
) except -1 nogil:
    """Set the counters of everything that these persons have to 0."""
    cdef int64_t place
    _forget(order, first, last, known.sensitive_offsets, known.sensitive, scratch.sharers)
    if limits.sharing > 1:
        for place in range(first, last):
            scratch.counts[known.records[order[place]]] = 0
    return 0


cdef int _check_one_way(
    const int32_t[::1] order,
    int64_t first,
    int64_t last,
    bint back,
    int64_t start,
    Known known,
    Limits limits,
    Scratch scratch,
    double[:, ::1] lost,
    Py_ssize_t axis,
) except -1 nogil:
    """Make ``lost`` infinite where the persons so far break a promise.

    They are met from ``first`` to before ``last``, or ``back`` from before ``last`` to ``first``,
    where a cut stands before the person.
    """
    cdef int64_t place, person, behind, persons = 0, rare = 0
    scratch.most_shared[:] = 0
    scratch.distinct[:] = 0
    while persons < last - first:
        place = last - 1 - persons if back else first + persons
        persons += 1
        person = order[place]
        _add(person, known, limits, scratch)
        rare += _rarer(person, known, limits, scratch)
        behind = place - back - start
        if lost[axis, behind] < INFINITY and (rare > 0 or not _met(persons, limits, scratch)):
            lost[axis, behind] = INFINITY
    _forget_persons(order, first, last, known, limits, scratch)
    return 0


cdef int _check_places(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    Known known,
    Limits limits,
    Scratch scratch,
    double[:, ::1] lost,
    Py_ssize_t axis,
) except -1 nogil:
    """Make ``lost`` of every place infinite behind which a cut breaks a promise on a side."""
    cdef int64_t first = start, last = stop - 2, end
    while last >= first and lost[axis, last - start] == INFINITY:
        last -= 1
    _check_one_way(
        order, start, max(last + 1, start), False, start, known, limits, scratch, lost, axis
    )
    while first <= last and lost[axis, first - start] == INFINITY:
        first += 1
    end = first if first <= last else stop - 1
    _check_one_way(order, end + 1, stop, True, start, known, limits, scratch, lost, axis)
    return 0


cdef int _side_meets(
    const int32_t[::1] order,
    int64_t first,
    int64_t last,
    int64_t member,
    int64_t column,
    bint inside,
    Known known,
    Limits limits,
    Scratch scratch,
) except -1 nogil:
    """Whether the persons keep the promises who are ``inside`` a column of an axis, or not.

    A column of -1 stands for all of the persons.
    """
    cdef int64_t place, person, persons = 0, rare = 0
    scratch.most_shared[:] = 0
    scratch.distinct[:] = 0
    for place in range(first, last):
        person = order[place]
        if column >= 0 and (known.members[member, person] == column) != inside:
            continue
        persons += 1
        _add(person, known, limits, scratch)
        rare += _rarer(person, known, limits, scratch)
    _forget_persons(order, first, last, known, limits, scratch)
    return rare == 0 and _met(persons, limits, scratch)


cdef int _members_meet(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    int64_t member,
    int64_t column,
    Known known,
    Limits limits,
    Scratch scratch,
) except -1 nogil:
    """Whether the members of a column and the others of a node both keep the promises."""
    return _side_meets(
        order, start, stop, member, column, False, known, limits, scratch
    ) and _side_meets(order, start, stop, member, column, True, known, limits, scratch)


cdef int _place_meets(
    const int32_t[::1] order,
    int64_t start,
    int64_t end,
    int64_t stop,
    Known known,
    Limits limits,
    Scratch scratch,
) except -1 nogil:
    """Whether the persons before ``end`` and the others of a node both keep the promises."""
    return _side_meets(order, start, end, 0, -1, False, known, limits, scratch) and _side_meets(
        order, end, stop, 0, -1, False, known, limits, scratch
    )


# ------------------------------------------------------------- cuts behind places


cdef bint _gains(double after, double before) noexcept nogil:
    """Whether a cut lowers a node's loss by more than rounding."""
    return after < before * (1 - LEAST_GAIN) - LEAST_GAIN


cdef int _find_places(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    int64_t number,
    int64_t squares,
    Py_ssize_t axis,
    Known known,
    Axes axes,
    Limits limits,
    Scratch scratch,
) except -1 nogil:
    """Fill ``share`` of every place, negative where both sides are no classes; is there a cut.

    ``number`` and ``squares`` are the node's records and squared record counts.
    """
    cdef bint strict = axes.strict[axis]
    cdef int64_t missing = axes.missing[axis], left_number = 0, left_squares = 0
    cdef int64_t place, person, records, here, left, right
    cdef int found = 0
    for place in range(start, stop - 1):
        person = order[place]
        records = known.records[person]
        left_number += records
        left_squares += records * records
        here = known.positions[axis, person]
        scratch.share[axis, place - start] = -1.0
        if here == known.positions[axis, order[place + 1]] and (strict or here == missing):
            continue
        left, right = place + 1 - start, stop - place - 1
        if _large_enough(limits, left, left_number, left_squares) and _large_enough(
            limits, right, number - left_number, squares - left_squares
        ):
            scratch.share[axis, place - start] = (
                <double>min(left_number, number - left_number) / <double>number
            )
            found = 1
    return found


cdef int _place_losses(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    int64_t number,
    double whole,
    double pairs,
    Known known,
    Axes axes,
    Scratch scratch,
    Py_ssize_t axis,
) except -1 nogil:
    """Fill ``lost`` of every place, infinite where there is no cut or where it gains nothing.

    ``scratch`` holds the node's totals and 0/1 columns, ``whole`` its loss, and ``pairs`` the
    weighted sum of its squared counts of 0/1 columns.
    """
    cdef Py_ssize_t attribute, attributes = scratch.total.shape[0]
    cdef int64_t last = stop - 2, own = 0, place, person, entry, value, count, left
    cdef double left_pairs = 0.0, right_pairs = pairs, weight, gain, part, apart, difference, after
    scratch.own_total[:] = 0.0
    scratch.own_present[:] = 0
    while last >= start and scratch.share[axis, last - start] < 0:
        scratch.lost[axis, last - start] = INFINITY
        last -= 1
    for place in range(start, last + 1):
        person = order[place]
        own += known.records[person]
        for attribute in range(attributes):
            scratch.own_total[attribute] += known.totals[person, attribute]
        if not axes.complete:
            for attribute in range(attributes):
                scratch.own_present[attribute] += known.presents[person, attribute]
        for entry in range(known.offsets[person], known.offsets[person + 1]):
            value, count = known.values[entry], known.counts[entry]
            left, weight = scratch.own_held[value], axes.weights[value]
            right_pairs -= weight * count * (2 * (scratch.held[value] - left) - count)
            left_pairs += weight * count * (2 * left + count)
            scratch.own_held[value] = left + count
        scratch.lost[axis, place - start] = INFINITY
        if scratch.share[axis, place - start] < 0:
            continue
        gain = left_pairs / own + right_pairs / (number - own) - pairs / number
        if axes.complete:
            part, apart = <double>own / <double>number, 0.0
            for attribute in range(attributes):
                difference = scratch.own_total[attribute] - scratch.total[attribute] * part
                apart += difference * difference
            gain += apart * (<double>number / <double>(own * (number - own)))
        else:
            gain += _gain_of(scratch)
        after = whole - gain
        after = after if after > 0.0 else 0.0
        if _gains(after, whole):
            scratch.lost[axis, place - start] = after
    _forget_held(order, start, last + 1, known, scratch.own_held)
    return 0


cdef int _best_places(
    int64_t places,
    Py_ssize_t axis,
    double whole,
    bint sure,
    const double[::1] shares,
    Py_ssize_t first,
    Py_ssize_t number,
    Scratch scratch,
) except -1 nogil:
    """Fill ``key`` and ``place`` of one axis at each share, the shares ascending.

    The best place is that of least loss among those that divide evenly enough. The key is its
    loss over the node's, plus 1 where the share was not to be had; unless it is ``sure`` that all
    of the places keep the promises, it is a lower bound of that.
    """
    cdef double widest = 0.0, least = INFINITY, wanted
    cdef int64_t place
    cdef Py_ssize_t which
    cdef bint had
    for place in range(places):
        if scratch.lost[axis, place] < INFINITY:
            widest = max(widest, scratch.share[axis, place])
            least = min(least, scratch.lost[axis, place])
    scratch.key[axis, :] = INFINITY
    scratch.place[axis, :] = -1
    if least == INFINITY:
        return 0
    for place in range(places):
        if scratch.lost[axis, place] < INFINITY:
            for which in range(number - 1, -1, -1):
                wanted = min(shares[first + which], widest)
                if scratch.share[axis, place] < wanted - LEAST_GAIN:
                    continue
                if scratch.lost[axis, place] >= scratch.key[axis, which]:
                    break
                scratch.key[axis, which] = scratch.lost[axis, place]
                scratch.place[axis, which] = place
    for which in range(number):
        had = widest >= shares[first + which]
        if sure or had:
            scratch.key[axis, which] = scratch.key[axis, which] / whole + (0.0 if had else 1.0)
        else:
            scratch.key[axis, which] = 1.0 + least / whole
    return 0


# ------------------------------------------------------- cuts of members, and the best of all


cdef int64_t _member_cuts(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    int64_t number,
    int64_t squares,
    double whole,
    double pairs,
    bint sure,
    Known known,
    Axes axes,
    Limits limits,
    Scratch scratch,
) except -1 nogil:
    """Fill the entries of all cuts that gain and whose sides are large enough; their number."""
    cdef int64_t found = 0, column, first, last, own = 0, own_squares = 0, right, left
    cdef double own_pairs = 0.0, less = 0.0, gain, after
    cdef Py_ssize_t axis
    for axis in range(axes.columns.shape[0]):
        _group(order, start, stop, known, axis, axes.columns[axis], scratch)
        for column in range(axes.columns[axis]):
            first, last = scratch.ends[column], scratch.ends[column + 1]
            if first == last or last - first == stop - start:
                continue
            _sizes(scratch.grouped, first, last, known, &own, &own_squares)
            right, left = last - first, stop - start - last + first
            if not _large_enough(limits, right, own, own_squares) or not _large_enough(
                limits, left, number - own, squares - own_squares
            ):
                continue
            _own_sums(first, last, known, scratch)
            _shift_pairs(first, last, known, axes, scratch, &own_pairs, &less)
            gain = (pairs - less) / (number - own) - pairs / number + own_pairs / own
            gain += _gain_of(scratch)
            after = whole - gain
            after = after if after > 0.0 else 0.0
            if not _gains(after, whole):
                continue
            scratch.entry_axis[found] = axis
            scratch.entry_column[found] = <int32_t>column
            scratch.entry_checked[found] = sure
            scratch.entry_right[found, 0] = right
            scratch.entry_right[found, 1] = own
            scratch.entry_right[found, 2] = own_squares
            scratch.entry_lost[found] = after
            found += 1
    return found


cdef int _only_sizes(Limits limits) except -1 nogil:
    """Whether nothing is promised but sizes."""
    cdef Py_ssize_t attribute
    for attribute in range(limits.distinct.shape[0]):
        if limits.affiliation[attribute] < INFINITY or limits.distinct[attribute] > 0:
            return 0
    return limits.sharing < 2


cdef int _choose(
    const int32_t[::1] orders,
    int64_t row,
    int64_t start,
    int64_t stop,
    Known known,
    Axes axes,
    Limits limits,
    const double[::1] shares,
    Py_ssize_t first_share,
    Py_ssize_t number_of_shares,
    Scratch scratch,
    Chosen chosen,
    Py_ssize_t into,
) except -1 nogil:
    """Fill ``chosen`` from ``into`` on with the best cut of one node at each share.

    ``orders`` are one or more orders of the persons, ``row`` places each, that hold the node from
    ``start`` to ``stop``; the shares ascend. The axes are weighed first by what their cuts lose
    alone; what is promised about the persons' values is counted only for the cuts that would win.
    """
    cdef Py_ssize_t axis, which, ordered = axes.missing.shape[0]
    cdef int64_t number = 0, squares = 0, entries
    cdef double whole = 0.0, pairs = 0.0
    cdef bint found = False, sure
    for which in range(number_of_shares):
        chosen.axis[into + which] = -1
    if stop - start < 2 * limits.persons:
        return 0
    _sizes(orders, start, stop, known, &number, &squares)
    for axis in range(ordered):
        scratch.checked[axis] = _find_places(
            orders, axis * row + start, axis * row + stop, number, squares, axis, known, axes,
            limits, scratch,
        )
        found = found or scratch.checked[axis]
    if not found and not axes.columns.shape[0]:
        return 0
    _gather(orders, start, stop, known, axes, scratch, &number, &whole, &pairs)
    sure = _only_sizes(limits)
    for axis in range(ordered):
        if not scratch.checked[axis]:
            scratch.key[axis, :] = INFINITY
            continue
        _place_losses(
            orders, axis * row + start, axis * row + stop, number, whole, pairs, known, axes,
            scratch, axis,
        )
        scratch.checked[axis] = sure
        _best_places(
            stop - start - 1, axis, whole, sure, shares, first_share, number_of_shares, scratch
        )
    entries = _member_cuts(
        orders, start, stop, number, squares, whole, pairs, sure, known, axes, limits, scratch
    )
    _forget_held(orders, start, stop, known, scratch.held)
    for which in range(number_of_shares):
        _choose_one(
            orders, row, start, stop, number, squares, whole, entries, known, limits, shares,
            first_share, number_of_shares, which, scratch, chosen, into + which,
        )
    return 0


cdef int64_t _best_of_all(
    int64_t entries, int64_t number, double whole, double share, Py_ssize_t which, Scratch scratch
) except -2 nogil:
    """The axis of least key, or the number of ordered axes plus the entry; -1 for none."""
    cdef int64_t best = -1, entry, own
    cdef double least = INFINITY, key
    cdef Py_ssize_t axis, ordered = scratch.checked.shape[0]
    cdef bint uneven
    for axis in range(ordered):
        if scratch.key[axis, which] < least:
            best, least = axis, scratch.key[axis, which]
    for entry in range(entries):
        if scratch.entry_lost[entry] == INFINITY:
            continue
        own = scratch.entry_right[entry, 1]
        uneven = <double>min(number - own, own) / <double>number < share
        key = scratch.entry_lost[entry] / whole + (1.0 if uneven else 0.0)
        if key < least:
            best, least = ordered + entry, key
    return best


cdef int _choose_one(
    const int32_t[::1] orders,
    int64_t row,
    int64_t start,
    int64_t stop,
    int64_t number,
    int64_t squares,
    double whole,
    int64_t entries,
    Known known,
    Limits limits,
    const double[::1] shares,
    Py_ssize_t first_share,
    Py_ssize_t number_of_shares,
    Py_ssize_t which,
    Scratch scratch,
    Chosen chosen,
    Py_ssize_t into,
) except -1 nogil:
    """Fill one entry of ``chosen``: the cut of least key that keeps the promises."""
    cdef Py_ssize_t ordered = scratch.checked.shape[0]
    cdef int64_t best, entry, column, place, base, own = 0, own_squares = 0
    cdef double share = shares[first_share + which]
    while True:
        best = _best_of_all(entries, number, whole, share, which, scratch)
        if best < 0:
            return 0
        if best >= ordered:
            entry = best - ordered
            column = scratch.entry_column[entry]
            if not scratch.entry_checked[entry] and not _members_meet(
                orders, start, stop, scratch.entry_axis[entry], column, known, limits, scratch
            ):
                scratch.entry_lost[entry] = INFINITY
                continue
            scratch.entry_checked[entry] = True
            chosen.axis[into] = ordered + scratch.entry_axis[entry]
            chosen.column[into] = <int32_t>column
            chosen.left[into] = stop - start - scratch.entry_right[entry, 0]
            chosen.left_records[into] = number - scratch.entry_right[entry, 1]
            chosen.left_squares[into] = squares - scratch.entry_right[entry, 2]
            chosen.lost[into] = scratch.entry_lost[entry]
            return 0
        place, base = scratch.place[best, which], best * row
        if not scratch.checked[best] and not (
            stop - start >= LARGE
            and scratch.share[best, place] >= share
            and scratch.key[best, which] < 1.0
            and _place_meets(
                orders, base + start, base + start + place + 1, base + stop, known, limits, scratch
            )
        ):
            _check_places(
                orders, base + start, base + stop, known, limits, scratch, scratch.lost, best
            )
            scratch.checked[best] = True
            _best_places(
                stop - start - 1, best, whole, True, shares, first_share, number_of_shares, scratch
            )
            continue
        _sizes(orders, base + start, base + start + place + 1, known, &own, &own_squares)
        chosen.axis[into], chosen.column[into], chosen.left[into] = best, 0, place + 1
        chosen.left_records[into], chosen.left_squares[into] = own, own_squares
        chosen.lost[into] = scratch.lost[best, place]
        return 0


def best_cuts(
    const int32_t[::1] orders,
    int64_t row,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const double[::1] shares,
    known,
    axes,
    limits,
    int64_t most,
):
    """The best cut of each node at its own share; ``most`` is the most records of a person."""
    cdef Known persons = _known(known)
    cdef Axes along = _axes(axes)
    cdef Limits kept = _limits(limits)
    cdef Scratch scratch = _scratch(_longest_of(low, high), most, along, kept, 1)
    cdef Chosen chosen = _nothing_chosen(low.shape[0])
    cdef Py_ssize_t node
    with nogil:
        for node in range(low.shape[0]):
            _choose(
                orders, row, low[node], high[node], persons, along, kept, shares, node, 1, scratch,
                chosen, node,
            )
    return (
        np.asarray(chosen.axis),
        np.asarray(chosen.column),
        np.asarray(chosen.left),
        np.asarray(chosen.left_records),
        np.asarray(chosen.left_squares),
        np.asarray(chosen.lost),
    )


# ----------------------------------------------------------- what is lost below a node


def _rows(
    const int32_t[::1] order,
    int64_t start,
    int64_t stop,
    const int64_t[::1] offsets,
    const int32_t[::1] values,
):
    """The values of some persons (CSR), and where each was."""
    owns = np.zeros(stop - start + 1, np.int64)
    cdef int64_t[::1] own = owns
    cdef int64_t place, person, begin, write, entry
    with nogil:
        for place in range(start, stop):
            person = order[place]
            own[place - start + 1] = own[place - start] + offsets[person + 1] - offsets[person]
    size = owns[stop - start]
    kepts, all_entries = np.empty(size, np.int32), np.empty(size, np.int64)
    cdef int32_t[::1] kept = kepts
    cdef int64_t[::1] entries = all_entries
    with nogil:
        for place in range(start, stop):
            begin, write = offsets[order[place]], own[place - start]
            for entry in range(own[place - start + 1] - write):
                kept[write + entry] = values[begin + entry]
                entries[write + entry] = begin + entry
    return owns, kepts, all_entries


def known_of(const int32_t[::1] order, int64_t start, int64_t stop, known):
    """What is known of the persons of one node, numbered as they stand in ``order``."""
    cdef Known old = _known(known)
    cdef Py_ssize_t persons = stop - start, attributes = old.totals.shape[1]
    cdef Py_ssize_t new, axis, attribute
    cdef int64_t person
    made = (
        np.empty(persons, np.int64),
        np.empty((old.positions.shape[0], persons), np.int32),
        np.empty((old.members.shape[0], persons), np.int32),
        np.empty((persons, attributes)),
        np.empty((persons, attributes), np.int64),
        np.empty((persons, attributes)),
        np.empty((persons, attributes)),
        np.empty(persons),
    )
    cdef int64_t[::1] records = made[0]
    cdef int32_t[:, ::1] positions = made[1], members = made[2]
    cdef double[:, ::1] totals = made[3], lowest = made[5], highest = made[6]
    cdef int64_t[:, ::1] presents = made[4]
    cdef double[::1] squares = made[7]
    with nogil:
        for new in range(persons):
            person = order[start + new]
            records[new], squares[new] = old.records[person], old.squares[person]
            for axis in range(positions.shape[0]):
                positions[axis, new] = old.positions[axis, person]
            for axis in range(members.shape[0]):
                members[axis, new] = old.members[axis, person]
            for attribute in range(attributes):
                totals[new, attribute] = old.totals[person, attribute]
                presents[new, attribute] = old.presents[person, attribute]
                lowest[new, attribute] = old.lowest[person, attribute]
                highest[new, attribute] = old.highest[person, attribute]
    offsets, values, entries = _rows(order, start, stop, old.offsets, old.values)
    counts = np.empty(len(values), np.int32)
    cdef int32_t[::1] count = counts
    cdef const int64_t[::1] from_entry = entries
    cdef Py_ssize_t entry
    with nogil:
        for entry in range(from_entry.shape[0]):
            count[entry] = old.counts[from_entry[entry]]
    sensitive_offsets, sensitive, _ = _rows(
        order, start, stop, old.sensitive_offsets, old.sensitive
    )
    return (*made, offsets, values, counts, sensitive_offsets, sensitive)


cdef int _divide(
    const int32_t[::1] block,
    int64_t row,
    int64_t persons,
    int64_t orders,
    int64_t ordered,
    Known known,
    Chosen chosen,
    Py_ssize_t cut,
    uint8_t[::1] right,
    int32_t[:, ::1] arena,
    int64_t top,
) except -1 nogil:
    """Write a node's two children, all orders divided stably, into ``arena`` from ``top`` on."""
    cdef int64_t axis = chosen.axis[cut], place, person, each, left_end, right_end
    for place in range(persons):
        if axis < ordered:
            right[block[axis * row + place]] = place >= chosen.left[cut]
        else:
            person = block[place]
            right[person] = known.members[axis - ordered, person] == chosen.column[cut]
    for each in range(orders):
        left_end, right_end = top, top + chosen.left[cut]
        for place in range(persons):
            person = block[each * row + place]
            if right[person]:
                arena[each, right_end] = <int32_t>person
                right_end += 1
            else:
                arena[each, left_end] = <int32_t>person
                left_end += 1
    return 0


cdef bint _same(Chosen chosen, Py_ssize_t one, Py_ssize_t other) noexcept nogil:
    """Whether two cuts of a node are the same."""
    return (
        chosen.axis[one] == chosen.axis[other]
        and chosen.left[one] == chosen.left[other]
        and chosen.column[one] == chosen.column[other]
    )


cdef int _grow(
    int64_t persons,
    Known known,
    Axes axes,
    Limits limits,
    const double[::1] shares,
    int32_t[:, ::1] arena,
    int32_t[::1] block,
    int64_t row,
    int64_t[:, ::1] frames,
    uint8_t[::1] right,
    double[::1] own,
    int64_t[::1] which,
    Scratch scratch,
    Chosen chosen,
    double[:, ::1] losses,
    Py_ssize_t node,
) except -1 nogil:
    """Add the losses at every share below the node that stands at the start of ``arena``.

    ``frames`` holds the open nodes: where each starts and ends, and the shares that lead to it,
    as bits. The last of them stands last in ``arena``. Where several shares choose the same cut,
    they share what is below it.
    """
    cdef int64_t orders = arena.shape[0], ordered = axes.missing.shape[0]
    cdef int64_t open_ = 1, top, size, bits, left_bits, same, middle, each, place, one = 1
    cdef Py_ssize_t share, some, cut, other
    cdef double loss
    frames[0, 0], frames[0, 1] = 0, persons
    frames[0, 2] = (one << shares.shape[0]) - 1
    while open_ > 0:
        open_ -= 1
        top, size, bits = frames[open_, 0], frames[open_, 1] - frames[open_, 0], frames[open_, 2]
        for each in range(orders):
            for place in range(size):
                block[each * row + place] = arena[each, top + place]
        some = 0
        for share in range(shares.shape[0]):
            if bits >> share & 1:
                own[some], which[some] = shares[share], share
                some += 1
        _choose(block, row, 0, size, known, axes, limits, own, 0, some, scratch, chosen, 0)
        loss, left_bits = -1.0, bits
        for cut in range(some):
            if not left_bits >> which[cut] & 1:
                continue
            if chosen.axis[cut] < 0:
                if loss < 0:
                    loss = _leaf_loss(block, 0, size, known, axes, scratch)
                losses[node, which[cut]] += loss
                continue
            same = 0
            for other in range(cut, some):
                if _same(chosen, cut, other):
                    same |= one << which[other]
            left_bits &= ~same
            _divide(
                block, row, size, orders, ordered, known, chosen, cut, right, arena, top
            )
            middle = top + chosen.left[cut]
            frames[open_, 0], frames[open_, 1], frames[open_, 2] = top, middle, same
            frames[open_ + 1, 0], frames[open_ + 1, 1] = middle, top + size
            frames[open_ + 1, 2] = same
            open_ += 2
            top += size
    return 0


def subtree_losses(
    const int32_t[::1] orders,
    int64_t row,
    const int64_t[::1] low,
    const int64_t[::1] high,
    known,
    axes,
    limits,
    const double[::1] shares,
    int64_t most,
):
    """Loss of the classes below each node at each share; shape (nodes, shares).

    A node's persons are numbered anew, so that all that is known of them lies together.
    """
    cdef Axes along = _axes(axes)
    cdef Limits kept = _limits(limits)
    cdef Known here
    cdef int64_t longest = _longest_of(low, high), start, stop, place, each
    cdef int64_t number_of_orders = orders.shape[0] // row if row else 0
    cdef Scratch scratch = _scratch(longest, most, along, kept, shares.shape[0])
    cdef Chosen chosen = _nothing_chosen(shares.shape[0])
    all_losses = np.zeros((low.shape[0], shares.shape[0]))
    cdef int32_t[::1] block = np.empty(number_of_orders * longest, np.int32)
    cdef int32_t[:, ::1] arena = np.empty(
        (number_of_orders, longest * shares.shape[0]), np.int32
    )
    cdef int64_t[:, ::1] frames = np.empty((longest * shares.shape[0] + 2, 3), np.int64)
    cdef uint8_t[::1] right = np.empty(longest, np.uint8)
    cdef int32_t[::1] number = np.empty(row, np.int32)
    cdef double[::1] own = np.empty(shares.shape[0])
    cdef int64_t[::1] which = np.empty(shares.shape[0], np.int64)
    cdef double[:, ::1] losses = all_losses
    cdef Py_ssize_t node
    for node in range(low.shape[0]):
        start, stop = low[node], high[node]
        if stop - start < 2 * kept.persons:
            continue
        here = _known(known_of(orders, start, stop, known))
        with nogil:
            for place in range(start, stop):
                number[orders[place]] = <int32_t>(place - start)
            for each in range(number_of_orders):
                for place in range(start, stop):
                    arena[each, place - start] = number[orders[each * row + place]]
            _grow(
                stop - start, here, along, kept, shares, arena, block, longest, frames, right, own,
                which, scratch, chosen, losses, node,
            )
    return all_losses


# ------------------------------------------------------------------------- for the tests


def checked_places(
    const int32_t[::1] order, int64_t start, int64_t stop, known, axes, limits, int64_t most, lost
):
    """``lost`` after the places of a node were checked, and whether all counters are zeros."""
    cdef Known persons = _known(known)
    cdef Limits kept = _limits(limits)
    cdef Scratch scratch = _scratch(stop - start, most, _axes(axes), kept, 1)
    found = np.array(lost, dtype=np.float64).reshape(1, -1)
    _check_places(order, start, stop, persons, kept, scratch, found, 0)
    return found[0], _is_clean(scratch)


def place_meets(
    const int32_t[::1] order, int64_t start, int64_t end, int64_t stop, known, axes, limits,
    int64_t most,
):
    """Whether both sides of a place keep the promises, and whether all counters are zeros."""
    cdef Limits kept = _limits(limits)
    cdef Scratch scratch = _scratch(stop - start, most, _axes(axes), kept, 1)
    met = _place_meets(order, start, end, stop, _known(known), kept, scratch)
    return bool(met), _is_clean(scratch)


def members_meet(
    const int32_t[::1] order, int64_t start, int64_t stop, int64_t member, int64_t column, known,
    axes, limits, int64_t most,
):
    """Whether members and others keep the promises, and whether all counters are zeros."""
    cdef Limits kept = _limits(limits)
    cdef Scratch scratch = _scratch(stop - start, most, _axes(axes), kept, 1)
    met = _members_meet(order, start, stop, member, column, _known(known), kept, scratch)
    return bool(met), _is_clean(scratch)


cdef bint _is_clean(Scratch scratch) except -1:
    return not (np.asarray(scratch.sharers).any() or np.asarray(scratch.counts).any())
