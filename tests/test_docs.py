"""The manual is true: its code runs, its output is the program's, its commands and links exist, and none is missing.

In Markdown, a `python` block runs, or is a file where it names one; a `text` block after it is what it prints. The
commands of a `console` block run, and what follows them is what they print; those of a `sh` block are parsed.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from equipoise import cli

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MANUAL = ROOT / "docs" / "command-line.md"
COMMANDS: Any = typer.main.get_command(cli.app)

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


class Block(NamedTuple):
    kind: str
    title: str
    content: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    found = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [Block(*block) for block in found]


def run_python(page: Path, place: Path) -> None:
    """Runs a page's `python` blocks, all of them in one namespace, and compares what they print."""
    space: dict[str, Any] = {"__name__": page.stem}
    printed = ""
    for kind, title, content in blocks(page):
        if kind == "python" and title:
            (place / title).write_text(content)
        elif kind == "python":
            out = StringIO()
            with redirect_stdout(out):
                exec(compile(content, str(page), "exec"), space)
            printed = out.getvalue()
        elif kind == "text":
            assert printed.rstrip() == content.rstrip()


def sessions(page: Path) -> Iterator[tuple[str, str]]:
    """The commands of a page's `console` blocks, each with what it prints."""
    for block in blocks(page):
        if block.kind == "console":
            for session in re.split(r"^\$ ", block.content, flags=re.MULTILINE)[1:]:
                command, _, printed = session.partition("\n")
                yield command, printed


@every_page
def test_python_runs_and_prints_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    run_python(page, tmp_path)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@every_page
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    for command, printed in sessions(page):
        words = shlex.split(command)
        assert words[0] == "equipoise"
        run = [sys.executable, "-m", "equipoise.cli", *words[1:]]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.rstrip() == printed.rstrip()


def parse(command: str) -> None:
    """Fails unless the command and its options exist."""
    words = shlex.split(command, comments=True)[1:]
    context = COMMANDS.make_context("equipoise", words[:1])
    name, chosen, _ = COMMANDS.resolve_command(context, words[:1])
    chosen.make_context(name, words[1:], parent=context)


@every_page
def test_commands_that_are_shown_can_be_parsed(page: Path) -> None:
    for block in blocks(page):
        for line in block.content.splitlines() if block.kind == "sh" else ():
            if line.startswith("equipoise "):
                parse(line)


def options(command: Any) -> set[str]:
    """The options that a command has, without --help, which all have."""
    return {name for parameter in command.params for name in parameter.opts if name != "--help"}


def named_options(text: str) -> set[str]:
    return set(re.findall(r"`(--[a-z][a-z-]*)", text)) - {"--help"}


def chapter(command: str) -> str:
    """What the manual says of a command."""
    return MANUAL.read_text().partition(f"\n## equipoise {command}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("command", sorted(COMMANDS.commands))
def test_the_manual_names_every_option_and_no_other(command: str) -> None:
    rows = "\n".join(line for line in chapter(command).splitlines() if line.startswith("| `--"))
    assert named_options(rows) == options(COMMANDS.commands[command])


def test_the_manual_names_every_command_and_no_other() -> None:
    assert set(re.findall(r"^## equipoise (\S+)$", MANUAL.read_text(), re.MULTILINE)) == set(COMMANDS.commands)
    assert options(COMMANDS) <= set(re.findall(r"--[a-z][a-z-]*", MANUAL.read_text()))


def anchors(page: Path) -> set[str]:
    """The headings of a page as links write them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        if not path.startswith("http"):
            place = (page.parent / path).resolve() if path else page
            assert place.exists(), target
            assert not anchor or anchor in anchors(place), target


@every_page
def test_files_that_are_named_exist(page: Path) -> None:
    """Paths in backquotes are those of the repository or of the package."""
    for path in re.findall(r"`((?:[\w.]+/)+(?:\w+\.\w+)?)`", page.read_text()):
        made = path.startswith((".venv", "results"))
        assert made or any((place / path).exists() for place in (ROOT, ROOT / "src" / "equipoise")), path


def test_what_the_make_targets_do_is_documented() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE)) - {"clean"}
    assert targets == set(re.findall(r"^\| `make (\w+)`", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE))


# Negative controls: the checks see what they are there to see.


@pytest.mark.parametrize(
    "text", ["```python\nprint(1)\n```\n\n```text\n2\n```\n", "```python\nraise ValueError\n```\n"]
)
def test_a_page_that_is_wrong_is_noticed(text: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.md").write_text(text)
    with pytest.raises((AssertionError, ValueError)):
        run_python(tmp_path / "wrong.md", tmp_path)


@pytest.mark.parametrize("command", ["equipoise simulat", "equipoise simulate --mean 0.3", "equipoise paper --json 3"])
def test_a_command_that_is_wrong_is_noticed(command: str) -> None:
    with pytest.raises(Exception, match=r"No such|unexpected"):
        parse(command)
