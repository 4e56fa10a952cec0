"""Naive twins of the policies: plain Python, slow on purpose, written from the paper alone.

Nothing is kept but each arm's pulls n and reward sum s (in order of arrival); every mean, index,
bound and minimum is computed from scratch each round.  A twin reads the same uniform u of the
round in the same way as the fast page, so that both must pull the same arms.

`probabilities()` is P(arm of the next round | arms and rewards observed so far): what the policy
has drawn but not yet shown is integrated out.
"""

import math
from collections.abc import Callable, Iterator

from scipy.integrate import quad

INFINITY = math.inf


def argmax(values: list[float]) -> int:
    """The lowest arm among those of largest value."""
    return values.index(max(values))


def spread(arms: list[int], k: int) -> list[float]:
    """The uniform distribution over some of the k arms."""
    return [1 / len(arms) if arm in arms else 0.0 for arm in range(k)]


def harmonic_schedule(k: int) -> Iterator[int]:
    """Ranks 1; 1, 2; 1, 3; 1, 2, 4; ...: the divisors <= k of n = 1, 2, 3, ... (fig:harmonic-sequence)."""
    n = 0
    while True:
        n += 1
        for divisor in range(1, k + 1):
            if n % divisor == 0:
                yield divisor


class Twin:
    """Pulls and sums, and a policy that takes a uniformly random one of some candidate arms."""

    def __init__(self, k: int, horizon: int, sigma: float) -> None:
        self.k = k
        self.horizon = horizon
        self.sigma = sigma
        self.n = [0] * k
        self.s = [0.0] * k

    def candidates(self) -> list[int]:
        """The arms, in increasing label, of which the next round takes one at random."""
        raise NotImplementedError

    def choose(self, u: float) -> int:
        candidates = self.candidates()
        return candidates[int(u * len(candidates))]

    def probabilities(self) -> list[float]:
        return spread(self.candidates(), self.k)

    def update(self, arm: int, reward: float) -> None:
        self.n[arm] += 1
        self.s[arm] += reward

    def arms(self) -> list[int]:
        return list(range(self.k))

    def unpulled(self) -> list[int]:
        return [arm for arm in self.arms() if self.n[arm] == 0]

    def pulled(self) -> list[int]:
        return [arm for arm in self.arms() if self.n[arm] > 0]

    def best(self) -> int:
        """The arm of largest index; an unpulled arm has index +infinity."""
        return argmax([self.index(arm) if self.n[arm] > 0 else INFINITY for arm in self.arms()])

    def index(self, arm: int) -> float:
        """The policy's index of a pulled arm."""
        raise NotImplementedError


class UCBHare(Twin):
    """UCB-HARE: paper.tex, Algorithm 1 (alg:hare) and Section "The Algorithm"; L = log(8kT/delta),
    delta = 1/T unless given.  BASELINES.md, first item, lists what is easy to get wrong."""

    def __init__(self, k: int, horizon: int, sigma: float, delta: float | None = None) -> None:
        super().__init__(k, horizon, sigma)
        self.L = math.log(8 * k * horizon / (1 / horizon if delta is None else delta))
        self.preparing = True
        self.schedule = harmonic_schedule(k)
        self.rank = next(self.schedule)  # r_b of the current block, from 1
        self.order = self.arms()  # rank r is arm order[r - 1], for the ranks drawn so far
        self.drawn = 0
        # What the block's first round left behind:
        self.scheduled_first = False
        self.bound_before_first = -INFINITY
        self.anchor_before_first = 0
        self.first_arm = 0

    def radius(self, arm: int) -> float:
        return self.sigma * math.sqrt(2 * self.L / self.n[arm])

    def index(self, arm: int) -> float:
        return self.s[arm] / self.n[arm] + self.radius(arm)

    def lower_bound(self, arm: int) -> float:
        if self.n[arm] == 0:
            return -INFINITY
        return self.s[arm] / self.n[arm] - self.radius(arm)

    def safest(self) -> tuple[float, int]:
        """B and the arm that attains it."""
        bounds = [self.lower_bound(arm) for arm in self.arms()]
        return max(bounds), argmax(bounds)

    def at_block_boundary(self) -> bool:
        return sum(self.n) % 2 == 0

    def prepared(self) -> bool:
        """The stopping condition (eq:stop-condition), multiplied out so as not to divide by B."""
        B, _ = self.safest()
        return B > 0 and min(self.n) * B * B >= 32 * self.sigma * self.sigma * self.L

    def draw_rank(self, rest: float) -> None:
        """The next step of a random permutation, if the block's rank is met for the first time."""
        if self.rank == self.drawn + 1:
            i = self.rank - 1
            j = i + int(rest * (self.k - i))
            self.order[i], self.order[j] = self.order[j], self.order[i]
            self.drawn += 1

    def choose(self, u: float) -> int:
        if not self.preparing:
            return self.best()
        B, anchor = self.safest()
        if self.at_block_boundary():
            self.scheduled_first = u < 1 / 2
            self.draw_rank(2 * u if u < 1 / 2 else 2 * u - 1)
            self.bound_before_first, self.anchor_before_first = B, anchor
            scheduled_slot = self.scheduled_first
        else:
            scheduled_slot = not self.scheduled_first
        if scheduled_slot or B <= 0:
            return self.order[self.rank - 1]
        return anchor

    def update(self, arm: int, reward: float) -> None:
        super().update(arm, reward)
        if not self.preparing:
            return
        if self.at_block_boundary():
            self.preparing = not self.prepared()
            self.rank = next(self.schedule)
        else:
            self.first_arm = arm

    def scheduled_distribution(self) -> list[float]:
        """The scheduled arm of the current block, as far as the observed arms tell.

        At the end of a block the scheduled arm has been pulled, so the arms of past ranks are
        known; a rank not yet shown, drawn or not, is any unpulled arm.
        """
        arm = self.order[self.rank - 1]
        if self.rank <= self.drawn and self.n[arm] > 0:
            return spread([arm], self.k)
        return spread(self.unpulled(), self.k)

    def scheduled_slot_probability(self) -> float:
        """P(the next round is its block's scheduled slot | observed arms and rewards)."""
        if self.at_block_boundary():
            return 1 / 2
        if self.bound_before_first <= 0:
            return 1 / 2  # the first round pulled the scheduled arm whichever slot it was
        if self.first_arm != self.anchor_before_first:
            return 0.0  # the first round was the scheduled slot
        if self.scheduled_distribution()[self.anchor_before_first] == 1:
            return 1 / 2  # the scheduled arm is the anchor: either slot would have pulled it
        return 1.0  # the first round was the auxiliary slot

    def probabilities(self) -> list[float]:
        if not self.preparing:
            return spread([self.best()], self.k)
        B, anchor = self.safest()
        scheduled = self.scheduled_distribution()
        auxiliary = spread([anchor], self.k) if B > 0 else scheduled
        q = self.scheduled_slot_probability()
        return [q * scheduled[arm] + (1 - q) * auxiliary[arm] for arm in self.arms()]


class WelfaristUCB(Twin):
    """Welfarist-UCB(p), Sarkar et al. 2025: BASELINES.md, second item; c = 2."""

    def __init__(self, k: int, horizon: int, sigma: float, p: float) -> None:
        super().__init__(k, horizon, sigma)
        self.log_T = math.log(horizon)
        self.p_a = 1 if p >= -1 else p
        self.order = self.arms()
        self.position = 0  # in the current cycle; order[position:] is still to come
        self.first_phase = True

    def width(self, arm: int) -> float:
        return 2.0 * self.sigma * math.sqrt(2.0 * self.log_T / self.n[arm])

    def index(self, arm: int) -> float:
        return self.s[arm] / self.n[arm] + self.width(arm)

    def keeps_exploring(self, arm: int) -> bool:
        """The condition that every pulled arm must satisfy for the first phase to go on."""
        c, n, mean, w = 2.0, self.n[arm], self.s[arm] / self.n[arm], self.width(arm)
        variance_log = self.sigma * self.sigma * self.log_T
        if mean <= w:
            return True
        margin = 200 * c * c * self.p_a * self.p_a * variance_log / (mean - w)
        return n * mean < margin + c * math.sqrt(2 * n * variance_log)

    def cycling(self) -> bool:
        return self.first_phase or len(self.unpulled()) > 0

    def choose(self, u: float) -> int:
        if not self.cycling():
            return self.best()
        j = self.position
        i = j + int(u * (self.k - j))
        self.order[j], self.order[i] = self.order[i], self.order[j]
        self.position = (j + 1) % self.k
        return self.order[j]

    def update(self, arm: int, reward: float) -> None:
        super().update(arm, reward)
        if not all(self.keeps_exploring(arm) for arm in self.pulled()):
            self.first_phase = False

    def probabilities(self) -> list[float]:
        if not self.cycling():
            return spread([self.best()], self.k)
        return spread(self.order[self.position :], self.k)


class ExploreThenUCB(Twin):
    """Explore-Then-UCB(p), Krishna et al. 2025: BASELINES.md, third item."""

    def __init__(
        self,
        k: int,
        horizon: int,
        sigma: float,
        p: float,
        w: float = 4.0,
        scaled: bool = False,
        unpulled: str = "random",
    ) -> None:
        super().__init__(k, horizon, sigma)
        self.log_T = math.log(horizon)
        self.p = p
        self.width = w * sigma if scaled else w
        self.unpulled_order = unpulled

    def exploration_rounds(self) -> int:
        """T~, rounded down, at most T; k ** p with p < 0 may underflow to 0 but not overflow."""
        k, T, p = self.k, self.horizon, self.p
        if p < 0:
            length = 16 * math.sqrt(T * self.log_T * float(k) ** p)
        elif k == 1:
            length = 0
        else:
            length = 16 * math.sqrt(T * k ** (p if p > 0 else 1) * self.log_T / math.log(k))
        return min(T, math.floor(length))

    def index(self, arm: int) -> float:
        return self.s[arm] / self.n[arm] + self.width * math.sqrt(self.log_T / self.n[arm])

    def candidates(self) -> list[int]:
        if sum(self.n) < self.exploration_rounds():
            return self.arms()
        unpulled = self.unpulled()
        if unpulled:
            return unpulled[:1] if self.unpulled_order == "index" else unpulled
        return [self.best()]


class NashConfidenceBound(Twin):
    """Nash Confidence Bound, Barman et al. 2023: BASELINES.md, fourth item."""

    def __init__(self, k: int, horizon: int, sigma: float, c: float = 3.0) -> None:
        super().__init__(k, horizon, sigma)
        self.log_T = math.log(horizon)
        self.c = c
        self.first_phase = True

    def index(self, arm: int) -> float:
        """mean + 2c sqrt(2 mean log T / n), with s = n mean taken out of the root."""
        beta = 2 * self.c * math.sqrt(2 * self.log_T)
        return (self.s[arm] + beta * math.sqrt(max(self.s[arm], 0))) / self.n[arm]

    def update(self, arm: int, reward: float) -> None:
        super().update(arm, reward)
        if max(self.s) > 420 * self.c * self.c * self.log_T:
            self.first_phase = False  # for good, even if negative rewards bring the sum down again

    def candidates(self) -> list[int]:
        if self.first_phase:
            return self.arms()
        return self.unpulled() or [self.best()]


class UCB(Twin):
    """UCB of fixed horizon, with HARE's L: BASELINES.md, last item."""

    def __init__(self, k: int, horizon: int, sigma: float, delta: float | None = None) -> None:
        super().__init__(k, horizon, sigma)
        self.L = math.log(8 * k * horizon / (1 / horizon if delta is None else delta))

    def index(self, arm: int) -> float:
        return self.s[arm] / self.n[arm] + self.sigma * math.sqrt(2 * self.L / self.n[arm])

    def candidates(self) -> list[int]:
        return self.unpulled() or [self.best()]


class UCB1(Twin):
    """UCB1, Auer et al. 2002, for sigma-scaled rewards: BASELINES.md, last item."""

    def index(self, arm: int) -> float:
        t = sum(self.n) + 1  # the round being chosen
        return self.s[arm] / self.n[arm] + self.sigma * math.sqrt(2 * math.log(t) / self.n[arm])

    def candidates(self) -> list[int]:
        return self.unpulled() or [self.best()]


class Thompson(Twin):
    """Gaussian Thompson sampling, known sigma, flat prior: BASELINES.md, last item.  Arm i draws
    its mean from N(s/n, sigma^2/n) by the standard normal normals(u, i)."""

    def __init__(self, k: int, horizon: int, sigma: float, normals: Callable[[float, int], float]) -> None:
        super().__init__(k, horizon, sigma)
        self.normals = normals

    def mean(self, arm: int) -> float:
        return self.s[arm] / self.n[arm]

    def deviation(self, arm: int) -> float:
        return self.sigma / math.sqrt(self.n[arm])

    def choose(self, u: float) -> int:
        unpulled = self.unpulled()
        if unpulled:
            return unpulled[int(u * len(unpulled))]
        return argmax([self.mean(arm) + self.deviation(arm) * self.normals(u, arm) for arm in self.arms()])

    def probabilities(self) -> list[float]:
        if self.unpulled():
            return spread(self.unpulled(), self.k)
        return [self.probability_of_largest(arm) for arm in self.arms()]

    def probability_of_largest(self, arm: int) -> float:
        """The integral over z of phi(z) times P(all others draw less than arm's draw at z)."""
        others = [other for other in self.arms() if other != arm]

        def density(z: float) -> float:
            value = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
            for other in others:
                ahead = self.mean(arm) - self.mean(other) + self.deviation(arm) * z
                value *= math.erfc(-ahead / self.deviation(other) / math.sqrt(2)) / 2
            return value

        # Each other arm is a step in z: hand quad its middle and its two ends.
        steps = []
        for other in others:
            for end in (-8, 0, 8):
                ahead = self.mean(other) - self.mean(arm) + end * self.deviation(other)
                steps.append(ahead / self.deviation(arm))
        inside = [z for z in steps if -10 < z < 10]
        return quad(density, -10, 10, points=inside or None, limit=1000, epsabs=1e-12)[0]


class Uniform(Twin):
    """Any arm, at random, in every round: BASELINES.md, last item."""

    def candidates(self) -> list[int]:
        return self.arms()
