"""Shell scripts in command lines."""

from collections.abc import Callable
from typing import Any

import pytest

Lint = Callable[..., Any]


@pytest.mark.parametrize(
    "script, names",
    [
        ("server --host $GH_HOST", ["$GH_HOST"]),
        ('exec server "$GH_HOST" "$GH_HOST" $other', ["$GH_HOST", "$other"]),
        ("echo '$NOT' \\$NOT \"'$GH_HOST'\"", ["$GH_HOST"]),
        ("echo $$GH_HOST $1$GH_HOST", ["$GH_HOST"]),
        ("FOO=1 server $FOO $GH_HOST", ["$GH_HOST"]),
    ],
)
def test_a_variable_that_the_server_does_not_get(lint: Lint, script: str, names: list[str]) -> None:
    """Each variable that neither the server's environment nor the script has is marked once, at its characters."""
    linted = lint(servers={"s": {"command": "/bin/sh", "args": ["-c", script]}})
    assert linted.shown("OCT461") == [("OCT461", name) for name in names]


@pytest.mark.parametrize(
    "entry",
    [
        {
            "command": "sh",
            "args": ["-c", "server $HOME $LANG $LC_ALL $HTTPS_PROXY $https_proxy $TZ $PWD $RANDOM"],
        },
        {"command": "sh", "args": ["-c", "server $KEY"], "env": {"KEY": "${KEY}"}},
        {"command": "sh", "args": ["-c", "server ${KEY} ${OTHER:-x} ${x%.*} ${y:=z} $y"]},
        {"command": "bash", "args": ["-lc", "for f in *; do read a b; export c; x+=1; echo $f $a $b $c $x; done"]},
        {"command": "sh", "args": ["-c", "awk '{print $NF}' $1 $@ $# $? $$ $! $-"]},
        {"command": "sh", "args": ["-c", ". ./env.sh; server $KEY"]},
        {"command": "sh", "args": ["-c", 'eval "$(direnv)"; server'], "env": {"direnv": "x"}},
        {"command": "sh", "args": ["-c", "server $KEY"], "envFile": ".env"},
        {"command": "sh", "args": ["run.sh", "-c", "$KEY"]},
        {"command": "docker", "args": ["run", "image", "sh", "-c", "server $KEY"]},
        {"command": "sh", "args": ["-c", "server $KEY"], "disabled": True},
        {"command": "sh", "args": ["-c"]},
    ],
)
def test_what_the_server_has_or_the_shell_sets(lint: Lint, entry: dict[str, Any]) -> None:
    """Usual variables, `env`, forms with a default, what the script sets, and other programs' text are fine."""
    assert lint(servers={"s": entry}).shown("OCT461") == []
