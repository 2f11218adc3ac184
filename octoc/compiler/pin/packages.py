"""Which package of a registry a server's command runs: read from the command line, nothing is asked or started."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from functools import lru_cache

import attrs

_NPM_SPEC = re.compile(r"(?P<name>(?:@[A-Za-z0-9._~-]+/)?[A-Za-z0-9_~][A-Za-z0-9._~-]*)(?:@(?P<version>[^/:\s]+))?\Z")
_PYPI_SPEC = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\[[^\]]*\])?\s*"
    r"(?:(?:==|@)\s*(?P<version>[A-Za-z0-9.*+!_-]+)|[<>=!~].*)?\Z"
)
# `@` stands before the revision for pip and uv, `#` for npm; pip also writes `NAME @ ` before.
_PIP_GIT = re.compile(
    r"(?:[A-Za-z0-9._-]+\s*@\s*)?(?P<name>git\+[a-z]+://[^\s#]+?)(?:@(?P<version>[^@/\s#]+))?(?:#\S*)?\Z"
)
_NPM_GIT = re.compile(r"(?P<name>(?:git(?:\+[a-z]+)?://|(?:github|gitlab|bitbucket):)[^\s#]+)(?:#(?P<version>\S+))?\Z")
_EXACT_NPM = re.compile(r"v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?\Z")
_HAS_DIGIT = re.compile(r"\d")
_IMAGE = re.compile(
    r"(?P<name>[a-z0-9][A-Za-z0-9._-]*(?::[0-9]+(?=/))?(?:/[a-z0-9][a-z0-9._-]*)*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]*))?(?:@(?P<digest>sha256:[0-9a-f]+))?\Z"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash", "ksh"})
_PREFIXES = frozenset({"exec", "env", "command", "nohup", "sudo", "time", "nice", "wsl", "wsl.exe"})
_WRAPPERS = frozenset({
    "asdf", "aws-vault", "chamber", "conda", "direnv", "doppler", "dotenv", "dotenvx", "fnm", "hatch", "infisical",
    "mamba", "micromamba", "mise", "op", "pdm", "pipenv", "pixi", "poetry", "rye", "timeout", "volta",
})  # fmt: skip
"""Programs that run a command line in an environment that they prepare."""
_MAX_DEPTH = 4
"""How deep shells inside shells are followed."""


@attrs.frozen(kw_only=True)
class Package:
    """A package as a command names it. `registry` is `npm`, `pypi`, `jsr`, `docker` or `git`.

    `version` is what is written; None for nothing, `latest`, and for PyPI a range.
    """

    registry: str
    name: str
    version: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What two spellings of one package share: PyPI's names ignore case and the kind of separator."""
        name = re.sub(r"[-_.]+", "-", self.name).lower() if self.registry == "pypi" else self.name
        return (self.registry, name)

    @property
    def is_fixed(self) -> bool:
        """Whether no later release is meant: a full version of npm, or a tag or revision that is not a word alone."""
        if self.version is None:
            return False
        if self.registry in ("npm", "jsr"):
            return _EXACT_NPM.match(self.version) is not None
        return "*" not in self.version and _HAS_DIGIT.search(self.version) is not None

    @property
    def joiner(self) -> str:
        """What stands between name and version."""
        return _JOINERS.get(self.registry, "@")

    def __str__(self) -> str:
        """Return it as its registry's own tools write it."""
        return self.name if self.version is None else f"{self.name}{self.joiner}{self.version}"


_JOINERS = {"pypi": "==", "docker": ":"}


@attrs.frozen(kw_only=True)
class _Runner:
    """How one launcher's command line is read.

    `words` are the subcommand after the command; `takes` the options that have a value of their own; `names` those
    whose value is the package, rather than the first word that is not an option.
    """

    command: str
    words: tuple[str, ...]
    registry: str
    takes: frozenset[str]
    names: frozenset[str] = frozenset()


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NPM_TAKES = _options("-c --call -w --workspace --prefix --registry --userconfig --cache --loglevel --shell -C --dir")
_UV_TAKES = _options(
    "--with --with-requirements --with-editable -w -p --python --index --index-url --default-index --extra-index-url -i"
    " --find-links -f --cache-dir --directory --project --env-file --constraints -c --overrides --prerelease"
    " --resolution --exclude-newer --color --config-file --refresh-package --upgrade-package -P --no-binary-package"
    " --link-mode --index-strategy --keyring-provider --build-constraints -b --python-platform"
)
DOCKER_TAKES = _options(
    "-e --env -v --volume --name --network --net -p --publish -u --user -w --workdir --mount --env-file --entrypoint -l"
    " --label --add-host -m --memory --cpus --platform --pull --restart --gpus -h --hostname --ip --dns --cap-add"
    " --cap-drop --security-opt --tmpfs --ulimit --volumes-from --shm-size --device --cidfile --expose --log-driver"
    " --log-opt --pid --ipc --runtime --group-add --userns --stop-signal --stop-timeout -a --attach --link"
)
"""Options of `docker run` and `docker exec` that have a value of their own."""
_DENO_TAKES = _options("-c --config --import-map --lock --cert --location --seed --env-file -L --log-level")
_PACKAGE = _options("-p --package")

_RUNNERS = (
    _Runner(command="npx", words=(), registry="npm", takes=_NPM_TAKES, names=_PACKAGE),
    _Runner(command="npm", words=("exec",), registry="npm", takes=_NPM_TAKES, names=_options("--package")),
    _Runner(command="npm", words=("x",), registry="npm", takes=_NPM_TAKES, names=_options("--package")),
    _Runner(command="npm", words=("install",), registry="npm", takes=_NPM_TAKES),
    _Runner(command="npm", words=("i",), registry="npm", takes=_NPM_TAKES),
    _Runner(command="bunx", words=(), registry="npm", takes=_NPM_TAKES, names=_PACKAGE),
    _Runner(command="bun", words=("x",), registry="npm", takes=_NPM_TAKES, names=_PACKAGE),
    _Runner(command="pnpx", words=(), registry="npm", takes=_NPM_TAKES, names=_PACKAGE),
    _Runner(command="pnpm", words=("dlx",), registry="npm", takes=_NPM_TAKES, names=_PACKAGE),
    _Runner(command="yarn", words=("dlx",), registry="npm", takes=_NPM_TAKES, names=_PACKAGE),
    _Runner(command="uvx", words=(), registry="pypi", takes=_UV_TAKES, names=_options("--from")),
    _Runner(command="uv", words=("tool", "run"), registry="pypi", takes=_UV_TAKES, names=_options("--from")),
    _Runner(
        command="pipx",
        words=("run",),
        registry="pypi",
        takes=_options("--python --pip-args --index-url -i --suffix"),
        names=_options("--spec"),
    ),
    _Runner(command="deno", words=("run",), registry="deno", takes=_DENO_TAKES),
    _Runner(command="deno", words=("x",), registry="deno", takes=_DENO_TAKES),
    _Runner(command="docker", words=("run",), registry="docker", takes=DOCKER_TAKES),
    _Runner(command="docker", words=("container", "run"), registry="docker", takes=DOCKER_TAKES),
    _Runner(command="podman", words=("run",), registry="docker", takes=DOCKER_TAKES),
)
_BY_COMMAND: Mapping[str, tuple[_Runner, ...]] = {
    name: tuple(runner for runner in _RUNNERS if runner.command == name) for name in {r.command for r in _RUNNERS}
}


def package_of(command: str, args: Sequence[str]) -> Package | None:
    """Return the package that a server's command line fetches and runs.

    Launchers: npx, npm exec, bunx, pnpm dlx, yarn dlx, uvx, uv tool run, pipx run, deno, docker and podman; also inside
    `sh -c "…"`, `env …` and `cmd /c …`. None for a program that is simply there (`mcp-server-time`), a path, a URL, and
    for a name that holds a reference.
    """
    found = fetched_by(command, args)
    return None if found is None or found.registry == "git" else found


def fetched_by(command: str, args: Sequence[str]) -> Package | None:
    """Return what `package_of` does, and also a repository that is fetched by git: its URL and the revision."""
    return _fetched((command, *args))


def requested(command: str, args: Sequence[str]) -> tuple[str, str] | None:
    """Return the registry that a command line asks, and the word that it asks it for, even if that names no package."""
    words = _without_prefixes((command, *args))
    if words and _program(words[0]) == "cmd":
        words = _after_switches(words[1:])
    for runner in _BY_COMMAND.get(_program(words[0]), ()) if words else ():
        behind = _behind(runner, words[1:])
        spec = None if behind is None else _spec(runner, behind)
        if spec is not None:
            return runner.registry, spec
    return None


@lru_cache(maxsize=256)
def _fetched(words: tuple[str, ...]) -> Package | None:
    return _package(words, 0)


def _package(words: Sequence[str], depth: int) -> Package | None:
    words = _without_prefixes(words)
    if not words or depth > _MAX_DEPTH:
        return None
    command = _program(words[0])
    rest = list(words[1:])
    if command in _SHELLS:
        return _in_shell(rest, depth)
    if command == "cmd":
        return _package(_after_switches(rest), depth + 1)
    for runner in _BY_COMMAND.get(command, ()):
        behind = _behind(runner, rest)
        if behind is not None:
            spec = _spec(runner, behind)
            return None if spec is None else _parsed(runner.registry, spec)
    return _wrapped(command, rest, depth)


def _without_prefixes(words: Sequence[str]) -> Sequence[str]:
    """Return a command line from its program on, without variables and programs that only start another."""
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in _PREFIXES):
        words = words[1:]
    return words


def _wrapped(command: str, rest: Sequence[str], depth: int) -> Package | None:
    """Read the command line after a program that only prepares an environment, such as `pixi run`."""
    if command not in _WRAPPERS and not (command == "uv" and rest[:1] == ["run"]):
        return None
    at = next((index for index, word in enumerate(rest) if _program(word) in _BY_COMMAND), None)
    return None if at is None else _package(rest[at:], depth + 1)


def _program(word: str) -> str:
    return re.sub(r"\.(?:exe|cmd|bat|ps1)\Z", "", re.split(r"[/\\]", word)[-1].lower())


def _after_switches(args: Sequence[str]) -> Sequence[str]:
    """Return what Windows' `cmd` runs by `/c`, after other switches; nothing where it runs no command."""
    flag = next((i for i, arg in enumerate(args) if not arg.startswith("/") or arg.lower() == "/c"), len(args))
    behind = args[flag + 1 :] if args[flag : flag + 1] and args[flag].lower() == "/c" else ()
    return behind[0].split() if len(behind) == 1 else behind


def _in_shell(args: Sequence[str], depth: int) -> Package | None:
    """Read `-c SCRIPT`. The last command that runs a package is the server: what stands before prepares."""
    flag = next((i for i, arg in enumerate(args) if re.fullmatch(r"-[a-z]*c", arg)), None)
    if flag is None or flag + 1 >= len(args):
        return None
    lexer = shlex.shlex(args[flag + 1], posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    commands: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word.strip("();|&\n") == "":
                commands.append([])
            else:
                commands[-1].append(word)
    except ValueError:  # a quote that is not closed: no shell would run it either
        return None
    found = (_package(words, depth + 1) for words in reversed(commands))
    return next((package for package in found if package is not None), None)


def _behind(runner: _Runner, args: Sequence[str]) -> list[str] | None:
    """Return what stands after the runner's subcommand; None when it is another one."""
    at = 0
    for word in runner.words:
        while at < len(args) and args[at].startswith("-"):
            at += 2 if args[at] in runner.takes else 1
        if at >= len(args) or args[at] != word:
            return None
        at += 1
    return list(args[at:])


def _spec(runner: _Runner, args: Sequence[str]) -> str | None:
    """Return the word that names the package: an option's value, else the first word that is not an option."""
    at = 0
    while at < len(args):
        word = args[at]
        name, equals, value = word.partition("=")
        if word == "--":
            return args[at + 1] if at + 1 < len(args) else None
        if not word.startswith("-"):
            return word
        if name in runner.names:
            return value if equals else (args[at + 1] if at + 1 < len(args) else None)
        at += 2 if word in runner.takes else 1
    return None


def _parsed(registry: str, spec: str) -> Package | None:
    if registry == "deno":
        kind, colon, rest = spec.partition(":")
        return _parsed(kind, rest.lstrip("/")) if colon and kind in ("npm", "jsr") else None
    if registry == "docker":
        image = _IMAGE.match(spec)
        if image is None:
            return None
        version = image["digest"] or _fixed(image["tag"])
        return Package(registry=registry, name=image["name"], version=version)
    git = (_PIP_GIT if registry == "pypi" else _NPM_GIT).match(spec)
    if git is not None:
        return Package(registry="git", name=git["name"], version=git["version"])
    found = (_PYPI_SPEC if registry == "pypi" else _NPM_SPEC).match(spec)
    if found is None:
        return None
    return Package(registry=registry, name=found["name"], version=_fixed(found["version"]))


def _fixed(version: str | None) -> str | None:
    return None if version in (None, "latest", "*") else version
