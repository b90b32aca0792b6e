"""The loops over the events of persons: which of them are written less exactly, class by class.

Loops without the interpreter's lock: they check nothing, so that their callers must pass
contiguous arrays of the stated types. A cell of a table stands for one label, or for two labels
of one pseudonym: how many pseudonyms show them, and what weight the questions have that they
answer.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef uint64_t GOLDEN = 0x9E3779B97F4A7C15
cdef double LEAST_GAIN = 1e-9
# A move must gain more than rounding.
cdef int64_t NEVER = -(<int64_t>1 << 60)


cpdef enum:
    MOST_DIVIDED = 24  # events of a unit that is divided at most
    NO_PLACE = -(1 << 30)  # of an event of which nobody can see when it was


cdef struct Parts:
    # A unit that may go out under several pseudonyms, its events as bits of a number.
    int events
    double[MOST_DIVIDED] one
    double[MOST_DIVIDED][MOST_DIVIDED] two  # how many others show a label, and two of them
    int64_t[MOST_DIVIDED] rows
    uint32_t[MOST_DIVIDED] alike  # events that have the label of each
    uint32_t talking, repeated  # events whose label says something, and with several rows
    double kept, records  # what its events still say, in [0, 1], and its rows
    uint32_t[MOST_DIVIDED] part
    int parts


cdef struct Paid:
    double one, two, lost


cdef struct Terms:
    # What a chance costs, how much pairs count, and whether only what is learned does.
    double rate, share, weight
    bint learned


cdef inline bint _twice(Parts* unit, uint32_t events) noexcept nogil:
    return (events & (events - 1)) != 0 or (events & unit.repeated) != 0


cdef inline bint _shows_both(Parts* unit, uint32_t part, int e, int f) noexcept nogil:
    """Whether a part has a row for each of two events."""
    if unit.alike[e] == unit.alike[f]:
        return _twice(unit, part & unit.alike[e])
    return (part & unit.alike[e]) != 0 and (part & unit.alike[f]) != 0


cdef inline bint _tells(Parts* unit, Terms* terms, uint32_t part, uint32_t known) noexcept nogil:
    """Whether who has found a part has what counts."""
    return not terms.learned or (part & unit.talking & ~known) != 0


cdef double _by_one(Parts* unit, Terms* terms, int e, uint32_t known) noexcept nogil:
    """The chance by one event, where some are known."""
    cdef int at, own = 0, more = 0
    for at in range(unit.parts):
        if unit.part[at] & unit.alike[e]:
            own += 1
            more += _tells(unit, terms, unit.part[at], known)
    return more / (unit.one[e] + own)


cdef double _by_two(Parts* unit, Terms* terms, int e, int f) noexcept nogil:
    """The chance by two events: by both, or by the one that tells more."""
    cdef int at, own = 0, more = 0
    cdef uint32_t known = unit.alike[e] | unit.alike[f]
    cdef double found = 0, other
    for at in range(unit.parts):
        if _shows_both(unit, unit.part[at], e, f):
            own += 1
            more += _tells(unit, terms, unit.part[at], known)
    if more:
        found = more / (unit.two[e][f] + own)
    if unit.parts > 1:
        other = _by_one(unit, terms, e, known)
        found = other if other > found else found
        if unit.alike[e] != unit.alike[f]:
            other = _by_one(unit, terms, f, known)
            found = other if other > found else found
    return found


cdef double _together(Parts* unit, Terms* terms) noexcept nogil:
    """What is left of the pairs of a unit's rows, in [0, 1]."""
    cdef double pairs = 0, rows, left
    cdef int at, e
    if unit.records < 2:
        return 1.0
    for at in range(unit.parts):
        rows = 0
        for e in range(unit.events):
            if unit.part[at] >> e & 1:
                rows += unit.rows[e]
        pairs += rows * (rows - 1)
    left = 1 - terms.weight * (1 - pairs / (unit.records * (unit.records - 1)))
    return left if left > 0 else 0.0


cdef struct Cell:
    # Weights of questions for one event and for two, and how many pseudonyms answer them; what
    # is looked up together lies together. Empty where the stamp is not that of now.
    int64_t key
    double one
    double two
    int32_t stamp
    int32_t count


cdef struct Sums:
    double one
    double two
    int64_t used


cdef class Histories:
    """The events of the pseudonyms of some classes, how they are written now, and what that costs.

    Events of one pseudonym follow each other, and so do the pseudonyms of a class and the slots
    (the distinct events) of a class.
    """

    cdef const int64_t[::1] slot_start, unit_start, event_start, holder_start, holders
    cdef const int32_t[::1] unit_of, slot_of, rows, place
    cdef const double[::1] alone_one, alone_two, together
    cdef const int32_t[:, ::1] labels
    cdef const double[:, ::1] losses
    cdef int32_t[::1] label
    cdef Cell[::1] cells
    cdef Sums sums
    cdef int32_t epoch, fewest
    cdef bint placed

    def __init__(
        self, slot_start, unit_start, event_start, unit_of, slot_of, rows, place, alone_one,
        alone_two, together, holder_start, holders, labels, losses, label, placed, fewest,
    ):
        self.slot_start, self.unit_start, self.event_start = slot_start, unit_start, event_start
        self.unit_of, self.slot_of, self.rows, self.place = unit_of, slot_of, rows, place
        self.alone_one, self.alone_two, self.together = alone_one, alone_two, together
        self.holder_start, self.holders = holder_start, holders
        self.labels, self.losses, self.label = labels, losses, label
        self.placed, self.fewest, self.epoch = placed, fewest, 0

    def in_table(self, cells):
        """Take a table of cells, all of them 0; its size is a power of two."""
        self.cells, self.epoch = cells, 0

    cdef inline int64_t cell(self, int64_t key) noexcept nogil:
        cdef int64_t mask = self.cells.shape[0] - 1
        cdef int64_t at = <int64_t>((<uint64_t>key * GOLDEN) >> 20) & mask
        while self.cells[at].stamp == self.epoch:
            if self.cells[at].key == key:
                return at
            at = (at + 1) & mask
        self.cells[at] = Cell(key, 0, 0, self.epoch, 0)
        self.sums.used += 1
        return at

    cdef inline double price(self, double weight, int32_t count) noexcept nogil:
        """What questions cost that so many pseudonyms answer."""
        if self.fewest:
            return weight if count < self.fewest else 0.0
        return weight / count

    cdef inline void change(
        self, int64_t key, double one, double two, int32_t count
    ) noexcept nogil:
        cdef Cell* cell = &self.cells[self.cell(key)]
        if cell.count > 0:
            self.sums.one -= self.price(cell.one, cell.count)
            self.sums.two -= self.price(cell.two, cell.count)
        cell.one += one
        cell.two += two
        cell.count += count
        if cell.count > 0:
            self.sums.one += self.price(cell.one, cell.count)
            self.sums.two += self.price(cell.two, cell.count)

    cdef inline int64_t pair(self, int64_t e, int64_t f) noexcept nogil:
        """The key of two events of a pseudonym: their labels and how far apart they are."""
        cdef int64_t one = self.label[e], other = self.label[f], apart = 0
        if self.placed:
            if self.place[e] != NO_PLACE and self.place[f] != NO_PLACE:
                apart = self.place[f] - self.place[e]
            if one > other or (one == other and apart < 0):
                apart = -apart
            apart += 1 << 18
        if one > other:
            one, other = other, one
        return (one + 1) << 41 | other << 19 | apart

    cdef void link(self, int64_t e, int32_t sign, int64_t upto) noexcept nogil:
        """Add or take away what an event does among its pseudonym's events before ``upto``."""
        cdef int64_t unit = self.unit_of[e], first = self.event_start[unit], f, g
        cdef int32_t mine = self.label[e], beside = 0
        cdef double weight = sign * self.together[unit]
        cdef bint seen
        for f in range(first, upto):
            if f != e and self.label[f] == mine:
                beside += self.rows[f]
        self.change(
            mine, sign * self.alone_one[e], sign * self.alone_two[e], 0 if beside else sign
        )
        if self.placed:
            for f in range(first, upto):
                if f != e:
                    self.change(self.pair(e, f), 0, weight, sign)
            return
        for f in range(first, upto):
            if f == e:
                continue
            seen = beside > 0
            if not seen:
                for g in range(first, f):
                    if g != e and self.label[g] == self.label[f]:
                        seen = True
                        break
            self.change(
                self.pair(e, f), 0, weight, 0 if seen or self.label[f] == mine else sign
            )
        if beside < 2 and beside + self.rows[e] >= 2:
            self.change(self.pair(e, e), 0, 0, sign)

    cdef void move(self, int64_t slot, int32_t to) noexcept nogil:
        """Write an event with another label, wherever the class has it."""
        cdef int64_t at, e, end
        for at in range(self.holder_start[slot], self.holder_start[slot + 1]):
            e = self.holders[at]
            if self.label[e] == to:
                continue
            end = self.event_start[self.unit_of[e] + 1]
            self.link(e, -1, end)
            self.label[e] = to
            self.link(e, 1, end)

    cdef void begin(self, int64_t group, const int8_t[::1] rung) noexcept nogil:
        """Fill the table with a class, its events written as the rungs say."""
        cdef int64_t unit, e
        self.epoch += 1
        self.sums.one = self.sums.two = 0
        self.sums.used = 0
        for unit in range(self.unit_start[group], self.unit_start[group + 1]):
            for e in range(self.event_start[unit], self.event_start[unit + 1]):
                self.label[e] = self.labels[self.slot_of[e], rung[self.slot_of[e]]]
                self.link(e, 1, e)

    cdef inline double cost(self, double rate, double share) noexcept nogil:
        return rate * (share * self.sums.one + (1 - share) * self.sums.two)

    cdef bint one_by_one(
        self, int64_t group, int8_t[::1] rung, double rate, double share
    ) noexcept nogil:
        """Give each event of a class the rung that costs least, the others being as they are."""
        cdef int64_t slot, rungs = self.labels.shape[1], r
        cdef int8_t now, best
        cdef double least, found
        cdef bint changed = False
        for slot in range(self.slot_start[group], self.slot_start[group + 1]):
            now = best = rung[slot]
            least = self.cost(rate, share) + self.losses[slot, now] - LEAST_GAIN
            for r in range(rungs):
                if r == now or self.losses[slot, r] < 0:
                    continue
                if r and self.labels[slot, r] == self.labels[slot, r - 1]:
                    continue  # written alike, and no more is lost one rung below
                self.make_room(group, rung)
                self.move(slot, self.labels[slot, r])
                found = self.cost(rate, share) + self.losses[slot, r]
                if found < least:
                    least, best = found, <int8_t>r
            self.move(slot, self.labels[slot, best])
            if best != now:
                rung[slot] = best
                changed = True
        return changed

    cdef bint together_down(
        self, int64_t group, int8_t[::1] rung, double rate, double share
    ) noexcept nogil:
        """Write all events below one label with it that are written less exactly, where that pays.

        One alone gains nothing by a label that nobody else of the class has. Events below one
        label follow each other.
        """
        cdef int64_t first, end, slot, rungs = self.labels.shape[1], r, moved
        cdef int64_t last = self.slot_start[group + 1]
        cdef double before, lost
        cdef bint changed = False
        for r in range(rungs - 2, 0, -1):
            first = self.slot_start[group]
            while first < last:
                end, moved, lost = first, 0, 0.0
                while end < last and self.labels[end, r] == self.labels[first, r]:
                    if rung[end] > r and self.losses[end, r] >= 0:
                        moved += 1
                        lost += self.losses[end, r] - self.losses[end, rung[end]]
                    end += 1
                if moved > 1:
                    self.make_room(group, rung)
                    before = self.cost(rate, share)
                    for slot in range(first, end):
                        if rung[slot] > r and self.losses[slot, r] >= 0:
                            self.move(slot, self.labels[slot, r])
                    if self.cost(rate, share) + lost < before - LEAST_GAIN:
                        changed = True
                        for slot in range(first, end):
                            if rung[slot] > r and self.losses[slot, r] >= 0:
                                rung[slot] = <int8_t>r
                    else:
                        for slot in range(first, end):
                            self.move(slot, self.labels[slot, rung[slot]])
                first = end
        return changed

    cdef inline void make_room(self, int64_t group, const int8_t[::1] rung) noexcept nogil:
        """Fill the table anew with what is used now, before what was tried fills it up."""
        if self.sums.used > self.cells.shape[0] // 2:
            self.begin(group, rung)

    cdef void solve(
        self, int64_t first, int64_t last, const double[::1] rates, double share, int64_t sweeps,
        int8_t[::1] rung, int8_t[:, ::1] found, double[:, :, ::1] spent,
    ) noexcept nogil:
        cdef int64_t group, slot, at, sweep
        cdef bint changed
        for group in range(first, last):
            self.begin(group, rung)
            for at in range(rates.shape[0]):
                for sweep in range(sweeps):
                    changed = self.one_by_one(group, rung, rates[at], share)
                    changed = self.together_down(group, rung, rates[at], share) or changed
                    if not changed:
                        break
                self.begin(group, rung)  # sums without what rounding has left
                spent[at, group, 0], spent[at, group, 1] = self.sums.one, self.sums.two
                spent[at, group, 2] = 0
                for slot in range(self.slot_start[group], self.slot_start[group + 1]):
                    found[at, slot] = rung[slot]
                    spent[at, group, 2] += self.losses[slot, rung[slot]]

    def recode(self, first, last, rates, share, sweeps, rung, found, spent):
        """See `sfumato.kernels.history_loops.recodings`."""
        cdef int64_t begin = first, end = last, many = sweeps
        cdef double part = share
        cdef const double[::1] every = rates
        cdef int8_t[::1] now = rung
        cdef int8_t[:, ::1] kept = found
        cdef double[:, :, ::1] paid = spent
        with nogil:
            self.solve(begin, end, every, part, many, now, kept, paid)

    cdef inline bint tells_beside(
        self, int64_t e, int64_t f, int64_t first, int64_t end, const uint8_t[::1] silent
    ) noexcept nogil:
        """Whether another event of a unit says something that two of its own do not."""
        cdef int64_t g
        for g in range(first, end):
            if (
                not silent[self.label[g]]
                and self.label[g] != self.label[e]
                and self.label[g] != self.label[f]
            ):
                return True
        return False

    cdef void risks_of(
        self, int64_t begin, int64_t last, const int8_t[::1] rung, const int32_t[::1] parts,
        const uint8_t[::1] silent, Terms* terms, double[:, ::1] risks,
    ) noexcept nogil:
        cdef int64_t group, unit, e, f, first, end
        cdef Parts divided
        cdef Paid paid
        for group in range(begin, last):
            self.begin(group, rung)
            for unit in range(self.unit_start[group], self.unit_start[group + 1]):
                if self.is_divided(unit, parts):
                    self.meet(&divided, unit, silent)
                    self.tally(&divided, self.event_start[unit], -1)
                    self.take_parts(&divided, unit, parts)
                    self.tally(&divided, self.event_start[unit], 1)
            for unit in range(self.unit_start[group], self.unit_start[group + 1]):
                first, end = self.event_start[unit], self.event_start[unit + 1]
                if self.is_divided(unit, parts):
                    self.meet(&divided, unit, silent)
                    self.take_parts(&divided, unit, parts)
                    self.without(&divided, first)
                    paid = self.paid(&divided, terms, unit)
                    risks[unit, 0], risks[unit, 1] = paid.one, paid.two
                    continue
                for e in range(first, end):
                    if not terms.learned or self.tells_beside(e, e, first, end, silent):
                        self.add(risks, unit, self.label[e], self.alone_one[e], self.alone_two[e])
                    for f in range(first, e):
                        if not terms.learned or self.tells_beside(e, f, first, end, silent):
                            self.add(risks, unit, self.pair(e, f), 0, self.together[unit])

    cdef inline bint is_divided(self, int64_t unit, const int32_t[::1] parts) noexcept nogil:
        cdef int64_t e
        for e in range(self.event_start[unit], self.event_start[unit + 1]):
            if parts[e]:
                return True
        return False

    cdef void take_parts(
        self, Parts* unit, int64_t number, const int32_t[::1] parts
    ) noexcept nogil:
        """Divide a unit as it was divided before."""
        cdef int64_t first = self.event_start[number]
        cdef int e, at
        unit.parts = 1
        for e in range(unit.events):
            if parts[first + e] + 1 > unit.parts:
                unit.parts = parts[first + e] + 1
        for at in range(unit.parts):
            unit.part[at] = 0
        for e in range(unit.events):
            unit.part[parts[first + e]] |= <uint32_t>1 << e

    cdef inline void add(
        self, double[:, ::1] risks, int64_t unit, int64_t key, double one, double two
    ) noexcept nogil:
        cdef int64_t at = self.cell(key)
        risks[unit, 0] += self.price(one, self.cells[at].count)
        risks[unit, 1] += self.price(two, self.cells[at].count)

    def risks(self, first, last, rung, parts, silent, learned, found):
        """See `sfumato.kernels.history_loops.unit_risks`."""
        cdef int64_t begin = first, end = last
        cdef const int8_t[::1] now = rung
        cdef const int32_t[::1] own = parts
        cdef const uint8_t[::1] nothing = silent
        cdef double[:, ::1] kept = found
        cdef Terms terms
        terms.rate, terms.share, terms.weight, terms.learned = 1, 0, 0, learned
        with nogil:
            self.risks_of(begin, end, now, own, nothing, &terms, kept)

    cdef Paid paid(self, Parts* unit, Terms* terms, int64_t number) noexcept nogil:
        """What a unit costs and loses in the parts that it has."""
        cdef Paid found
        cdef int e, f
        cdef int64_t first = self.event_start[number]
        cdef double weight = self.together[number]
        found.one = found.two = 0
        for e in range(unit.events):
            if self.alone_one[first + e] > 0 or self.alone_two[first + e] > 0:
                found.one += self.alone_one[first + e] * _by_one(unit, terms, e, unit.alike[e])
                found.two += self.alone_two[first + e] * _by_one(unit, terms, e, unit.alike[e])
            if weight > 0:
                for f in range(e):
                    found.two += weight * _by_two(unit, terms, e, f)
        found.lost = 1 - unit.kept * _together(unit, terms)
        return found

    cdef inline double total(self, Paid* paid, Terms* terms) noexcept nogil:
        return paid.lost + terms.rate * (terms.share * paid.one + (1 - terms.share) * paid.two)

    cdef void meet(
        self, Parts* unit, int64_t number, const uint8_t[::1] silent
    ) noexcept nogil:
        """Look up a unit, undivided."""
        cdef int64_t first = self.event_start[number]
        cdef int e, f
        unit.events = <int>(self.event_start[number + 1] - first)
        unit.talking = unit.repeated = 0
        unit.records = 0
        for e in range(unit.events):
            unit.rows[e] = self.rows[first + e]
            unit.records += unit.rows[e]
            unit.alike[e] = 0
            for f in range(unit.events):
                if self.label[first + e] == self.label[first + f]:
                    unit.alike[e] |= <uint32_t>1 << f
            if not silent[self.label[first + e]]:
                unit.talking |= <uint32_t>1 << e
            if unit.rows[e] > 1:
                unit.repeated |= <uint32_t>1 << e
        unit.kept = 1
        unit.parts = 1
        unit.part[0] = <uint32_t>((<uint64_t>1 << unit.events) - 1)

    cdef void without(self, Parts* unit, int64_t first) noexcept nogil:
        """Look up who else shows what a unit does."""
        cdef int e, f, at
        for e in range(unit.events):
            unit.one[e] = self.cells[self.cell(self.label[first + e])].count
            for at in range(unit.parts):
                unit.one[e] -= (unit.part[at] & unit.alike[e]) != 0
            for f in range(e):
                unit.two[e][f] = self.cells[self.cell(self.pair(first + e, first + f))].count
                for at in range(unit.parts):
                    unit.two[e][f] -= _shows_both(unit, unit.part[at], e, f)

    cdef void tally(self, Parts* unit, int64_t first, int32_t sign) noexcept nogil:
        """Add or take away the parts of a unit among those that show labels."""
        cdef int at, e, f
        cdef uint32_t part, mine
        for at in range(unit.parts):
            part = unit.part[at]
            for e in range(unit.events):
                mine = part & unit.alike[e]
                if not part >> e & 1 or mine & ((<uint32_t>1 << e) - 1):
                    continue  # the first event of a label stands for it
                self.cells[self.cell(self.label[first + e])].count += sign
                if _twice(unit, mine):
                    self.cells[self.cell(self.pair(first + e, first + e))].count += sign
                for f in range(e):
                    if part >> f & 1 and not part & unit.alike[f] & ((<uint32_t>1 << f) - 1):
                        self.cells[self.cell(self.pair(first + e, first + f))].count += sign

    cdef Paid settle(self, Parts* unit, Terms* terms, int64_t number) noexcept nogil:
        """Move single events between the parts of a unit, or out of them, while that pays."""
        cdef Paid best = self.paid(unit, terms, number), now
        cdef Parts tried
        cdef int e, at
        cdef bint changed = True
        while changed:
            changed = False
            for e in range(unit.events):
                for at in range(unit.parts + 1):
                    tried = unit[0]
                    if not _moved(&tried, e, at):
                        continue
                    now = self.paid(&tried, terms, number)
                    if self.total(&now, terms) < self.total(&best, terms) - LEAST_GAIN:
                        best, unit[0], changed = now, tried, True
                        break
        return best

    cdef Paid divide_one(self, Parts* unit, Terms* terms, int64_t number) noexcept nogil:
        """Give a unit the parts that come to least of those that single moves lead to.

        They begin with all events in one part, and with each in its own.
        """
        cdef Paid best = self.paid(unit, terms, number), now
        cdef Parts tried = unit[0]
        cdef int e
        # Who is divided at all loses at least one record's pairs.
        if self.total(&best, terms) - best.lost <= unit.kept * terms.weight * 2 / unit.records:
            return best
        best = self.settle(unit, terms, number)
        tried.parts = unit.events
        for e in range(unit.events):
            tried.part[e] = <uint32_t>1 << e
        now = self.settle(&tried, terms, number)
        if self.total(&now, terms) < self.total(&best, terms) - LEAST_GAIN:
            best, unit[0] = now, tried
        return best

    cdef void divide_all(
        self, int64_t begin, int64_t end, const int8_t[::1] rung, const double[::1] kept,
        const uint8_t[::1] silent, Terms* terms, int32_t[::1] parts, double[:, ::1] spent,
    ) noexcept nogil:
        cdef int64_t group, number, first, e
        cdef Parts unit
        cdef Paid paid
        cdef int at
        cdef double said
        for group in range(begin, end):
            self.begin(group, rung)
            for number in range(self.unit_start[group], self.unit_start[group + 1]):
                first = self.event_start[number]
                if self.event_start[number + 1] - first > MOST_DIVIDED:
                    continue
                self.meet(&unit, number, silent)
                self.without(&unit, first)
                said = 0
                for at in range(unit.events):
                    said += unit.rows[at] * kept[rung[self.slot_of[first + at]]]
                unit.kept = said / unit.records
                paid = self.divide_one(&unit, terms, number)
                spent[number, 0], spent[number, 1], spent[number, 2] = paid.one, paid.two, paid.lost
                if unit.parts == 1:
                    continue
                self.tally(&unit, first, 1)
                for at in range(unit.parts):
                    for e in range(unit.events):
                        if unit.part[at] >> e & 1:
                            parts[first + e] = at
                unit.parts, unit.part[0] = 1, <uint32_t>((<uint64_t>1 << unit.events) - 1)
                self.tally(&unit, first, -1)

    def divide(
        self, first, last, rung, kept, silent, rate, share, weight, learned, parts, spent
    ):
        """See `sfumato.kernels.history_loops.divided`."""
        cdef int64_t begin = first, end = last
        cdef const int8_t[::1] now = rung
        cdef const double[::1] left = kept
        cdef const uint8_t[::1] nothing = silent
        cdef int32_t[::1] found = parts
        cdef double[:, ::1] paid = spent
        cdef Terms terms
        terms.rate, terms.share, terms.weight, terms.learned = rate, share, weight, learned
        with nogil:
            self.divide_all(begin, end, now, left, nothing, &terms, found, paid)


cdef bint _moved(Parts* unit, int e, int to) noexcept nogil:
    """Put an event into another part, or into one of its own; whether that changes anything."""
    cdef int at
    cdef uint32_t mine = <uint32_t>1 << e
    for at in range(unit.parts):
        if unit.part[at] & mine:
            break
    if at == to or (to == unit.parts and unit.part[at] == mine):
        return False
    if to == unit.parts:
        unit.part[to], unit.parts = 0, unit.parts + 1
    unit.part[to] |= mine
    unit.part[at] ^= mine
    if not unit.part[at]:
        unit.parts -= 1
        unit.part[at] = unit.part[unit.parts]
    return True


# ------------------------------------------------------- who has known events, by their intervals


cdef struct Question:
    int64_t[8] events  # the known events, those that are looked up together first
    int known
    int64_t spread


cdef inline bint _agree(int64_t shown, int64_t apart, int64_t spread) noexcept nogil:
    """Whether days between two dates that are shown may be those that are known."""
    if spread >= 0:
        return -spread <= shown - apart <= spread
    return (shown > 0) == (apart > 0) and (shown < 0) == (apart < 0)


cdef bint _others_fit(
    Question* asked, int many, int64_t* taken, const int32_t[::1] keys, const int64_t[::1] dates,
    const int32_t[::1] row_key, const int64_t[::1] row_date, const uint8_t[::1] undated,
    int64_t first, int64_t last, int64_t low, int64_t high,
) noexcept nogil:
    """Whether the unit has rows of their own for the known events behind the first ones."""
    cdef int64_t row, away, event
    cdef int other
    cdef bint fits, dated
    if many == asked.known:
        return True
    event = asked.events[many]
    dated = not undated[keys[event]]
    for row in range(first, last):
        away = row_date[row] - dates[event]
        if row_key[row] != keys[event] or (dated and (away < low or away > high)):
            continue
        fits = True
        for other in range(many):
            fits = fits and taken[other] != row and (
                not dated or undated[row_key[taken[other]]] or _agree(
                    row_date[row] - row_date[taken[other]],
                    dates[event] - dates[asked.events[other]],
                    asked.spread,
                )
            )
        if fits:
            taken[many] = row
            if _others_fit(
                asked, many + 1, taken, keys, dates, row_key, row_date, undated, first, last,
                low, high,
            ):
                return True
    return False


cdef int64_t _first_pair(
    const int64_t[::1] keys, const int64_t[::1] aparts, int64_t key, int64_t apart
) noexcept nogil:
    """Place of the first of ascending pairs that is not below one."""
    cdef int64_t low = 0, high = keys.shape[0], middle
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key or (keys[middle] == key and aparts[middle] < apart):
            low = middle + 1
        else:
            high = middle
    return low


def count_dated(
    const int64_t[:, ::1] sets,
    const int32_t[::1] keys,
    const int64_t[::1] dates,
    const int64_t[::1] key_start,
    const int64_t[::1] key_rows,
    const int64_t[::1] pair_keys,
    const int64_t[::1] pair_aparts,
    const int64_t[:, ::1] pair_rows,
    const int32_t[::1] row_key,
    const int32_t[::1] row_unit,
    const int64_t[::1] row_date,
    const uint8_t[::1] undated,
    const int64_t[::1] unit_rows,
    const int64_t[::1] unit_low,
    const int64_t[::1] unit_high,
    int64_t spread,
    int64_t first_set,
    int64_t last_set,
    int64_t[::1] stamps,
    int32_t[::1] fitting,
):
    """See `sfumato.kernels.history_loops.dated_units`."""
    cdef int64_t s, at, end, unit, key, apart, least, most, away
    cdef int64_t[8] taken
    cdef Question asked
    cdef int each
    cdef bint fits
    with nogil:
        asked.spread = spread
        for s in range(first_set, last_set):
            asked.known = 0
            while asked.known < sets.shape[1] and sets[s, asked.known] >= 0:
                asked.events[asked.known] = sets[s, asked.known]
                asked.known += 1
            fitting[s] = 0
            if asked.known == 1:
                key = keys[asked.events[0]]
                at, end = key_start[key], key_start[key + 1]
            else:
                if keys[asked.events[0]] > keys[asked.events[1]]:
                    asked.events[0], asked.events[1] = asked.events[1], asked.events[0]
                key = keys[asked.events[0]] * (key_start.shape[0] - 1) + keys[asked.events[1]]
                apart = dates[asked.events[1]] - dates[asked.events[0]]
                if undated[keys[asked.events[0]]] or undated[keys[asked.events[1]]]:
                    least, most = NEVER, -NEVER
                elif spread >= 0:
                    least, most = apart - spread, apart + spread
                else:
                    least = 1 if apart > 0 else NEVER if apart < 0 else 0
                    most = -NEVER if apart > 0 else -1 if apart < 0 else 0
                at, end = _first_pair(pair_keys, pair_aparts, key, least), pair_keys.shape[0]
            while at < end:
                if asked.known == 1:
                    taken[0] = key_rows[at]
                else:
                    if pair_keys[at] != key or pair_aparts[at] > most:
                        break
                    taken[0], taken[1] = pair_rows[at, 0], pair_rows[at, 1]
                at += 1
                unit = row_unit[taken[0]]
                if stamps[unit] == s:
                    continue
                fits = True
                for each in range(min(asked.known, 2)):
                    away = row_date[taken[each]] - dates[asked.events[each]]
                    fits = fits and (
                        undated[row_key[taken[each]]]
                        or unit_low[unit] <= away <= unit_high[unit]
                    )
                if fits and _others_fit(
                    &asked, min(asked.known, 2), taken, keys, dates, row_key, row_date, undated,
                    unit_rows[unit], unit_rows[unit + 1], unit_low[unit], unit_high[unit],
                ):
                    stamps[unit] = s
                    fitting[s] += 1
