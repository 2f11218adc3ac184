"""Rules over folders of one user in shared files, and over servers that reach a whole disk or home folder."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from octoc.compiler.inputs.claude.paths import is_users_own
from octoc.compiler.lint.mcp.commands import CONTAINERS, has_shell, is_in_container, program, texts_of
from octoc.compiler.model.build import Build
from octoc.compiler.model.source import ServerSource
from octoc.compiler.pin.packages import fetched_by
from octoc.compiler.policy.examples import is_example
from octoc.compiler.resolve.definitions import Definition, DefinitionText, definitions, values_of
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_servers import HOME_PATH, WHOLE_DISK
from octoc.plugin.file_kinds import Dialect
from octoc.plugin.lint import lint_check

# Claude Code's rules write an absolute path with two slashes.
_HOME = re.compile(
    r"(?<![\w.~}/-])(?:(?<!:)/)?(?:/Users|/home|[A-Za-z]:[\\/]{1,4}Users)[\\/]{1,4}(?P<user>[^/\\\s\"':;,]+)"
)
# Accounts of images, of CI and of no person: their folders are the same on every machine.
_ACCOUNTS = frozenset({
    "app", "appuser", "bun", "circleci", "coder", "codespace", "default", "deno", "docker", "gitpod", "jenkins",
    "jovyan", "linuxbrew", "mcp", "mcpuser", "node", "nonroot", "public", "pwuser", "root", "runner", "sandbox",
    "shared", "ubuntu", "vscode", "www-data",
})  # fmt: skip
_PLACEHOLDERS = frozenset({
    "example", "janedoe", "johndoe", "me", "myname", "myuser", "myusername", "name", "someone", "someuser", "testuser",
    "user", "username", "usr", "xxx", "xxxx", "you",
})  # fmt: skip
_FILESYSTEM = re.compile(r"(?:^|[@/_.-])filesystem(?:$|[/_.-])", re.IGNORECASE)
_FILES_PROGRAM = re.compile(r"(?:[\w.-]+-)?server-filesystem(?:@[\w.-]+)?")
_MOUNT = re.compile(r"(?:--?v(?:olume)?=)?(?P<source>(?:[A-Za-z]:)?[^:,=]+):/\S*\Z")
_MOUNT_SOURCE = re.compile(r"(?:^|[,=])(?:src|source)=(?P<source>[^,]+)")
_DISK = re.compile(r"/|[A-Za-z]:[\\/]*\Z|/(?:Users|home)/?\Z|[A-Za-z]:[\\/]+Users[\\/]*\Z")
_WHOLE_HOME = re.compile(
    r"(?:~|\$HOME|\$\{(?:env:)?HOME\}|\$\{userHome\}|%USERPROFILE%|\{env:HOME\}|/root"
    r"|(?:/Users|/home|[A-Za-z]:[\\/]+Users)[\\/]+[^/\\\s]+)[\\/]*\Z"
)


# Folders of programs that an installer adds to PATH.
_BIN = re.compile(r"/(?:[^/\s]+/)*(?:bin|sbin|shims)/(?P<name>[\w.+-]+)")
# How people keep their own settings in a repository: `zed/.zed/…`, which a program links into the home folder.
_OF_DOTFILES = re.compile(r"(?:\A|/)([\w-]+)/\.\1/")
_EXTENSIONS = re.compile(r"[\\/]+\.(?:vscode|cursor|windsurf)(?:-\w+)?[\\/]+extensions\b")
_APP_DATA = re.compile(r"[\\/]{1,4}AppData[\\/]{1,4}(?P<kind>Local|Roaming)\b", re.IGNORECASE)
_PASSED_ON = "env_vars"
"""The key of a client whose servers get variables of its own environment by name."""
_DATA_VARIABLES = {"local": "LOCALAPPDATA", "roaming": "APPDATA"}


def is_placeholder_user(name: str) -> bool:
    """Tell whether a user's name in a path stands for the reader's own, as in `/Users/username`."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return plain in _PLACEHOLDERS or not plain or name[0] in "<[{$%" or name.lower().startswith(("your", "my-", "my_"))


def home_of_person(text: str) -> tuple[int, int] | None:
    """Return where `text` names the home folder of one person; None if it does not."""
    matches = (match for match in _HOME.finditer(text) if is_person(match["user"]))
    return next((match.span() for match in matches), None)


def is_person(user: str) -> bool:
    """Tell whether a user's name in a path is neither a usual account nor a placeholder."""
    return user.lower() not in _ACCOUNTS and not is_placeholder_user(user)


@lint_check(HOME_PATH)
def check_homes(build: Build, sink: DiagnosticSink) -> None:
    """Report the paths into the home folder of one person, once for each file.

    It is information in a file of one user, and on Windows, where such a program is usually that person's own tool.
    """
    by_file: dict[str, list[tuple[Definition, DefinitionText, re.Match[str]]]] = {}
    for definition in definitions(build.sources):
        if definition.source.disabled or is_example(definition.source.place.file):
            continue
        for value, match in _home_paths(definition.source):
            # OCT447 reports it in production mode.
            if build.settings.mode != "production" or value.field not in {"command", "args"}:
                by_file.setdefault(value.place.file, []).append((definition, value, match))
    project = build.discovered.root.name
    is_personal = is_users_own(build.discovered.root)
    for found in by_file.values():
        (definition, value, match), *others = sorted(found, key=lambda one: _is_windows(one[2]))
        more = f" (and {len(others)} more in this file)" if others else ""
        is_of_project = project in re.split(r"[\\/]+", value.text[match.end() :])
        root = definition.dialect.folder
        sink.report(
            HOME_PATH,
            f"`{value}` of server `{definition.source.name}` names the home folder of one user{more}",
            at=attrs.evolve(value.place, within=match.span()),
            help=(f"begin it with `{root}`" if root else "write the path relative to the project")
            if is_of_project
            else _advice(definition.dialect, value, match),
            severity=Severity.INFO
            if is_personal
            or _OF_DOTFILES.search(value.place.file)
            or program(definition.source.command or "").removesuffix(".exe") == "wsl"  # finds no variable of Windows
            or not _is_of_project(definition)
            or (_is_windows(match) and not is_of_project)
            else None,
        )


def _is_of_project(definition: Definition) -> bool:
    """Tell whether a client reads the file in a project; another file may be a user's own copy."""
    return definition.dialect.is_in_project and not definition.dialect.needs_content


def _is_windows(home: re.Match[str]) -> bool:
    return home[0][1] == ":"


def _advice(dialect: Dialect, value: DefinitionText, home: re.Match[str]) -> str:
    program_folder = _BIN.fullmatch(value.text, home.end()) if value.field == "command" else None
    # An interpreter by its path has modules of its own.
    if program_folder is not None and not program_folder["name"].startswith("python"):
        return f"write `{program_folder['name']}`, which the client finds by PATH"
    if _EXTENSIONS.match(value.text, home.end()):
        return "keep the server in your own settings: each version of the extension has a folder of its own"
    variable, end = "HOME", home.end()
    if _is_windows(home):
        data = _APP_DATA.match(value.text, end)
        variable = "USERPROFILE" if data is None else _DATA_VARIABLES[data["kind"].lower()]
    form = dialect.variable_named(variable)
    if value.field == "env" and _PASSED_ON in dialect.fields:
        return f"name `{value.name}` in `{_PASSED_ON}` instead, and set it on each machine"
    if not form or dialect.secret_advice:
        return "keep the file out of version control, because its paths differ on each machine"
    relative = f"begin it with `{dialect.folder}`" if dialect.folder else "write a path relative to the project"
    return f"{relative}, or take the folder from a variable such as `{form}`"


def _home_paths(server: ServerSource) -> Iterator[tuple[DefinitionText, re.Match[str]]]:
    is_container = program(server.command or "") in CONTAINERS
    if not any(map(_HOME.search, texts_of(server))):
        return
    for value in values_of(server):
        if value.field not in {"command", "args", "env", "cwd", "envFile"} or is_in_container(value, server):
            continue
        for match in _HOME.finditer(value.text):
            user = match["user"]
            # After the colon of a mount the path is the container's.
            is_inside = is_container and value.text[: match.start()].endswith(":")
            if is_person(user) and not is_inside:
                yield value, match
                break


@lint_check(WHOLE_DISK)
def check_disks(build: Build, sink: DiagnosticSink) -> None:
    """Report a server of files, or a container, that gets all files of the machine or of its user."""
    for definition in definitions(build.sources):
        server = definition.source
        if server.disabled or server.command is None:
            continue
        for index, start, end, what in _roots(server):
            sink.report(
                WHOLE_DISK,
                f"server `{server.name}` gives the model {what}",
                at=attrs.evolve(server.place.child("args", index), within=(start, end)),
                help="name the folders that the server needs, such as the project's own",
            )


def _roots(server: ServerSource) -> Iterator[tuple[int, int, int, str]]:
    """Yield index, start and end of each argument that is a root, and what is below it."""
    is_container = program(server.command or "") in CONTAINERS
    package = fetched_by(server.command or "", server.args)
    is_of_files = any(
        _FILESYSTEM.search(word) for word in (program(server.command or ""), package.name if package else "")
    ) or any(map(_FILES_PROGRAM.fullmatch, server.args))
    if not (is_container or is_of_files):
        return
    for index, text in enumerate(server.args):
        for word in re.finditer(r"\S+", text) if has_shell(server) else re.finditer(r".+", text):
            path = _mounted(word[0]) if is_container else word[0]
            if path is None:
                continue
            what = (
                "every file of the machine"
                if _DISK.fullmatch(path)
                else "every file of its user"
                if _WHOLE_HOME.match(path)
                else None
            )
            if what is not None:
                yield index, word.start(), word.end(), what


def _mounted(word: str) -> str | None:
    """Return the folder of the host that a container's argument mounts."""
    match = _MOUNT_SOURCE.search(word) or _MOUNT.match(word)
    return None if match is None else match["source"]
