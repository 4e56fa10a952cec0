"""UCB-HARE, wrong in one line at a time: games beside the naive twin must notice each of them.

The arms are close, and as noisy as they are good: only so do the floor, the anchor, the moment of the stop and the
bonus decide who is pulled next.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import naive
import pytest
from test_pages import Case, Game, play

from equipoise.policies import ucb_hare
from equipoise.policies.catalogue import load

GAMES = [
    Game(k, horizon, 0.01, "close", seed)
    for k in (2, 3, 5)
    for horizon in (7, 33, 60, 75)
    for seed in range(100 * k + horizon, 100 * k + horizon + 8)
]


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Path]:
    """Where the page of a HARE may be written."""
    yield tmp_path / "hare.py"
    sys.modules.pop("hare", None)


def hare(page: Path, *changes: tuple[str, str]) -> Case:
    """UCB-HARE with parts of its page's text replaced, beside the twin of the right one."""
    text = Path(ucb_hare.__file__).read_text()
    for right, wrong in changes:
        assert text.count(right) == 1, right
        text = text.replace(right, wrong)
    page.write_text(text)
    return Case(load(page).UCBHare(), naive.UCBHare, {})


def differ(case: Case) -> int:
    """In how many games page and twin part."""
    parted = 0
    for game in GAMES:
        try:
            play(case, game)
        except AssertionError:
            parted += 1
    return parted


def test_the_twin_accepts_the_page_as_it_is(page: Path) -> None:
    case = hare(page)
    assert sum(play(case, game) > 0 for game in GAMES) > len(GAMES) / 2, "few games get as far as exploitation"


def test_the_twin_catches_a_biased_coin(page: Path) -> None:
    assert differ(hare(page, ("now.scheduled_first = u < 0.5", "now.scheduled_first = u < 0.6")))


def test_the_twin_catches_a_stale_floor(page: Path) -> None:
    """B as it stood when the block began, in both of its rounds."""
    fresh = "    move_floor(p, st, arm)\n    now.second = not now.second\n    if not now.second:\n"
    stale = "    now.second = not now.second\n    if not now.second:\n        for i in range(p.k):\n"
    stale += "            if st.n[i] > 0:\n                move_floor(p, st, i)\n"
    assert differ(hare(page, (fresh, stale)))


def test_the_twin_catches_an_anchor_by_mean(page: Path) -> None:
    """The arm of largest mean in place of the arm of largest lower bound."""
    by_mean = "max((st.s[i] / st.n[i], -i) for i in range(p.k) if st.n[i])[1]"
    assert differ(hare(page, ("return int(now.anchor)", f"return -int({by_mean})")))


def test_the_twin_catches_a_stop_looked_at_in_mid_block(page: Path) -> None:
    at_the_end = "    if not now.second:\n        now.exploiting = prepared(p, st)"
    assert differ(hare(page, (at_the_end, "    now.exploiting = prepared(p, st)")))


def test_the_twin_catches_a_stop_that_one_arm_decides(page: Path) -> None:
    """The pulls of the anchor in place of the smallest."""
    assert differ(
        hare(
            page,
            (" or short(p, st, st.order[p.k - 1], B)", ""),
            ("        if short(p, st, i, B):", "        if short(p, st, st.now.anchor, B):"),
        )
    )


def test_the_twin_catches_exploitation_without_a_bonus(page: Path) -> None:
    assert differ(hare(page, ("return s / n + radius(p, n)", "return s / n")))
