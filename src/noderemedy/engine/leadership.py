"""Who may act: leader election over one Lease, as a machine without I/O.

The manager drives it through `drivers/kube/lease.py`, the simulator directly. Ask `poll(now)` what to do next, carry
out the operation, tell `answered(...)`; before every effect ask `may_act(now)`. Rules:

1. Our own leadership counts from the BEGIN of the last renewal that succeeded. The server cannot have stored it
   earlier, so nobody else can have started to wait earlier; the time of the answer proves nothing.
2. Another holder has expired when its Lease did not change for its whole duration by OUR monotonic clock, from
   the moment we saw it. Wall time in a Lease is for people.
3. We stop (`deadline`) well before others may start (`duration`). The difference is the margin for clocks that
   run at different speeds and for effects that are on their way.
4. A write without an answer may have happened: read before claiming anything.
5. Every acquisition has a higher token (leaseTransitions), also when the same process lost it and came back.
   Only deleting the Lease by hand loses the count: then it goes on from the highest that its new maker saw.

Known limit: who starts after the Lease was deleted cannot know that there ever was one, and makes it at once. The old
leader notices at its next renewal, or after its deadline at the latest; until then two may act, and a token may
repeat. A candidate that saw the Lease vanish waits for the whole duration. docs/critiques.md says why that is enough.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from noderemedy.model.time import Mono, Now, Span, Wall

DRAW_RANGE = 1 << 64
LAPSED = "this manager does not lead any more"  # why nothing leaves


class Rules(Struct, frozen=True):
    """The three numbers of leader election, the same for all candidates of one Lease."""

    duration: Span = Span(15_000)  # others wait this long before they take over
    deadline: Span = Span(10_000)  # we act no longer than this after the begin of a renewal
    retry: Span = Span(2_000)  # between two looks or renewals, at most

    def __post_init__(self) -> None:
        # Two clocks may differ by 2 % of the duration (1 % each way); below that margin nothing is safe.
        if self.deadline.ms * 50 > self.duration.ms * 49 or self.retry >= self.deadline:
            raise ValueError("leader election needs retry < deadline < 98 % of duration")

    @property
    def aside(self) -> Span:
        """How long who stands aside does so: any other candidate takes over within this time."""
        return Span(self.duration.ms * 3)

    @property
    def patience(self) -> Span:
        """How long one request may take, so that a second one fits in before the deadline."""
        return Span(self.deadline.ms // 2)


class Lease(Struct, frozen=True):
    """The Lease as it was read or written."""

    holder: str  # "" when it was released
    transitions: int
    duration: Span
    acquired: Wall
    renewed: Wall
    version: str = ""  # resourceVersion: any change of it counts as a sign of life


class Do(Enum):
    """What to do with the Lease. All writes but CREATE replace it under its resourceVersion."""

    READ = "read"
    CREATE = "create"
    TAKE_OVER = "take over"
    RENEW = "renew"
    RELEASE = "release"


class Operation(Struct, frozen=True):
    """One request to make now. `begun` is where its time counts from."""

    do: Do
    begun: Mono
    lease: Lease | None = None  # what to write; its version is the guard


class Found(Struct, frozen=True):
    """The Lease was read, or written as asked; this is how it is now."""

    lease: Lease


class Missing(Struct, frozen=True):
    """There is no such Lease."""


class Conflict(Struct, frozen=True):
    """The write was refused: somebody else was faster."""


class Unsure(Struct, frozen=True):
    """Nobody knows: no answer, or an answer that says nothing about the Lease."""


Reply = Found | Missing | Conflict | Unsure


class Step(Struct, frozen=True):
    """What to do now, if anything, and when to ask again at the latest."""

    operation: Operation | None
    wake_at: Mono


class Leadership:
    """One candidate. `identity` must be new for every process: a namesake is treated as a stranger."""

    def __init__(self, identity: str, rules: Rules | None = None) -> None:
        assert identity, "a candidate needs a name"
        self.identity = identity
        self.rules = rules or Rules()
        self.token = 0  # of the current or last leadership; 0 before the first
        self._valid_until: Mono | None = None  # None: not the leader
        self._is_in_doubt = False  # somebody touched the Lease while we led it
        self._is_releasing = False
        self._aside_until: Mono | None = None
        self._must_read = True  # rule 4: what we know may be old
        self._lease: Lease | None = None  # as last seen; None: never seen, or not there
        self._first_seen = Mono(0)  # when we first saw this version, or its absence (rule 2)
        self._highest = 0  # transitions ever seen: tokens never go back
        self._wrote = False  # a Lease in our name can only be ours if we wrote one
        self._next_at: Mono | None = None
        self._in_flight: Operation | None = None

    # --- what others ask ---------------------------------------------------------------------------------------

    def may_act(self, now: Now) -> bool:
        """Whether an effect may start at this moment."""
        is_sure = not self._is_in_doubt and not self._is_releasing and not self._is_aside(now.mono)
        return self._is_leading(now.mono) and is_sure

    @property
    def valid_until(self) -> Mono | None:
        """When our leadership ends, or ended, unless it is renewed; None if we do not hold it."""
        return self._valid_until

    @property
    def holder(self) -> str:
        """Who holds the Lease as last seen, for people; "" if nobody."""
        return self._lease.holder if self._lease else ""

    @property
    def is_done(self) -> bool:
        """Whether a release is complete, or there is nothing of ours to release."""
        may_be_ours = self._wrote and (self._must_read or self._is_ours())
        return self._is_releasing and self._in_flight is None and not may_be_ours

    # --- the machine -------------------------------------------------------------------------------------------

    def poll(self, now: Now) -> Step:
        """The next operation if it is due, one at a time, and when to ask again."""
        if self._in_flight is None and not self.is_done and (self._next_at is None or self._next_at <= now.mono):
            self._in_flight = self._choose(now)
            self._wrote = self._wrote or self._in_flight.do in (Do.CREATE, Do.TAKE_OVER)
            self._next_at = now.mono + self._pause(now)
            return Step(self._in_flight, self._next_at)
        wake_at = self._next_at if self._next_at and self._next_at > now.mono else now.mono + self._pause(now)
        if self._valid_until is not None and self._is_leading(now.mono):
            wake_at = min(wake_at, self._valid_until)
        return Step(None, wake_at)

    def answered(self, operation: Operation, now: Now, reply: Reply) -> None:
        """What became of an operation. Its time counts from its begin, our knowledge from now."""
        assert operation is self._in_flight, "one operation at a time"
        self._in_flight = None
        match reply:
            case Found(lease):
                self._learn(lease, now.mono)
                self._conclude(operation, lease, now)
            case Missing():
                self._learn(None, now.mono)
                self._step_down()
                if self._choose(now).do is Do.CREATE:
                    self._soon(now)
            case Conflict():
                self._must_read = True
                self._is_in_doubt = True
                self._soon(now)
            case Unsure():
                self._must_read = True

    def stand_aside(self, now: Now) -> None:
        """Somebody else should lead: act no more, and stand again when everybody else had their chance.

        The Lease is left to expire, not handed over: what we have sent may still be on its way.
        """
        self._aside_until = now.mono + self.rules.aside
        self._step_down()

    def release(self, now: Now) -> None:
        """We want to leave: act no more, and hand the Lease over at once if it is ours."""
        self._is_releasing = True
        self._soon(now)

    # --- choosing ----------------------------------------------------------------------------------------------

    def _choose(self, now: Now) -> Operation:
        """The operation for what we know; a look where we do not know enough or have to wait."""
        if self._must_read or self._is_aside(now.mono):
            return Operation(Do.READ, now.mono)
        lease = self._lease
        if lease is None:
            return self._create(now)
        if self._is_ours():
            return self._write_own(lease, now)
        if lease.holder == "" or self._has_waited(max(lease.duration, self.rules.duration), now.mono):
            return self._take_over(lease, now)
        return Operation(Do.READ, now.mono)

    def _create(self, now: Now) -> Operation:
        """Where the Lease vanished under our eyes, its holder may go on until its time is over: wait for that."""
        if self._highest and not self._has_waited(self.rules.duration, now.mono):
            return Operation(Do.READ, now.mono)
        made = Lease(self.identity, self._highest + 1, self.rules.duration, now.wall, now.wall)
        return Operation(Do.CREATE, now.mono, made)

    def _write_own(self, lease: Lease, now: Now) -> Operation:
        if self._is_releasing:
            released = Lease("", lease.transitions, Span(1_000), lease.acquired, now.wall, lease.version)
            return Operation(Do.RELEASE, now.mono, released)
        if not self._is_leading(now.mono):
            return self._take_over(lease, now)
        renewed = Lease(self.identity, self.token, self.rules.duration, lease.acquired, now.wall, lease.version)
        return Operation(Do.RENEW, now.mono, renewed)

    def _take_over(self, lease: Lease, now: Now) -> Operation:
        taken = Lease(self.identity, self._highest + 1, self.rules.duration, now.wall, now.wall, lease.version)
        return Operation(Do.TAKE_OVER, now.mono, taken)

    # --- learning ----------------------------------------------------------------------------------------------

    def _learn(self, lease: Lease | None, now: Mono) -> None:
        """Remember what is there, and since when by our own clock."""
        before = self._lease.version if self._lease else None
        if before != (lease.version if lease else None):
            self._first_seen = now
        self._lease = lease
        self._must_read = False
        self._highest = max(self._highest, lease.transitions if lease else 0)

    def _conclude(self, operation: Operation, lease: Lease, now: Now) -> None:
        """What a Lease that was read, or written as asked, means for our leadership."""
        match operation.do:
            case Do.CREATE | Do.TAKE_OVER:
                self.token = lease.transitions
                self._valid_until = operation.begun + self.rules.deadline
                self._is_in_doubt = False
            case Do.RENEW if self._is_leading(now.mono):
                self._valid_until = operation.begun + self.rules.deadline
                self._is_in_doubt = False
            case Do.RENEW | Do.RELEASE:  # the answer came after our time was over: a new token is needed
                self._step_down()
                self._soon(now)
            case Do.READ:
                self._look_at(lease, now)

    def _look_at(self, lease: Lease, now: Now) -> None:
        if self._is_ours() and lease.transitions == self.token:
            self._is_in_doubt = False
        else:
            self._step_down()
        if (self._is_ours() or lease.holder == "") and not self._is_aside(now.mono):
            self._soon(now)

    def _step_down(self) -> None:
        self._valid_until = None
        self._is_in_doubt = False

    def _soon(self, now: Now) -> None:
        self._next_at = now.mono

    # --- small questions ---------------------------------------------------------------------------------------

    def _is_leading(self, now: Mono) -> bool:
        return self._valid_until is not None and now < self._valid_until

    def _is_aside(self, now: Mono) -> bool:
        return self._aside_until is not None and now < self._aside_until and not self._is_releasing

    def _is_ours(self) -> bool:
        return self._wrote and self._lease is not None and self._lease.holder == self.identity

    def _has_waited(self, span: Span, now: Mono) -> bool:
        return now >= self._first_seen + span

    def _pause(self, now: Now) -> Span:
        """Between three quarters of the retry period and all of it, so that candidates do not march in step."""
        quarter = self.rules.retry.ms // 4
        return Span(quarter * 3 + quarter * now.draw // DRAW_RANGE)
