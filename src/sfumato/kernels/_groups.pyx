"""Local search over groups of persons: moves, exchanges, groups opened and dissolved.

A group is any set of persons; its loss and what promises need of it are kept as persons come and
go, so that what a change gains is known from the groups that it touches. Loops without the
interpreter's lock, as in `_tree`; the same numbers from the same seed on every machine.
"""

import numpy as np

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

cdef enum:
    # Fields of a person's or a group's row, eight per column.
    FIELDS = 8
    TOTAL = 0  # sum of normalised values; of categories, the sum of squared counts
    SQUARE = 1  # sum of squared normalised values
    LOW = 2  # lowest and highest place
    HIGH = 3
    PRESENT = 4  # records with and without a value
    MISSING = 5
    EXTENT = 6  # node of the lowest common ancestor, -1 for none; or number of distinct values
    PRICE = 7  # loss of the column

    # What the width of a column's cell is.
    RANGE = 0
    DISTINCT = 1
    ANCESTOR = 2
    ANYTHING = 3

    TRIED = 16
    # Persons of another group, and others near, that are tried in exchange for a person.
    SPARED = 4
    # Persons of a point that may be spared for a new group.
    CANDIDATES = 128
    # Persons who may be taken into a new group.
    OPENING = 128
    # Persons looked at for new groups in a pass, for each person.
    LARGEST = 1024
    # Members of the largest group that is dissolved.
    UNITED = 2048
    # Members of two groups that are cut anew.
    PARTNERS = 2
    # Groups near with which one is cut anew.
    TREES = 4
    # Random divisions into such leaves.
    ROUNDS = 2
    # Rounds in which neighbours of neighbours are compared.
    LOOKED_AT = 8192
    # Members of groups that a pass looks at, for each person: large groups cost much.

cdef double LEAST_GAIN = 1e-9
# What a change must gain at least, so that rounding decides nothing.


cdef struct Sums:
    double total
    double square
    double low
    double high
    double present
    double missing
    double extent


cdef class Space:
    """Persons, columns and limits, as `group_search.Space` says."""

    cdef Py_ssize_t persons
    cdef Py_ssize_t columns
    cdef const double[:, ::1] own
    cdef const int64_t[:, ::1] offsets
    cdef const int32_t[::1] values
    cdef const int32_t[::1] counts
    cdef const int32_t[::1] form
    cdef const uint8_t[::1] numeric
    cdef const double[::1] full
    cdef const double[::1] origin
    cdef const double[::1] span
    cdef const double[::1] grids
    cdef const double[::1] widest
    cdef const double[::1] width_weight
    cdef const double[::1] error_weight
    cdef const int32_t[::1] up
    cdef const int32_t[::1] level
    cdef const double[::1] width_of
    cdef const int64_t[::1] records
    cdef const int64_t[::1] sensitive_offsets
    cdef const int32_t[::1] sensitive
    cdef const int32_t[::1] attribute_of
    cdef int64_t least_records
    cdef int64_t least_persons
    cdef double squares
    cdef const double[::1] affiliation
    cdef const int64_t[::1] distinct
    cdef int64_t sharing
    cdef const int32_t[:, ::1] neighbours
    cdef const int32_t[::1] point_of
    cdef const int64_t[::1] first_of_point
    cdef const int32_t[::1] of_point


cdef class Groups:
    """The groups as they are."""

    cdef Py_ssize_t room
    cdef double[:, ::1] state
    cdef double[::1] loss
    cdef int32_t[:, ::1] tally
    cdef int32_t[:, ::1] sharers
    cdef int64_t[::1] persons
    cdef int64_t[::1] records
    cdef int64_t[::1] squares
    cdef int32_t[::1] group_of
    cdef int32_t[::1] next
    cdef int32_t[::1] previous
    cdef int32_t[::1] first
    cdef int32_t[::1] free
    cdef Py_ssize_t free_count
    cdef int64_t[::1] stamp
    cdef int64_t clock
    cdef int32_t[::1] others
    cdef int32_t[::1] tried
    cdef int64_t[::1] spare
    cdef int64_t versions
    cdef int64_t[::1] version  # of each group, another one for each set of members
    cdef double[::1] leaving  # what a group in the version loses by letting each person go
    cdef int64_t[::1] leaving_in
    cdef uint8_t[::1] changed  # in the pass before or in this one
    cdef uint8_t[::1] changed_now
    cdef int64_t[:, ::1] moved_in  # the versions of both groups before each move
    cdef uint64_t seed
    cdef int64_t work
    cdef int32_t[::1] moved
    cdef int32_t[::1] moved_from
    cdef Py_ssize_t moves
    cdef int64_t[::1] tally_of_size
    cdef int32_t[::1] operation_of
    cdef int32_t operation
    cdef bint once
    cdef double heat
    cdef int32_t[::1] united
    cdef int32_t[::1] cut
    cdef double[::1] key
    cdef double[:, ::1] side_loss
    cdef int64_t[:, ::1] most_sharers  # or more, since members left
    cdef int64_t[:, ::1] distinct_values


cdef Space _space(space):
    cdef Space found = Space()
    (
        found.own, found.offsets, found.values, found.counts, found.form, numeric,
        found.full, found.origin, found.span, found.grids, found.widest,
        found.width_weight, found.error_weight, found.up, found.level, found.width_of,
        found.records, found.sensitive_offsets, found.sensitive, found.attribute_of,
        found.least_records, found.least_persons, found.squares, found.affiliation,
        found.distinct, found.sharing, found.neighbours, found.point_of, found.first_of_point,
        found.of_point,
    ) = space
    found.numeric = numeric.view(np.uint8)
    found.persons = found.records.shape[0]
    found.columns = found.form.shape[0]
    return found


cdef uint64_t _drawn(Groups g) noexcept nogil:
    """The next number of xorshift64* (Vigna 2016)."""
    g.seed ^= g.seed >> 12
    g.seed ^= g.seed << 25
    g.seed ^= g.seed >> 27
    return g.seed * <uint64_t>2685821657736338717


cdef int64_t _drawn_below(Groups g, int64_t limit) noexcept nogil:
    return <int64_t>((_drawn(g) >> 33) % <uint64_t>limit)


cdef double _allowance(Groups g) noexcept nogil:
    """What a change may lose: up to the heat, drawn anew for each (threshold accepting)."""
    return g.heat * ((_drawn(g) >> 11) / 9007199254740992.0) if g.heat > 0 else 0.0


# ------------------------------------------------------------------------------------ losses


cdef int32_t _common(int32_t one, int32_t other, Space s) noexcept nogil:
    """The lowest common ancestor of two nodes."""
    while one != other:
        if s.level[one] < s.level[other]:
            one = s.up[one]
        elif s.level[other] < s.level[one]:
            other = s.up[other]
        else:
            one, other = s.up[one], s.up[other]
    return one


cdef double _floor(double value) noexcept nogil:
    """The library's is a call, which costs more than all else here."""
    cdef double whole = <double>(<int64_t>value)
    return whole - 1.0 if whole > value else whole


cdef double _width(Py_ssize_t column, double low, double high, Space s) noexcept nogil:
    """Width of a range between two places, or of the one around it that ends on a public grid."""
    cdef double step, beyond, units = s.span[column], width = (high - low) * units
    cdef Py_ssize_t place = 0
    if width < 1.5:
        return high - low
    while width > s.widest[place]:
        place += 1
    step = s.grids[place]
    beyond = 0.5 if step < 4.5 else 1.5
    # Half a unit more than the ends, so that rounding does not matter.
    low = _floor((s.origin[column] + low * units + 1.0 - beyond) / step)
    high = _floor((s.origin[column] + high * units + beyond) / step)
    return min(((high - low + 1.0) * step - 1.0) / units, 1.0)


cdef double _price(Py_ssize_t column, int64_t records, Sums* sums, Space s) noexcept nogil:
    """Loss of a column of a group."""
    cdef double width, apart
    if sums.present < 0.5:
        return 0.0
    if sums.missing > 0.5:
        width = s.full[column]
    elif s.form[column] == RANGE:
        width = _width(column, sums.low, sums.high, s)
    elif s.form[column] == DISTINCT:
        width = sums.extent - 1.0
    elif s.form[column] == ANCESTOR:
        width = s.width_of[<int64_t>sums.extent]
    else:
        width = 1.0 if sums.extent > 1.5 else 0.0
    if s.numeric[column]:
        apart = sums.present * sums.square - sums.total * sums.total
        apart = sqrt(apart) if apart > 1e-12 else 0.0
    else:
        apart = sums.present - sums.total / sums.present
    return s.width_weight[column] * width * records + s.error_weight[column] * apart


cdef int _extremes_without(
    int32_t group, int32_t person, Py_ssize_t field, Sums* sums, Groups g, Space s
) noexcept nogil:
    """Lowest and highest place of a group without one of its persons."""
    cdef double low = INFINITY, high = -INFINITY
    cdef double least = g.state[group, field + LOW], most = g.state[group, field + HIGH]
    cdef int32_t other = g.first[group]
    while other >= 0:
        if other != person and s.own[other, field + PRESENT] > 0:
            low = min(low, s.own[other, field + LOW])
            high = max(high, s.own[other, field + HIGH])
            if low <= least and high >= most:
                break
        other = g.next[other]
        g.work += 1
    sums.low, sums.high = low, high
    return 0


cdef int _ancestor_without(
    int32_t group, int32_t person, Py_ssize_t field, Sums* sums, Groups g, Space s
) noexcept nogil:
    """Lowest common ancestor of a group without one of its persons."""
    cdef int32_t found = -1, whole = <int32_t>g.state[group, field + EXTENT], one
    cdef int32_t other = g.first[group]
    while other >= 0:
        if other != person:
            one = <int32_t>s.own[other, field + EXTENT]
            if one >= 0:
                found = one if found < 0 else _common(found, one, s)
                if found == whole:
                    break
        other = g.next[other]
        g.work += 1
    sums.extent = found
    return 0


cdef int _changed(
    int32_t group, int32_t person, Py_ssize_t column, bint joins, Sums* sums, Groups g, Space s
) noexcept nogil:
    """What is known of a column of a group when a person has joined or left it."""
    cdef Py_ssize_t field = FIELDS * column
    cdef double sign = 1.0 if joins else -1.0, pairs = 0.0, fresh = 0.0, held, count
    cdef int64_t entry
    cdef int32_t form = s.form[column]
    sums.present = g.state[group, field + PRESENT] + sign * s.own[person, field + PRESENT]
    sums.missing = g.state[group, field + MISSING] + sign * s.own[person, field + MISSING]
    sums.low, sums.high = g.state[group, field + LOW], g.state[group, field + HIGH]
    sums.extent = g.state[group, field + EXTENT]
    if form == RANGE:
        if joins:
            sums.low = min(sums.low, s.own[person, field + LOW])
            sums.high = max(sums.high, s.own[person, field + HIGH])
        elif (
            s.own[person, field + LOW] <= sums.low or s.own[person, field + HIGH] >= sums.high
        ):
            _extremes_without(group, person, field, sums, g, s)
    elif form == ANCESTOR:
        if s.own[person, field + EXTENT] >= 0:
            if not joins:
                _ancestor_without(group, person, field, sums, g, s)
            elif sums.extent < 0:
                sums.extent = s.own[person, field + EXTENT]
            else:
                sums.extent = _common(
                    <int32_t>sums.extent, <int32_t>s.own[person, field + EXTENT], s
                )
    if s.numeric[column]:
        sums.total = g.state[group, field + TOTAL] + sign * s.own[person, field + TOTAL]
        sums.square = g.state[group, field + SQUARE] + sign * s.own[person, field + SQUARE]
        if form == RANGE or form == ANCESTOR:
            return 0
    for entry in range(s.offsets[person, column], s.offsets[person, column + 1]):
        held, count = g.tally[group, s.values[entry]], s.counts[entry]
        if joins:
            pairs += count * (2 * held + count)
            if held < 0.5:
                fresh += 1.0
        else:
            pairs -= count * (2 * held - count)
            if held < count + 0.5:
                fresh -= 1.0
    if not s.numeric[column]:
        sums.total = g.state[group, field + TOTAL] + pairs
    if form == DISTINCT or form == ANYTHING:
        sums.extent += fresh
    return 0


cdef double _loss_after(
    int32_t group, int32_t person, bint joins, double most, Groups g, Space s
) noexcept nogil:
    """Loss of a group that a person has joined or left; where one joins, about or above ``most``
    it may be infinite."""
    cdef Sums sums
    cdef Py_ssize_t column
    cdef double loss = 0.0, rest = g.loss[group]
    cdef int64_t records = g.records[group] + (s.records[person] if joins else -s.records[person])
    for column in range(s.columns):
        _changed(group, person, column, joins, &sums, g, s)
        loss += _price(column, records, &sums, s)
        rest -= g.state[group, FIELDS * column + PRICE]
        if joins and loss + rest > most:
            return INFINITY
    return loss


cdef int _count(int32_t group, int32_t person, bint joins, Groups g, Space s) noexcept nogil:
    """What is known of a group when a person has joined or left it."""
    cdef Sums sums
    cdef Py_ssize_t column, field
    cdef double loss = 0.0, price
    cdef int64_t entry, sign = 1 if joins else -1
    cdef int64_t records = g.records[group] + sign * s.records[person]
    cdef int32_t value
    for column in range(s.columns):
        field = FIELDS * column
        _changed(group, person, column, joins, &sums, g, s)
        price = _price(column, records, &sums, s)
        loss += price
        g.state[group, field + TOTAL] = sums.total
        g.state[group, field + SQUARE] = sums.square
        g.state[group, field + LOW] = sums.low
        g.state[group, field + HIGH] = sums.high
        g.state[group, field + PRESENT] = sums.present
        g.state[group, field + MISSING] = sums.missing
        g.state[group, field + EXTENT] = sums.extent
        g.state[group, field + PRICE] = price
        for entry in range(s.offsets[person, column], s.offsets[person, column + 1]):
            g.tally[group, s.values[entry]] += <int32_t>(sign * s.counts[entry])
    g.versions += 1
    g.version[group] = g.versions
    g.loss[group] = loss
    g.records[group] = records
    g.persons[group] += sign
    g.squares[group] += sign * s.records[person] * s.records[person]
    for entry in range(s.sensitive_offsets[person], s.sensitive_offsets[person + 1]):
        value = s.sensitive[entry]
        column = s.attribute_of[value]
        g.sharers[group, value] += <int32_t>sign
        if joins:
            g.most_sharers[group, column] = max(
                g.most_sharers[group, column], g.sharers[group, value]
            )
        g.distinct_values[group, column] += sign * (g.sharers[group, value] == joins)
    return 0


cdef int _empty(int32_t group, Groups g, Space s) noexcept nogil:
    """Nothing is known of a group whose counters are 0."""
    cdef Py_ssize_t column, field
    for column in range(s.columns):
        for field in range(FIELDS * column, FIELDS * (column + 1)):
            g.state[group, field] = 0.0
        g.state[group, FIELDS * column + LOW] = INFINITY
        g.state[group, FIELDS * column + HIGH] = -INFINITY
        if s.form[column] == ANCESTOR:
            g.state[group, FIELDS * column + EXTENT] = -1
    g.loss[group] = 0.0
    g.persons[group] = g.records[group] = g.squares[group] = 0
    for column in range(s.distinct.shape[0]):
        g.most_sharers[group, column] = g.distinct_values[group, column] = 0
    return 0


cdef int _set(int32_t group, int32_t person, bint joins, Groups g, Space s) noexcept nogil:
    """Let a person join or leave a group."""
    cdef int32_t before, after
    _count(group, person, joins, g, s)
    if joins:
        before = g.first[group]
        g.previous[person], g.next[person] = -1, before
        if before >= 0:
            g.previous[before] = person
        g.first[group] = person
        g.group_of[person] = group
    else:
        before, after = g.previous[person], g.next[person]
        if before >= 0:
            g.next[before] = after
        else:
            g.first[group] = after
        if after >= 0:
            g.previous[after] = before
        g.group_of[person] = -1
    return 0


cdef int _move(int32_t person, int32_t group, Groups g, Space s) noexcept nogil:
    """Move a person for now; `_undo` takes it back."""
    g.moved[g.moves], g.moved_from[g.moves] = person, g.group_of[person]
    g.moved_in[g.moves, 0], g.moved_in[g.moves, 1] = g.version[g.group_of[person]], g.version[group]
    g.moves += 1
    _set(g.group_of[person], person, False, g, s)
    _set(group, person, True, g, s)
    return 0


cdef int _undo(Groups g, Space s) noexcept nogil:
    """Take back all moves since the last change that was kept."""
    cdef int32_t person, group
    while g.moves > 0:
        g.moves -= 1
        person, group = g.moved[g.moves], g.group_of[g.moved[g.moves]]
        _set(group, person, False, g, s)
        _set(g.moved_from[g.moves], person, True, g, s)
        g.version[g.moved_from[g.moves]] = g.moved_in[g.moves, 0]
        g.version[group] = g.moved_in[g.moves, 1]
    return 0


cdef int _keep(Groups g, Space s) noexcept nogil:
    """Keep the moves; groups that are left without anybody can be opened again."""
    cdef Py_ssize_t move
    cdef int32_t group
    for move in range(g.moves):
        group = g.group_of[g.moved[move]]
        g.changed[group] = g.changed_now[group] = True
        group = g.moved_from[move]
        g.changed[group] = g.changed_now[group] = True
        if g.once:
            g.operation_of[group] = g.operation
            g.operation_of[g.group_of[g.moved[move]]] = g.operation
        if g.persons[group] == 0 and g.free[group] == 0 and not g.once:
            g.free[group] = 1
            g.others[g.free_count] = group
            g.free_count += 1
    if g.moves > 0:
        g.operation += 1
    g.moves = 0
    return 0


# ---------------------------------------------------------------------------------- promises


cdef bint _sharing_met(int32_t group, int32_t person, bint joins, Groups g, Space s) noexcept nogil:
    """Whether each number of records that occurs is that of enough persons."""
    cdef int32_t other = g.first[group]
    cdef bint met = True
    g.work += 3 * g.persons[group]
    while other >= 0:
        if joins or other != person:
            g.tally_of_size[s.records[other]] += 1
        other = g.next[other]
    if joins and person >= 0:
        g.tally_of_size[s.records[person]] += 1
    other = g.first[group]
    while other >= 0:
        if (joins or other != person) and g.tally_of_size[s.records[other]] < s.sharing:
            met = False
        other = g.next[other]
    if joins and person >= 0 and g.tally_of_size[s.records[person]] < s.sharing:
        met = False
    other = g.first[group]
    while other >= 0:
        g.tally_of_size[s.records[other]] = 0
        other = g.next[other]
    if person >= 0:
        g.tally_of_size[s.records[person]] = 0
    return met


cdef bint _meets(int32_t group, int32_t person, bint joins, Groups g, Space s) noexcept nogil:
    """Whether a group keeps the promises when a person has joined or left it; -1 for nobody."""
    cdef int64_t sign = 1 if joins else -1, persons = g.persons[group], records = g.records[group]
    cdef int64_t squares = g.squares[group]
    cdef Py_ssize_t attribute
    if person >= 0:
        persons += sign
        records += sign * s.records[person]
        squares += sign * s.records[person] * s.records[person]
    if persons < s.least_persons or records < s.least_records:
        return False
    if squares > s.squares * (<double>records * <double>records):
        return False
    for attribute in range(s.distinct.shape[0]):
        if s.affiliation[attribute] >= 1.0 and s.distinct[attribute] == 0:
            continue
        if not _attribute_met(group, person, joins, attribute, persons, g, s):
            return False
    if s.sharing > 1 and not _sharing_met(group, person, joins, g, s):
        return False
    return True


cdef bint _attribute_met(
    int32_t group, int32_t person, bint joins, Py_ssize_t attribute, int64_t persons,
    Groups g, Space s,
) noexcept nogil:
    """Whether few enough persons share a sensitive value, and enough values occur."""
    cdef int64_t most = g.most_sharers[group, attribute], entry, held
    cdef int64_t distinct = g.distinct_values[group, attribute]
    cdef double limit = s.affiliation[attribute] * persons
    cdef int32_t other, sign = 1 if joins else -1
    cdef bint met = True
    if person >= 0:
        for entry in range(s.sensitive_offsets[person], s.sensitive_offsets[person + 1]):
            if s.attribute_of[s.sensitive[entry]] == attribute:
                held = g.sharers[group, s.sensitive[entry]]
                distinct += (joins and held == 0) - (not joins and held == 1)
                met &= not joins or held + 1 <= limit
    if not met or distinct < s.distinct[attribute]:
        return False
    if most <= limit:
        return True
    # Since members left, it may be less than was noted.
    if person >= 0:
        for entry in range(s.sensitive_offsets[person], s.sensitive_offsets[person + 1]):
            g.sharers[group, s.sensitive[entry]] += sign
    most, other = 0, g.first[group]
    while other >= 0 and most <= limit:
        g.work += 1
        for entry in range(s.sensitive_offsets[other], s.sensitive_offsets[other + 1]):
            if s.attribute_of[s.sensitive[entry]] == attribute:
                most = max(most, g.sharers[group, s.sensitive[entry]])
        other = g.next[other]
    if person >= 0:
        for entry in range(s.sensitive_offsets[person], s.sensitive_offsets[person + 1]):
            g.sharers[group, s.sensitive[entry]] -= sign
    if most > limit:
        return False
    # A member who may leave may hold the value of most.
    most += person >= 0 and not joins
    g.most_sharers[group, attribute] = min(g.most_sharers[group, attribute], most)
    return True


# ----------------------------------------------------------------------------------- changes


cdef bint _closed(int32_t group, Groups g) noexcept nogil:
    return g.once and g.operation_of[group] >= 0


cdef int32_t _some_of(int32_t point, Groups g, Space s) noexcept nogil:
    """A person of a point, drawn."""
    cdef int64_t start = s.first_of_point[point], stop = s.first_of_point[point + 1]
    if stop - start == 1:
        return s.of_point[start]
    return s.of_point[start + _drawn_below(g, stop - start)]


cdef int32_t _near(int32_t point, Py_ssize_t index, Groups g, Space s) noexcept nogil:
    """A person of a neighbouring point, or of the point itself below 0; -1 beyond the last."""
    if index < 0:
        return _some_of(point, g, s)
    if s.neighbours[point, index] < 0:
        return -1
    return _some_of(s.neighbours[point, index], g, s)


cdef bint _settled(int32_t person, Groups g, Space s) noexcept nogil:
    """Whether no group near a person has changed since the pass before looked at them all."""
    cdef Py_ssize_t index
    cdef int64_t place, start, stop
    cdef int32_t point = s.point_of[person]
    if g.changed[g.group_of[person]]:
        return False
    for index in range(-1, s.neighbours.shape[1]):
        if index >= 0:
            point = s.neighbours[s.point_of[person], index]
            if point < 0:
                break
        start, stop = s.first_of_point[point], s.first_of_point[point + 1]
        if stop - start > SPARED:
            return False
        for place in range(start, stop):
            if g.changed[g.group_of[s.of_point[place]]]:
                return False
    return True


cdef double _by_joining(
    int32_t group, int32_t person, double most, Groups g, Space s
) noexcept nogil:
    """What a group loses by taking a person in; infinite where it is surely ``most`` or more."""
    return _loss_after(group, person, True, g.loss[group] + most, g, s) - g.loss[group]


cdef double _by_leaving(int32_t group, int32_t person, Groups g, Space s) noexcept nogil:
    """What a group loses, mostly less than nothing, by letting a person go."""
    if g.leaving_in[person] != g.version[group]:
        g.leaving[person] = _loss_after(group, person, False, 0.0, g, s) - g.loss[group]
        g.leaving_in[person] = g.version[group]
    return g.leaving[person]


cdef int32_t _best_group(
    int32_t person, double most, double* lost, Groups g, Space s
) noexcept nogil:
    """The other group near a person that loses least by taking the person in, less than ``most``.

    -1 for none; ``lost`` is what it loses.
    """
    cdef int32_t point = s.point_of[person], other, group, found = -1
    cdef Py_ssize_t index
    cdef double change
    lost[0] = most
    g.clock += 1
    g.stamp[g.group_of[person]] = g.clock
    for index in range(-2, s.neighbours.shape[1]):
        other = _near(point, index, g, s)
        if other < 0:
            break
        group = g.group_of[other]
        if g.stamp[group] == g.clock:
            continue
        g.stamp[group] = g.clock
        if _closed(group, g):
            continue
        change = _by_joining(group, person, lost[0], g, s)
        if change < lost[0] and _meets(group, person, True, g, s):
            found = group
            lost[0] = change
    return found


cdef int32_t _best_exchange(
    int32_t person, int32_t own, int32_t group, double* least, Groups g, Space s
) noexcept nogil:
    """Who makes up for a person that has just left: of the new group, or near the old one."""
    cdef int32_t other = g.first[group], home, candidate, best = -1
    cdef Py_ssize_t index
    cdef int64_t tried = 0
    cdef double change, without
    while other >= 0 and tried < TRIED:
        if other != person:
            tried += 1
            without = _by_leaving(group, other, g, s)
            change = without + _by_joining(own, other, least[0] - without, g, s)
            if change < least[0]:
                best = other
                least[0] = change
        other = g.next[other]
    tried = 0
    other = g.first[own]
    while other >= 0 and tried < TRIED:
        for index in range(-1, s.neighbours.shape[1]):
            candidate = _near(s.point_of[other], index, g, s)
            if candidate < 0:
                break
            home = g.group_of[candidate]
            if home == own or home == group or _closed(home, g):
                continue
            tried += 1
            change = _by_leaving(home, candidate, g, s)
            change += _by_joining(own, candidate, least[0] - change, g, s)
            if change < least[0] and _meets(home, candidate, False, g, s):
                best = candidate
                least[0] = change
        other = g.next[other]
    return best


cdef int _try_move(int32_t person, Groups g, Space s) noexcept nogil:
    """Move a person to a better group, in exchange for another where the own one needs one."""
    cdef int32_t own = g.group_of[person], group, best, home
    cdef double gain, lost, least
    if g.loss[own] <= LEAST_GAIN or _closed(own, g) or _settled(person, g, s):
        return 0
    gain = _allowance(g) - _by_leaving(own, person, g, s)
    if gain <= LEAST_GAIN:
        return 0
    group = _best_group(person, gain - LEAST_GAIN, &lost, g, s)
    if group < 0:
        return 0
    if g.persons[own] == 1 or _meets(own, person, False, g, s):
        _move(person, group, g, s)
        return _keep(g, s)
    _move(person, group, g, s)
    least = gain - lost - LEAST_GAIN
    best = _best_exchange(person, own, group, &least, g, s)
    if best >= 0:
        home = g.group_of[best]
        _move(best, own, g, s)
        if (
            _meets(own, -1, True, g, s)
            and _meets(group, -1, True, g, s)
            and (g.persons[home] == 0 or _meets(home, -1, True, g, s))
        ):
            return _keep(g, s)
    return _undo(g, s)


cdef int _try_dissolve(int32_t group, Groups g, Space s) noexcept nogil:
    """Let every member of a group join the best of the other groups."""
    cdef double left = g.loss[group] - LEAST_GAIN + _allowance(g), lost
    cdef int32_t person, target
    if g.loss[group] <= LEAST_GAIN or _closed(group, g) or g.persons[group] > LARGEST:
        return 0
    person = g.first[group]
    while person >= 0 and _settled(person, g, s):
        person = g.next[person]
    if person < 0:
        return 0
    while g.first[group] >= 0:
        person = g.first[group]
        target = _best_group(person, left, &lost, g, s)
        if target < 0:
            return _undo(g, s)
        left -= lost
        _move(person, target, g, s)
    return _keep(g, s)


cdef int32_t _opened(Groups g) noexcept nogil:
    """A group without anybody; -1 for none."""
    if g.free_count == 0:
        return -1
    g.free_count -= 1
    g.free[g.others[g.free_count]] = 0
    return g.others[g.free_count]


cdef int _closed_again(int32_t group, Groups g) noexcept nogil:
    """Give back a group that nobody is in."""
    g.free[group] = 1
    g.others[g.free_count] = group
    g.free_count += 1
    return 0


cdef int64_t _spare(int32_t group, Groups g, Space s) noexcept nogil:
    """Most persons who could leave a group, of one record each."""
    return min(g.persons[group] - s.least_persons, g.records[group] - s.least_records)


cdef int64_t _lacking(int32_t group, Groups g, Space s) noexcept nogil:
    """Most persons whom a group needs, of one record each."""
    return max(s.least_persons - g.persons[group], s.least_records - g.records[group])


cdef int64_t _noted(
    int32_t person, int64_t found, int64_t* available, Groups g, Space s
) noexcept nogil:
    """Note who may join a new group, if the home can spare somebody; gives the number noted."""
    cdef int32_t home = g.group_of[person]
    if g.stamp[home] != g.clock:
        g.stamp[home], g.spare[home] = g.clock, _spare(home, g, s)
    if _spare(home, g, s) <= 0:
        return found
    if g.spare[home] > 0:
        g.spare[home] -= s.records[person]
        available[0] += s.records[person]
    g.tried[found] = person
    return found + 1


cdef int64_t _candidates(
    int32_t person, int32_t own, int64_t* available, Groups g, Space s
) noexcept nogil:
    """Persons near, and members of the own group, who may join a new one; gives their number.

    ``available`` is how many records their groups can spare together.
    """
    cdef int64_t found = 0, place, stop
    cdef Py_ssize_t index
    cdef int32_t point, other
    available[0] = 0
    g.clock += 1
    for index in range(-1, s.neighbours.shape[1]):
        point = s.point_of[person]
        if index >= 0:
            point = s.neighbours[point, index]
            if point < 0:
                break
        stop = min(s.first_of_point[point] + SPARED, s.first_of_point[point + 1])
        for place in range(s.first_of_point[point], stop):
            other = s.of_point[place]
            if other == person or g.group_of[other] == own or _closed(g.group_of[other], g):
                continue
            if found < CANDIDATES // 2:
                found = _noted(other, found, available, g, s)
    # The person itself leaves the own group.
    g.stamp[own], g.spare[own] = g.clock, _spare(own, g, s) - s.records[person]
    other = g.first[own] if g.spare[own] > 0 else -1
    while other >= 0 and found < CANDIDATES:
        if other != person:
            found = _noted(other, found, available, g, s)
        other = g.next[other]
    return found


cdef int64_t _next_to_join(
    int32_t group, int64_t candidates, double* least, double* spared, Groups g, Space s
) noexcept nogil:
    """The candidate whose change to a group loses least, -1 for none; ``spared`` is the most that
    the group of one gains by letting it go."""
    cdef int64_t place, best = -1
    cdef int32_t other, home
    cdef double change
    least[0], spared[0] = INFINITY, 0.0
    for place in range(candidates):
        other = g.tried[place]
        if other < 0:
            continue
        home = g.group_of[other]
        if _spare(home, g, s) <= 0:
            g.tried[place] = -1
            continue
        g.work += 1
        change = _by_leaving(home, other, g, s)
        spared[0] = max(spared[0], -change)
        change += _by_joining(group, other, least[0] - change, g, s)
        if change < least[0] and _meets(home, other, False, g, s):
            best, least[0] = place, change
    return best


cdef int _try_open(int32_t person, Groups g, Space s) noexcept nogil:
    """Open a group around a person, of others whom their groups can spare."""
    cdef int32_t own = g.group_of[person], group
    cdef double least, gain, spared
    cdef int64_t candidates, best, available
    if g.loss[own] <= LEAST_GAIN or _closed(own, g) or g.persons[own] < 2:
        return 0
    if g.free_count == 0 or not _meets(own, person, False, g, s) or _settled(person, g, s):
        return 0
    candidates = _candidates(person, own, &available, g, s)
    if available + s.records[person] < max(s.least_persons, s.least_records):
        return 0
    gain = _allowance(g) - _by_leaving(own, person, g, s)
    group = _opened(g)
    _move(person, group, g, s)
    gain -= g.loss[group]
    while True:
        best = _next_to_join(group, candidates, &least, &spared, g, s)
        if best < 0 or (least >= 0 and _meets(group, -1, True, g, s)):
            break
        # Whatever the others spare, the group loses more and more.
        if gain - least + max(_lacking(group, g, s) - 1, 0) * spared <= LEAST_GAIN:
            break
        gain -= least
        _move(g.tried[best], group, g, s)
        g.tried[best] = -1
    if gain > LEAST_GAIN and _meets(group, -1, True, g, s):
        return _keep(g, s)
    _undo(g, s)
    return _closed_again(group, g)


# -------------------------------------------------------------------------------- neighbours


cdef double _apart(int32_t one, int32_t other, double most, Space s) noexcept nogil:
    """Loss of two persons as one group; at or above ``most`` it may be infinite."""
    cdef Py_ssize_t column, field
    cdef Sums sums
    cdef double loss = 0.0
    cdef int64_t records = s.records[one] + s.records[other], left, right, left_end, right_end
    cdef int32_t form
    for column in range(s.columns):
        field = FIELDS * column
        form = s.form[column]
        sums.present = s.own[one, field + PRESENT] + s.own[other, field + PRESENT]
        sums.missing = s.own[one, field + MISSING] + s.own[other, field + MISSING]
        sums.low = min(s.own[one, field + LOW], s.own[other, field + LOW])
        sums.high = max(s.own[one, field + HIGH], s.own[other, field + HIGH])
        sums.total = s.own[one, field + TOTAL] + s.own[other, field + TOTAL]
        sums.square = s.own[one, field + SQUARE] + s.own[other, field + SQUARE]
        sums.extent = 0
        if form == ANCESTOR:
            if s.own[one, field + EXTENT] < 0:
                sums.extent = s.own[other, field + EXTENT]
            elif s.own[other, field + EXTENT] < 0:
                sums.extent = s.own[one, field + EXTENT]
            else:
                sums.extent = _common(
                    <int32_t>s.own[one, field + EXTENT], <int32_t>s.own[other, field + EXTENT], s
                )
        if not (s.numeric[column] and (form == RANGE or form == ANCESTOR)):
            left, left_end = s.offsets[one, column], s.offsets[one, column + 1]
            right, right_end = s.offsets[other, column], s.offsets[other, column + 1]
            if form != ANCESTOR:
                sums.extent = left_end - left + right_end - right
            while left < left_end and right < right_end:
                if s.values[left] < s.values[right]:
                    left += 1
                elif s.values[right] < s.values[left]:
                    right += 1
                else:
                    if not s.numeric[column]:
                        sums.total += 2.0 * s.counts[left] * s.counts[right]
                    if form != ANCESTOR:
                        sums.extent -= 1
                    left += 1
                    right += 1
        loss += _price(column, records, &sums, s)
        if loss >= most:
            return INFINITY
    return loss


cdef class Nearest:
    """The nearest points of each that were found so far, nearest first."""

    cdef int32_t[:, ::1] found
    cdef double[:, ::1] apart
    cdef uint8_t[:, ::1] since  # the round in which each was found
    cdef uint8_t round
    cdef int32_t[::1] seen  # the point with which each was last compared
    cdef const int32_t[::1] person_of
    cdef int64_t leaf


cdef int _note(int32_t one, int32_t other, double apart, Nearest near) noexcept nogil:
    """Enter a point among the nearest of another."""
    cdef Py_ssize_t last = near.found.shape[1] - 1, place
    if apart >= near.apart[one, last]:
        return 0
    for place in range(last + 1):
        if near.found[one, place] == other:
            return 0
        if near.found[one, place] < 0:
            break
    place = last
    while place > 0 and near.apart[one, place - 1] > apart:
        near.apart[one, place] = near.apart[one, place - 1]
        near.found[one, place] = near.found[one, place - 1]
        near.since[one, place] = near.since[one, place - 1]
        place -= 1
    near.apart[one, place] = apart
    near.found[one, place] = other
    near.since[one, place] = near.round
    return 0


cdef int _compare(int32_t one, int32_t other, Nearest near, Space s) noexcept nogil:
    """Enter each of two points among the nearest of the other."""
    cdef Py_ssize_t last = near.found.shape[1] - 1
    cdef double most = max(near.apart[one, last], near.apart[other, last])
    cdef double apart = _apart(near.person_of[one], near.person_of[other], most, s)
    if apart < most:
        _note(one, other, apart, near)
        _note(other, one, apart, near)
    return 0


cdef int _divide(
    int32_t[::1] order, int64_t low, int64_t high, Nearest near, Groups g, Space s
) noexcept nogil:
    """Divide points by the nearer of two of them, and again, until leaves can be compared."""
    cdef int64_t left, right, place
    cdef int32_t one, other, point
    cdef double first, second
    while high - low > near.leaf:
        one = near.person_of[order[low + _drawn_below(g, high - low)]]
        other = near.person_of[order[low + _drawn_below(g, high - low)]]
        left, right = low, high
        while left < right:
            point = order[left]
            first = _apart(one, near.person_of[point], INFINITY, s)
            second = _apart(other, near.person_of[point], INFINITY, s)
            if first < second or (first == second and _drawn(g) >> 63):
                left += 1
            else:
                right -= 1
                order[left], order[right] = order[right], point
        if min(left - low, high - left) < (high - low) // 16:
            left = (low + high) // 2
        _divide(order, low, left, near, g, s)
        low = left
    for left in range(low, high):
        for place in range(left + 1, high):
            _compare(order[left], order[place], near, s)
    return 0


cdef int _compare_second(int32_t one, Nearest near, Space s) noexcept nogil:
    """Compare a point with neighbours of its neighbours, but for what the round before compared."""
    cdef Py_ssize_t wanted = near.found.shape[1], place, entry
    cdef int32_t other, point
    cdef uint8_t since, last = near.round - 1
    near.seen[one] = one
    for place in range(wanted):
        other = near.found[one, place]
        if other < 0:
            break
        near.seen[other] = one
    for place in range(wanted):
        other, since = near.found[one, place], near.since[one, place]
        if other < 0:
            break
        for entry in range(wanted):
            point = near.found[other, entry]
            if point < 0:
                break
            if near.seen[point] != one and (since >= last or near.since[other, entry] >= last):
                near.seen[point] = one
                _compare(one, point, near, s)
    return 0


def nearest_points(space, const int32_t[::1] person_of, int64_t wanted, uint64_t seed, int64_t leaf):
    """Points near each point; see `group_search.nearest_points`."""
    cdef Space s = _space(space)
    cdef Groups g = Groups()
    cdef Nearest near = Nearest()
    cdef Py_ssize_t points = person_of.shape[0], tree, place
    cdef int32_t[::1] order = np.arange(points, dtype=np.int32)
    found = np.full((points, wanted), -1, np.int32)
    near.found, near.apart = found, np.full((points, wanted), np.inf)
    near.since, near.round = np.zeros((points, wanted), np.uint8), 0
    near.seen = np.empty(points, np.int32)
    near.person_of, near.leaf = person_of, leaf
    g.seed = seed
    with nogil:
        for tree in range(TREES if points > leaf else 1):
            _divide(order, 0, points, near, g, s)
        for near.round in range(1, ROUNDS + 1):
            near.seen[:] = -1
            for place in range(points):
                _compare_second(<int32_t>place, near, s)
    return found


# ------------------------------------------------------------------------------ cutting anew


cdef bint _still_meets(int32_t person, int64_t* few, Groups g, Space s) noexcept nogil:
    """Whether the last group keeps the promises, now that a person has joined; nobody leaves it."""
    cdef int32_t group = <int32_t>g.room
    cdef Py_ssize_t attribute
    cdef bint met
    if s.sharing > 1:
        g.tally_of_size[s.records[person]] += 1
        if g.tally_of_size[s.records[person]] == 1:
            few[0] += 1
        elif g.tally_of_size[s.records[person]] == s.sharing:
            few[0] -= 1
    met = g.persons[group] >= s.least_persons and g.records[group] >= s.least_records
    met &= g.squares[group] <= s.squares * (<double>g.records[group] * <double>g.records[group])
    for attribute in range(s.distinct.shape[0]):
        met &= g.most_sharers[group, attribute] <= s.affiliation[attribute] * g.persons[group]
        met &= g.distinct_values[group, attribute] >= s.distinct[attribute]
    return met and few[0] == 0


cdef int _losses_of_sides(
    int64_t count, Py_ssize_t side, double most, Groups g, Space s
) noexcept nogil:
    """Loss of ever more of the united persons as one group, from the first (side 0) or the last one
    on; infinite where a promise is broken, and from ``most`` on."""
    cdef int32_t group = <int32_t>g.room, person
    cdef int64_t place, entry, joined = 0, few = 0
    _empty(group, g, s)
    for place in range(count):
        g.side_loss[side, place + 1] = INFINITY
        if g.loss[group] < most:
            person = g.united[count - 1 - place if side else place]
            _count(group, person, True, g, s)
            joined += 1
            if _still_meets(person, &few, g, s) and g.loss[group] < most:
                g.side_loss[side, place + 1] = g.loss[group]
    for place in range(joined):
        person = g.united[count - 1 - place if side else place]
        for entry in range(s.offsets[person, 0], s.offsets[person, s.columns]):
            g.tally[group, s.values[entry]] = 0
        for entry in range(s.sensitive_offsets[person], s.sensitive_offsets[person + 1]):
            g.sharers[group, s.sensitive[entry]] = 0
        if s.sharing > 1:
            g.tally_of_size[s.records[person]] = 0
    g.work += 2 * joined
    return 0


cdef bint _in_order(int64_t count, Py_ssize_t column, Groups g, Space s) noexcept nogil:
    """Sort united persons by a column, or by which of two distant ones they are nearer to where
    ``column`` is that behind the last one; tells whether they differ."""
    cdef int64_t place, gap, other
    cdef int32_t person, one, far
    cdef double key, apart, most
    cdef Py_ssize_t field = FIELDS * column
    if column == s.columns:
        one = g.united[_drawn_below(g, count)]
        for gap in range(2):
            far, most = one, -1.0
            for place in range(count):
                apart = _apart(one, g.united[place], INFINITY, s)
                if apart > most:
                    far, most = g.united[place], apart
            one, far = far, one
    for place in range(count):
        person = g.united[place]
        if column == s.columns:
            key = _apart(one, person, INFINITY, s) - _apart(far, person, INFINITY, s)
        elif s.own[person, field + PRESENT] < 0.5:
            key = INFINITY
        elif s.numeric[column]:
            key = s.own[person, field + TOTAL] / s.own[person, field + PRESENT]
        else:
            key = s.values[s.offsets[person, column]]
        g.key[place] = key
    one = 0
    for place in range(1, count):
        one |= g.key[place] != g.key[0]
    if not one:
        return False
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(gap, count):
            person, key, other = g.united[place], g.key[place], place
            while other >= gap and (
                g.key[other - gap] > key
                or (g.key[other - gap] == key and g.united[other - gap] > person)
            ):
                g.united[other], g.key[other] = g.united[other - gap], g.key[other - gap]
                other -= gap
            g.united[other], g.key[other] = person, key
        gap //= 3
    return True


cdef int _cut_anew(int32_t group, int32_t other, Groups g, Space s) noexcept nogil:
    """Divide the members of two groups, one of which may have nobody, where that loses least."""
    cdef int64_t count = 0, place, chosen = 0, stay = 0
    cdef int32_t person
    cdef Py_ssize_t column, at
    cdef double before = g.loss[group] + g.loss[other] - LEAST_GAIN + _allowance(g), loss
    cdef int32_t first, second
    for at in range(2):
        person = g.first[other if at else group]
        while person >= 0:
            g.united[count] = person
            count += 1
            person = g.next[person]
    for column in range(s.columns + 1):
        if not _in_order(count, column, g, s):
            continue
        _losses_of_sides(count, 0, before, g, s)
        _losses_of_sides(count, 1, before, g, s)
        at = 0
        for place in range(1, count):
            loss = g.side_loss[0, place] + g.side_loss[1, count - place]
            if loss < before:
                before, chosen, at = loss, place, 1
        if at:
            g.cut[:count] = g.united[:count]
    if chosen == 0:
        return 0
    for place in range(count):
        stay += (g.group_of[g.cut[place]] == group) == (place < chosen)
    first, second = group, other
    if 2 * stay < count:
        first, second = other, group
    for place in range(count):
        at = first if place < chosen else second
        if g.group_of[g.cut[place]] != at:
            _move(g.cut[place], <int32_t>at, g, s)
    return _keep(g, s)


cdef int _try_cuts(int32_t group, Groups g, Space s) noexcept nogil:
    """Cut a group in two, and then anew together with groups near it."""
    cdef int32_t other, person, near
    cdef Py_ssize_t tried, index
    cdef int64_t steps
    if g.loss[group] <= LEAST_GAIN or _closed(group, g) or g.persons[group] > UNITED:
        return 0
    if (
        g.changed[group]
        and g.persons[group] >= max(2 * s.least_persons, 2)
        and g.records[group] >= 2 * s.least_records
    ):
        other = _opened(g)
        if other >= 0:
            _cut_anew(group, other, g, s)
            if g.persons[other] == 0:
                _closed_again(other, g)
    for tried in range(PARTNERS):
        if _closed(group, g) or g.persons[group] == 0:
            return 0
        person = g.first[group]
        steps = _drawn_below(g, g.persons[group])
        while steps > 0:
            person = g.next[person]
            steps -= 1
        for index in range(-1, s.neighbours.shape[1]):
            near = _near(s.point_of[person], index, g, s)
            if near < 0:
                break
            other = g.group_of[near]
            if other == group or _closed(other, g):
                continue
            if (
                (g.changed[group] or g.changed[other])
                and g.persons[group] + g.persons[other] <= UNITED
            ):
                _cut_anew(group, other, g, s)
            break
    return 0


# -------------------------------------------------------------------------------- the search


cdef Groups _groups(
    Space s, const int32_t[::1] group_of, Py_ssize_t room, Py_ssize_t values, uint64_t seed
):
    cdef Groups g = Groups()
    cdef Py_ssize_t column, person, group
    # One more group counts what is tried.
    g.room, room = room, room + 1
    g.state, g.loss = np.empty((room, s.columns * FIELDS)), np.zeros(room)
    g.tally = np.zeros((room, values), np.int32)
    g.sharers = np.zeros((room, s.attribute_of.shape[0]), np.int32)
    g.persons, g.records = np.zeros(room, np.int64), np.zeros(room, np.int64)
    g.squares = np.zeros(room, np.int64)
    g.group_of = np.empty(s.persons, np.int32)
    g.next, g.previous = np.full(s.persons, -1, np.int32), np.full(s.persons, -1, np.int32)
    g.first = np.full(room, -1, np.int32)
    g.free, g.others = np.zeros(room, np.int32), np.empty(room, np.int32)
    g.stamp = np.zeros(room, np.int64)
    g.tried = np.empty(CANDIDATES, np.int32)
    g.version, g.leaving = np.zeros(room, np.int64), np.empty(s.persons)
    g.leaving_in = np.zeros(s.persons, np.int64)
    g.moved_in = np.empty((s.persons + 8, 2), np.int64)
    g.spare = np.empty(room, np.int64)
    g.moved, g.moved_from = np.empty(s.persons + 8, np.int32), np.empty(s.persons + 8, np.int32)
    g.tally_of_size = np.zeros(int(np.max(s.records)) + 1 if s.sharing > 1 else 1, np.int64)
    g.operation_of = np.full(room, -1, np.int32)
    g.seed = seed
    g.united, g.cut = np.empty(UNITED, np.int32), np.empty(UNITED, np.int32)
    g.key, g.side_loss = np.empty(UNITED), np.empty((2, UNITED + 1))
    g.most_sharers = np.zeros((room, s.distinct.shape[0]), np.int64)
    g.distinct_values = np.zeros((room, s.distinct.shape[0]), np.int64)
    with nogil:
        for group in range(g.room + 1):
            _empty(<int32_t>group, g, s)
        for person in range(s.persons):
            _set(group_of[person], <int32_t>person, True, g, s)
        for group in range(g.room - 1, -1, -1):
            if g.persons[group] == 0:
                _closed_again(<int32_t>group, g)
    return g


cdef double _loss_of_all(Groups g) noexcept nogil:
    cdef double loss = 0.0
    cdef Py_ssize_t group
    for group in range(g.room):
        loss += g.loss[group]
    return loss


def improved(
    space, const int32_t[::1] group_of, int64_t room, int64_t values, uint64_t seed, bint once,
    double heat, changed,
):
    """One pass over all persons and groups; see `group_search.improved`."""
    cdef Space s = _space(space)
    cdef Groups g = _groups(s, group_of, room, values, seed)
    cdef Py_ssize_t place
    cdef int64_t drawn, most = LOOKED_AT * s.persons, opening
    cdef int32_t[::1] order = np.arange(s.persons, dtype=np.int32)
    cdef int32_t person
    cdef double before = _loss_of_all(g), after
    g.once, g.heat = once, heat
    g.changed, changed_now = changed.astype(np.uint8), np.zeros(room, np.uint8)
    g.changed_now = changed_now
    with nogil:
        for place in range(s.persons - 1, 0, -1):
            drawn = _drawn_below(g, place + 1)
            order[place], order[drawn] = order[drawn], order[place]
        for place in range(s.persons):
            if g.work < most:
                _try_move(order[place], g, s)
        for place in range(s.persons):
            person = order[place]
            if g.work < most and g.first[g.group_of[person]] == person:
                _try_dissolve(g.group_of[person], g, s)
        for place in range(s.persons):
            person = order[place]
            if g.work < most and g.first[g.group_of[person]] == person:
                _try_cuts(g.group_of[person], g, s)
        opening = g.work + OPENING * s.persons
        for place in range(s.persons):
            if g.work < most and g.work < opening:
                _try_open(order[place], g, s)
        after = _loss_of_all(g)
    changed = changed_now.astype(bool)
    return np.asarray(g.group_of), np.asarray(g.operation_of), changed, before, after
