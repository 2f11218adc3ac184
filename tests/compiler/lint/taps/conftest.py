"""A tap called `acme`, written from the few words that a test is about."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

Files = Callable[..., dict[str, str]]

WORKSPACE = {"octoc.toml": '[workspace]\nname = "acme"\n\n[[taps]]\nname = "acme"\npath = "taps/acme"\n'}
TRIGGERS = ("write this down", "find my note on the offsite", "list the notes of this week")


@pytest.fixture
def lint_tap(lint: Callable[..., Any]) -> Callable[..., Any]:
    """A function from several mappings of files, each path below the tap, to what was found."""

    def run(*parts: Mapping[str, str]) -> Any:
        files = {f"taps/acme/{path}": text for part in parts for path, text in part.items()}
        return lint({**WORKSPACE, **files})

    return run


@pytest.fixture
def capability() -> Files:
    """A function that writes one capability with a server of its own, or only dependencies."""

    def files(  # one keyword for each thing that a provider file may say
        name: str,
        allowed: Sequence[str] | None = None,
        *,
        server: str | None = "",
        fields: str = 'type = "stdio"\ncommand = "run"\nargs = []\n',
        deps: Sequence[str] = (),
        triggers: Sequence[str] = (),
        domains: Sequence[str] = (),
        head: str = "# Title: A capability\n# Description: Does what a test asks for\n",
    ) -> dict[str, str]:
        server = name if server == "" else server
        text = head
        if deps:
            text += f"[deps]\nrequire = {json.dumps(list(deps))}\n"
        if server is not None:
            text += f'[roles.mcp]\nserver_refs = ["{server}"]\n'
            text += "" if allowed is None else f"allowed_tools = {json.dumps(list(allowed))}\n"
            text += f'[[mcp.servers]]\nname = "{server}"\n{fields}timeout_seconds = 30\ntools = []\n'
        found = {f"capabilities/{name}/default.toml": text}
        if triggers or domains:
            config = f"triggers = {json.dumps(list(triggers))}\ndomains = {json.dumps(list(domains))}\n"
            found[f"capabilities/{name}/config.toml"] = config
        return found

    return files


@pytest.fixture
def agent() -> Files:
    """A function that writes the manifest of one agent."""

    def files(
        name: str, *capabilities: str, system: str = "Help.", role: str = "", head: str | None = None, more: str = ""
    ) -> dict[str, str]:
        title = "# Title: An agent\n# Description: Does what a test asks for\n" if head is None else head
        text = f'{title}capabilities = {json.dumps(capabilities)}\n[[roles]]\n{role}system = """{system}"""\n{more}'
        return {f"agents/{name.replace(':', '/')}.toml": text}

    return files


@pytest.fixture
def skill() -> Files:
    """A function that writes one skill; `lines` are of its front matter."""

    def files(name: str, *lines: str, rules: Sequence[str] = ("content(minutes)",)) -> dict[str, str]:
        written = "".join(f"  - {rule}\n" for rule in rules)
        front = "".join(f"{line}\n" for line in lines) + (f"rules:\n{written}" if rules else "")
        return {f"skills/{name}/SKILL.md": f"---\nname: {name}\ndescription: A skill\n{front}---\n\nDo it.\n"}

    return files
