"""The house rules: sizes, names, versions, who imports what, and that all luck comes from `streams.py`."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import equipoise as eq

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "equipoise"
MODULES = sorted(PACKAGE.rglob("*.py"))
SOURCES = [*MODULES, *sorted((ROOT / "benchmarks").glob("*.py"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LAYERS = [
    [room.strip().removeprefix("equipoise.") for room in layer.split("|")]
    for layer in PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
]

LONGEST_MODULE = 400
LONGEST_PAGE = 220
LONGEST_FUNCTION = 40  # its body: without signature and docstring


def every(paths: Iterable[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", list(paths), ids=lambda path: str(path.relative_to(ROOT)))


def room_of(path: Path) -> str:
    """The room of the house in which a module stands."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def first_layer_with(room: str) -> int:
    return next(i for i, layer in enumerate(LAYERS) if room in layer)


LOWER = {room for layer in LAYERS[first_layer_with("exante") :] for room in layer}  # without tables and figures


# Sizes.


def too_long(source: str) -> Iterator[str]:
    """What is longer in a module than the house allows."""
    lines, tree = source.count("\n"), ast.parse(source)
    page = any(isinstance(x, ast.FunctionDef) and x.name == "choose" for x in tree.body)
    if lines > (LONGEST_PAGE if page else LONGEST_MODULE):
        yield f"{lines} lines"
    if page and 2 * len((ast.get_docstring(tree) or "").splitlines()) > lines:
        yield "a docstring of more than half the page"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            if length > LONGEST_FUNCTION:
                yield f"{node.name} has {length} lines"


@every(SOURCES)
def test_nothing_is_longer_than_the_house_allows(path: Path) -> None:
    assert list(too_long(path.read_text())) == []


@pytest.mark.parametrize(
    "source",
    [
        "\n" * (LONGEST_MODULE + 1),
        "def choose(): ...\n" + "\n" * LONGEST_PAGE,
        '"""a\n' + "b\n" * 20 + '"""\ndef choose(): ...\n',
        "def f():\n" + "    0\n" * (LONGEST_FUNCTION + 1),
    ],
)
def test_what_is_too_long_is_noticed(source: str) -> None:
    assert list(too_long(source))


# Names and versions.


@pytest.mark.parametrize("name", eq.__all__)
def test_a_public_name_can_be_imported_and_is_documented(name: str) -> None:
    found = getattr(eq, name)
    told = inspect.getdoc(found) or ""
    assert told
    assert not told.startswith(f"{name}("), "a dataclass's own docstring is its signature, which says nothing"
    assert isinstance(found, ModuleType) or found.__name__ == name


def test_the_public_list_is_what_type_checkers_see() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    seen = {alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen - {None} == set(eq.__all__)
    assert set(eq.__all__) <= set(dir(eq))
    assert all(policy.__name__ in eq.__all__ for policy in catalogue())


def catalogue() -> tuple[type[eq.Policy], ...]:
    return importlib.import_module("equipoise.policies.catalogue").POLICIES  # type: ignore[no-any-return]


def first(pattern: str, name: str) -> str:
    found = re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)
    assert found, name
    return found[1]


def test_versions_agree() -> None:
    told = {
        "pyproject.toml": PROJECT["project"]["version"],
        "CHANGELOG.md": first(r"^## (\S+)", "CHANGELOG.md"),
        "CITATION.cff": first(r"^version: (\S+)$", "CITATION.cff"),
        "README.md": first(r"version (\d\S*)", "README.md"),
    }
    assert set(told.values()) == {eq.__version__}, told


def test_every_version_says_which_numbers_change() -> None:
    versions = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    assert all("### Numbers change\n" in version for version in versions)


# Who imports what. That our own rooms import one way is import-linter's business.


def test_every_room_has_its_layer() -> None:
    rooms = {room_of(path) for path in MODULES} - {"__init__"}
    assert rooms == {room for layer in LAYERS for room in layer}


def imported(source: str) -> Iterator[str]:
    """What a module imports when it is imported: the first names of packages."""
    waiting: list[ast.AST] = list(ast.parse(source).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        elif not isinstance(node, ast.FunctionDef) and not is_for_type_checkers(node):
            waiting.extend(ast.iter_child_nodes(node))


def is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def foreign(path: Path) -> set[str]:
    """The packages of others that a module imports at once."""
    return {name for name in imported(path.read_text()) if name not in sys.stdlib_module_names and name != "equipoise"}


@every(x for x in MODULES if room_of(x) in LOWER)
def test_below_the_tables_there_is_numpy_and_the_compiler_alone(path: Path) -> None:
    assert foreign(path) <= ({"numpy", "numba"} if room_of(path) == "engines" else {"numpy"})


def test_a_page_imports_numpy_and_mathematics_alone() -> None:
    for policy in catalogue():
        path = Path(inspect.getfile(policy))
        assert set(imported(path.read_text())) <= {"numpy", "math", "dataclasses", "typing", "equipoise"}, path


def test_the_command_line_opens_rooms_late() -> None:
    assert foreign(PACKAGE / "cli.py") <= {"typer"}


def test_an_import_at_once_is_told_from_a_late_one() -> None:
    late = "def f():\n    import pandas\n"
    assert list(imported(late)) == []
    assert sorted(imported("import numpy as np\ntry:\n    import pandas.api\nexcept ImportError: ...\n")) == [
        "numpy",
        "pandas",
    ]
    assert list(imported("class A:\n    from matplotlib.axes import Axes\n")) == ["matplotlib"]


def test_import_equipoise_opens_no_room() -> None:
    """A fresh process, in which the few modules that an import may cost are all there are."""
    code = "import sys, equipoise; print(*(x for x in sys.modules if not x.startswith('_')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in loaded if name.partition(".")[0] == "equipoise"} == {"equipoise"}
    assert not {"numpy", "numba", "pandas", "scipy", "matplotlib"} & set(loaded)


# Luck.

LUCKY = ("random", "secrets", "numpy.random", "np.random", "os.urandom", "uuid")
WATCHING = ("getstate", "get_state")  # `check_policy` looks whether others' generators were touched


def luck(source: str) -> Iterator[str]:
    """Where a module makes randomness of its own: calls into the standard library's or NumPy's generators."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            drawn = called.startswith(tuple(f"{name}." for name in LUCKY)) or called in LUCKY[-2:]
            if drawn and not called.endswith(WATCHING):
                yield called
        elif isinstance(node, ast.ImportFrom) and node.module in LUCKY:
            yield f"from {node.module}"


@every(x for x in MODULES if x.name != "streams.py")
def test_nothing_but_streams_makes_randomness(path: Path) -> None:
    assert [x for x in luck(path.read_text()) if x != "random"] == []


def test_streams_makes_randomness() -> None:
    assert list(luck((PACKAGE / "streams.py").read_text()))


@pytest.mark.parametrize(
    "source",
    [
        "x = np.random.default_rng(3)",
        "numpy.random.seed(0)",
        "import random\nrandom.random()",
        "from random import gauss",
        "from numpy.random import default_rng",
        "secrets.token_bytes(8)",
        "os.urandom(8)",
    ],
)
def test_luck_of_one_s_own_is_noticed(source: str) -> None:
    assert list(luck(source))
