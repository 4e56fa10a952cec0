"""The command line: a thin face of the Python API. Rooms are opened inside the commands, so that --help comes at once.

Exit codes: 0 done, 1 a check has failed (or a bug, with its traceback), 2 bad input, 130 interrupted.
"""

import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.arguments import ArgumentError, one_of, positive, whole

if TYPE_CHECKING:
    import pandas as pd

    from equipoise.instances import Instance
    from equipoise.policies.contract import Policy
    from equipoise.result import Result

INTERRUPTED = 130
PATIENCE = 10.0  # seconds in which a scheduler is to answer
MEANS = "1,5,9,10"
EXPERIMENTS = ("a",)
UNSETTLED = ("uniform", "beta", "triangular")  # families with more to them than their means

app = typer.Typer(
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"max_content_width": 100},
)


def option(name: str, metavar: str | None, text: str) -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=text)


# The options. Values come as text, so that what is wrong with one is said in the words of the Python API.
Means = Annotated[str | None, option("means", "M,M,...", f"The arms' means, {MEANS} unless given.")]
MeansFile = Annotated[
    str | None, option("means-file", "FILE", "Means from a CSV file with columns mean, perhaps name.")
]
Data = Annotated[str | None, option("data", "FILE", "Rewards resampled from a CSV file with columns arm and reward.")]
Family = Annotated[str | None, option("family", "NAME", "gaussian or bernoulli rewards; gaussian unless given.")]
Sigma = Annotated[str | None, option("sigma", "S", "Standard deviation of gaussian rewards; 1 unless given.")]
ToldSigma = Annotated[
    str | None, option("told-sigma", "S", "The sigma that policies are told; the true one unless given.")
]
Policies = Annotated[
    list[str], option("policy", "NAME[:X=V,...]", "One of equipoise policies, or my.py; may be repeated.")
]
Exponents = Annotated[list[str], option("p", "P,P,...", "1 average, 0 Nash, -inf Rawls; may be repeated.")]
Horizon = Annotated[str, option("horizon", "T", "Rounds of a run, that is, participants.")]
Runs = Annotated[str, option("runs", "R", "Runs of each policy.")]
Rounds = Annotated[str | None, option("t", "T,T,...|curve", "Rounds to read regret at; the horizon unless given.")]
FreshSeed = Annotated[
    str | None, option("seed", "N", "A whole number of at least 0; fresh, and printed, unless given.")
]
FixedSeed = Annotated[str, option("seed", "N", "A whole number of at least 0.")]
Workers = Annotated[str | None, option("workers", "N", "Threads, one per core unless given; the numbers are the same.")]
Dask = Annotated[str | None, option("dask", "ADDRESS", "Play on the cluster of this Dask scheduler, not on threads.")]
Engine = Annotated[str, option("engine", "NAME", "step goes round by round, leap whole stretches; auto chooses.")]
Csv = Annotated[str | None, option("csv", "FILE", "Write the table as CSV, in full digits.")]
Figure = Annotated[str | None, option("figure", "FILE", "Draw the regret curves as .png, .pdf or .svg.")]
Experiment = Annotated[str, option("figure", "LETTER", "The experiment: a.")]
Folder = Annotated[str, option("out", "FOLDER", "Where figure and curves go.")]
Json = Annotated[bool, option("json", None, "Print JSON instead of text.")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns the exit code. Bad input ends in one sentence on standard error."""
    try:
        code = typer.main.get_command(app).main(arguments, prog_name="equipoise", standalone_mode=False)
    except ArgumentError as error:
        return complain(str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except OSError as error:  # what no look ahead can find, such as a disk that fills up
        complain(f"{error}.")
        return 1
    except Exception as error:
        if not hasattr(error, "format_message"):  # not the parser's: a bug, which its traceback tells best
            raise
        return complain(f"{error.format_message().rstrip('.')}; see equipoise --help.")
    if code == INTERRUPTED:
        complain("interrupted; nothing was written.")
    return int(code or 0)


def complain(sentence: str) -> int:
    print("equipoise:", " ".join(sentence.split()), file=sys.stderr)
    return 2


def version(wanted: bool) -> None:
    if wanted:
        from equipoise import __version__

        print(f"equipoise {__version__}")
        raise typer.Exit()


@app.callback()
def equipoise(
    wanted: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Fair sequential allocation: what each participant can expect, not only the total."""


@app.command()
def simulate(
    means: Means = None,
    means_file: MeansFile = None,
    data: Data = None,
    family: Family = None,
    sigma: Sigma = None,
    told_sigma: ToldSigma = None,
    policy: Policies = ["ucb-hare", "ucb", "uniform"],  # noqa: B006
    p: Exponents = ["1,0,-2"],  # noqa: B006
    horizon: Horizon = "10000",
    runs: Runs = "200",
    t: Rounds = None,
    seed: FreshSeed = None,
    workers: Workers = None,
    dask: Dask = None,
    engine: Engine = "auto",
    csv_file: Csv = None,
    figure: Figure = None,
    json: Json = False,
) -> None:
    """Simulate policies and print their regret. Each number comes with its Monte-Carlo error."""
    from equipoise import terminal

    table_to = terminal.file_target("csv", csv_file, (".csv",))
    figure_to = terminal.file_target("figure", figure, (".png", ".pdf", ".svg"))
    from equipoise import result, simulation
    from equipoise.policies.catalogue import named

    told = {"horizon": count("horizon", horizon), "runs": count("runs", runs), "workers": count("workers", workers)}
    asked, rounds = result.exponents(pieces(p)), read_rounds(t, told["horizon"])  # type: ignore[arg-type]
    arms = instance(means, means_file, data, family, sigma)
    chosen = [named(text) for text in policy]
    if figure_to:
        drawable(chosen, asked)
    spread = None if told_sigma is None else positive("told-sigma", told_sigma)
    told |= {"seed": read_seed(seed), "sigma": spread, "engine": engine}
    with cluster(dask) as executor:
        found = simulation.simulate(arms, chosen, executor=executor, **told)
    table = found.regret(asked, rounds)
    with terminal.undisturbed():
        write(found, table, asked, table_to, figure_to)
    print(terminal.shown(found, table, json))


@contextmanager
def cluster(address: str | None) -> Iterator[Any]:
    """The executor of the Dask cluster at an address; None, for threads, where none is given."""
    if address is None:
        yield None
        return
    from importlib import import_module

    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise ArgumentError(
            f"dask is {address!r}, but Dask is not installed; install equipoise[cluster], or leave --dask out."
        ) from None
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ArgumentError(
            f"dask is {address!r}, where no scheduler answers ({error}); give its address, such as tcp://127.0.0.1:8786."
        ) from None
    with client:
        yield client.get_executor()


def write(
    found: "Result", table: "pd.DataFrame", p: list[float], table_to: Path | None, figure_to: Path | None
) -> None:
    from equipoise.files import drafts

    with drafts([path for path in (table_to, figure_to) if path]) as beside:
        if table_to:
            table.to_csv(beside[0], index=False)
        if figure_to:
            from equipoise import figures

            figures.write(figures.regret(found, list(dict.fromkeys(p))), beside[-1])


def drawable(policies: "Sequence[Policy]", p: list[float]) -> None:
    """Refuses a figure of too many curves before the work is done."""
    from equipoise import figures

    figures.styles_of(tuple(policies), len(dict.fromkeys(p)))


def count(name: str, text: str | None) -> Any:
    """A whole number, also as 1e6; None where none is given."""
    from equipoise.policies.catalogue import literal

    return None if text is None else whole(name, literal(text))


def read_seed(text: str | None) -> Any:
    from equipoise.policies.catalogue import literal

    return None if text is None else literal(text)


def pieces(told: Sequence[str]) -> list[str]:
    """What commas separate, in one option or several."""
    return [piece.strip() for text in told for piece in text.split(",") if piece.strip()]


def read_rounds(t: str | None, horizon: int) -> list[int] | None:
    """The rounds asked for: the horizon, a list, or None for log-spaced ones."""
    from equipoise.policies.catalogue import literal

    if t == "curve":
        return None
    if t is None:
        return [horizon]
    return [whole("t", literal(x), 1, horizon) for x in pieces([t]) or [t]]


def instance(
    means: str | None, means_file: str | None, data: str | None, family: str | None, sigma: str | None
) -> "Instance":
    """The instance that the flags describe."""
    from dataclasses import replace

    from equipoise.instances import Instance

    given = {"means": means, "means-file": means_file, "data": data}
    sources = [name for name, value in given.items() if value is not None]
    if len(sources) > 1:
        raise ArgumentError(f"{sources[0]} is {given[sources[0]]!r} beside {sources[1]}; give one of the two.")
    if data is not None:
        for name, value in (("family", family), ("sigma", sigma)):
            if value is not None:
                raise ArgumentError(f"{name} is {value!r}, but the data say what the rewards are; leave --{name} out.")
        return Instance.from_data(data)
    names, told = ((), pieces([MEANS if means is None else means])) if means_file is None else read_means(means_file)
    if family in UNSETTLED:
        raise ArgumentError(f"family is {family!r}, which means alone do not settle; use Instance.{family} in Python.")
    if one_of("family", "gaussian" if family is None else family, ("gaussian", "bernoulli")) == "bernoulli":
        if sigma is not None:
            raise ArgumentError(f"sigma is {sigma!r}, but bernoulli rewards have 1/2; leave --sigma out.")
        arms = Instance.bernoulli(told)
    else:
        arms = Instance.gaussian(told, 1.0 if sigma is None else sigma)
    return replace(arms, names=names) if names else arms


def read_means(path: str) -> tuple[tuple[str, ...], list[str]]:
    """Names, if there are any, and means from a CSV file."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            columns, rows = list(reader.fieldnames or ()), list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(f"means-file is {path!r}, which cannot be read: {reason}; give a CSV file.") from None
    if "mean" not in columns:
        there = ", ".join(map(str, columns)) or "none"
        raise ArgumentError(f"means-file is {path!r}, which lacks the column 'mean'; its columns are: {there}.")
    names = tuple(row["name"] for row in rows) if "name" in columns else ()
    return names, [row["mean"] for row in rows]


@app.command()
def policies(json: Json = False) -> None:
    """List the policies. Each comes with its parameters, source and guarantee."""
    from dataclasses import fields

    from equipoise import terminal
    from equipoise.policies.catalogue import POLICIES
    from equipoise.policies.contract import sections

    listed: list[dict[str, Any]] = []
    for cls in POLICIES:
        page = sections(cls)
        parameters = [f.name for f in fields(cls)]  # type: ignore[arg-type]
        about = {"what": page["What"], "source": page["Source"], "guarantee": page["Guarantee"]}
        listed.append(
            {"name": cls.command(), "parameters": parameters} | {k: " ".join(v.split()) for k, v in about.items()}
        )
    print(terminal.as_json(listed) if json else "\n\n".join(map(terminal.described, listed)))


@app.command()
def doctor(json: Json = False) -> None:
    """Check this installation. It takes about ten seconds once all is compiled; the exit code is 1 if a check fails."""
    from equipoise import doctor, terminal

    found = doctor.examine()
    print(terminal.as_json(found) if json else doctor.report(found))
    if not found["passed"]:
        raise typer.Exit(1)


@app.command()
def paper(
    figure: Experiment = "a",
    runs: Runs = "50",
    horizon: Horizon = "1000000",
    seed: FixedSeed = "42",
    workers: Workers = None,
    out: Folder = "results",
    json: Json = False,
) -> None:
    """Repeat an experiment of the paper. Figure and curves go to files, the table to the screen."""
    from equipoise import terminal

    one_of("figure", figure.lower(), EXPERIMENTS)
    folder = terminal.folder_target("out", out)
    from equipoise.papers import experiment_a

    found = experiment_a.run(
        count("runs", runs), read_seed(seed), count("horizon", horizon), workers=count("workers", workers)
    )
    table = experiment_a.table(found)
    with terminal.undisturbed():
        files = experiment_a.save(found, folder)
    print(terminal.shown(found, table, json, files))


if __name__ == "__main__":
    sys.exit(main())
