"""python benchmarks/peers.py: UCB1 in other packages and here, in nanoseconds a round and run, on one core.

Bernoulli arms, means drawn from U[0.1, 0.9]. Other packages are no dependency of this one, so give them an environment
of their own: python -m venv .peers; .peers/bin/pip install --editable . mabwiser river pymab SMPyBandits striatum

Each is used in the fastest way that its documentation shows. Where the user writes the loop, rewards are looked up in
a list drawn beforehand, which costs next to nothing; nothing is recorded. Whoever simulates whole experiments (pymab,
equipoise) draws and records by itself.
"""

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from importlib import metadata

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[threads] = "1"
warnings.simplefilter("ignore")
logging.disable()

import numpy as np  # noqa: E402  (threads are counted when it is imported)

ROUNDS = 10_000
RUNS = 100  # of ours
FEW = 5  # of pymab's
REPEATS = 3


def mabwiser(means: np.ndarray, luck: list[float]) -> int:
    from mabwiser.mab import MAB, LearningPolicy

    arms = list(range(len(means)))
    mab = MAB(arms=arms, learning_policy=LearningPolicy.UCB1(alpha=1.0), seed=1)
    mab.fit(arms, [float(luck[arm] < means[arm]) for arm in arms])
    for u in luck:
        arm = mab.predict()
        mab.partial_fit([arm], [float(u < means[arm])])
    return len(luck)


def river(means: np.ndarray, luck: list[float]) -> int:
    from river import bandit

    policy = bandit.UCB(delta=1, seed=1)
    arms = range(len(means))
    for u in luck:
        arm = policy.pull(arms)
        policy.update(arm, float(u < means[arm]))
    return len(luck)


def smpybandits(means: np.ndarray, luck: list[float]) -> int:
    import scipy.special

    if not hasattr(scipy.special, "btdtri"):  # gone from SciPy; without it no policy can be imported
        scipy.special.btdtri = scipy.special.betaincinv
    from SMPyBandits.Policies.UCB import UCB

    policy = UCB(len(means))
    policy.startGame()
    for u in luck:
        arm = policy.choice()
        policy.getReward(arm, float(u < means[arm]))
    return len(luck)


def striatum(means: np.ndarray, luck: list[float]) -> int:
    from striatum.bandit import UCB1
    from striatum.storage import Action, MemoryActionStorage, MemoryHistoryStorage, MemoryModelStorage

    actions = MemoryActionStorage()
    actions.add([Action(i) for i in range(len(means))])
    policy = UCB1(MemoryHistoryStorage(), MemoryModelStorage(), actions)
    for u in luck:
        history, recommended = policy.get_action()
        arm = recommended.action.id
        policy.reward(history, {arm: float(u < means[arm])})
    return len(luck)


def pymab(means: np.ndarray, luck: list[float]) -> int:
    from pymab import BanditEnvironment, BernoulliReward, Experiment, ExperimentConfig
    from pymab.policies import UCBPolicy

    Experiment(
        environment=BanditEnvironment(means=means, reward_model=BernoulliReward()),
        policies={"ucb": UCBPolicy(n_arms=len(means))},
        config=ExperimentConfig(horizon=len(luck), n_replicates=FEW, seed=1),
    ).run()
    return len(luck) * FEW


def equipoise(means: np.ndarray, luck: list[float]) -> int:
    import equipoise as eq

    eq.simulate(eq.Instance.bernoulli(means), eq.UCB1(), horizon=len(luck), runs=RUNS, seed=1, workers=1)
    return len(luck) * RUNS


def leaping(means: np.ndarray, luck: list[float]) -> int:
    import equipoise as eq

    eq.simulate(eq.Instance.bernoulli(means), eq.UCB(), horizon=len(luck), runs=RUNS, seed=1, workers=1)
    return len(luck) * RUNS


def live(means: np.ndarray, luck: list[float]) -> int:
    import equipoise as eq

    player = eq.Player(eq.UCB1(), k=len(means), horizon=len(luck), sigma=0.5, seed=1)
    for u in luck:
        player.tell(float(u < means[player.ask()]))
    return len(luck)


PEERS: dict[str, tuple[str, Callable[[np.ndarray, list[float]], int]]] = {
    "mabwiser, predict and partial_fit": ("mabwiser", mabwiser),
    "river, pull and update": ("river", river),
    "SMPyBandits, choice and getReward": ("SMPyBandits", smpybandits),
    "striatum, get_action and reward": ("striatum", striatum),
    "pymab, Experiment": ("pymab", pymab),
    "equipoise, Player": ("equipoise", live),
    "equipoise, UCB1, step engine": ("equipoise", equipoise),
    "equipoise, UCB (fixed horizon), leap engine": ("equipoise", leaping),
}


def nanoseconds(play: Callable[[np.ndarray, list[float]], int], k: int) -> float:
    """A round and run, the best of some repeats, after a short game to import and compile."""
    rng = np.random.default_rng(k)
    means, luck = rng.uniform(0.1, 0.9, k), rng.random(ROUNDS).tolist()
    play(means, luck[:1000])
    best = np.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        rounds = play(means, luck)
        best = min(best, (time.perf_counter() - start) * 1e9 / rounds)
    return best


def main() -> None:
    print("| package | version | k = 10 | k = 50 | k = 200 |\n|---|---|---|---|---|")
    for name, (package, play) in PEERS.items():
        try:
            times = " | ".join(f"{nanoseconds(play, k):,.3g}".replace("e+0", "e") for k in (10, 50, 200))
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
        else:
            print(f"| {name} | {metadata.version(package)} | {times} |", flush=True)


if __name__ == "__main__":
    main()
