"""What pages share: random orders from one uniform at a time, and further uniforms from a round's one.

Plain Python that runs interpreted and compiled alike, like the pages themselves.
"""

from math import log, sqrt

import numpy as np
import numpy.typing as npt

from equipoise.streams import philox


def draw_next(order: npt.NDArray[np.int64], drawn: int, u: float) -> int:
    """One step of Fisher and Yates: puts a uniformly random arm of order[drawn:] at `drawn`, and returns it."""
    j = drawn + int(u * (len(order) - drawn))
    arm = order[j]
    order[j] = order[drawn]
    order[drawn] = arm
    return int(arm)


def spread_rest(order: npt.NDArray[np.int64], drawn: int, out: npt.NDArray[np.float64]) -> None:
    """The propensity of `draw_next`."""
    for r in range(len(order)):
        out[order[r]] = 0.0 if r < drawn else 1.0 / (len(order) - drawn)


def unpulled(n: npt.NDArray[np.int64]) -> int:
    """How many arms have not been pulled."""
    count = 0
    for i in range(len(n)):
        if n[i] == 0:
            count += 1
    return count


def draw_unpulled(n: npt.NDArray[np.int64], u: float) -> int:
    """A uniformly random arm of those that have not been pulled; -1 where there is none."""
    left = int(u * unpulled(n))
    for i in range(len(n)):
        if n[i] == 0:
            if left == 0:
                return i
            left -= 1
    return -1


def spread_unpulled(n: npt.NDArray[np.int64], out: npt.NDArray[np.float64]) -> None:
    """The propensity of `draw_unpulled`."""
    count = unpulled(n)
    for i in range(len(n)):
        out[i] = 1.0 / count if n[i] == 0 else 0.0


def fill(out: npt.NDArray[np.float64], value: float) -> None:
    for i in range(len(out)):
        out[i] = value


def spread(u: float, i: int) -> float:
    """The i-th further uniform in (0, 1) of a round whose one uniform is u: its 53 bits and i, hashed by Philox."""
    bits = int(u * 2.0**53)
    x = philox(bits & 0xFFFFFFFF, bits >> 32, int(i), 0, 0x65717569, 0x706F6973)
    return middle(x[0], x[1])


def middle(high: int, low: int) -> float:
    """The middle of one of 2^52 equal cells of (0, 1): never 0 and never 1, whose quantiles would be infinite."""
    return ((high << 20 | low >> 12) + 0.5) * 2.0**-52


def normal_quantile(u: float) -> float:
    """The standard normal's quantile, to 1e-16: Wichura's AS 241 (PPND16), Applied Statistics 37, 1988."""
    q = u - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        a = 2509.0809287301226727 * r + 33430.575583588128105
        a = ((a * r + 67265.770927008700853) * r + 45921.953931549871457) * r + 13731.693765509461125
        a = ((a * r + 1971.5909503065514427) * r + 133.14166789178437745) * r + 3.387132872796366608
        b = 5226.495278852545925 * r + 28729.085735721942674
        b = ((b * r + 39307.89580009271061) * r + 21213.794301586595867) * r + 5394.1960214247511077
        b = ((b * r + 687.1870074920579083) * r + 42.313330701600911252) * r + 1.0
        return q * a / b
    r = sqrt(-log(u if q < 0.0 else 1.0 - u))
    if r <= 5.0:
        r -= 1.6
        a = 7.7454501427834140764e-4 * r + 0.0227238449892691845833
        a = ((a * r + 0.24178072517745061177) * r + 1.27045825245236838258) * r + 3.64784832476320460504
        a = ((a * r + 5.7694972214606914055) * r + 4.6303378461565452959) * r + 1.42343711074968357734
        b = 1.05075007164441684324e-9 * r + 5.475938084995344946e-4
        b = ((b * r + 0.0151986665636164571966) * r + 0.14810397642748007459) * r + 0.68976733498510000455
        b = ((b * r + 1.6763848301838038494) * r + 2.05319162663775882187) * r + 1.0
    else:
        r -= 5.0
        a = 2.01033439929228813265e-7 * r + 2.71155556874348757815e-5
        a = ((a * r + 0.0012426609473880784386) * r + 0.026532189526576123093) * r + 0.29656057182850489123
        a = ((a * r + 1.7848265399172913358) * r + 5.4637849111641143699) * r + 6.6579046435011037772
        b = 2.04426310338993978564e-15 * r + 1.4215117583164458887e-7
        b = ((b * r + 1.8463183175100546818e-5) * r + 7.868691311456132591e-4) * r + 0.0148753612908506148525
        b = ((b * r + 0.13692988092273580531) * r + 0.59983220655588793769) * r + 1.0
    return -a / b if q < 0.0 else a / b
