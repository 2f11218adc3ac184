"""`octoc schema`: the JSON Schemas of the files that octoc reads, for editors and other programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from octoc.cli.options import format_options


@click.command
@click.argument("name", required=False)
@click.option("--path", "as_path", is_flag=True, help="Print where the schema's file is, not what is in it.")
@format_options("text", "json")
def command(name: str | None, as_path: bool, output_format: str) -> int:
    """Print the JSON Schema NAME, or list all of them.

    NAME is as listed, such as `workspace` or `workspace.v1`; `codex` is the schema of the servers in Codex's file. A
    schema is JSON whatever the format.
    """
    from octoc.data import schemas_dir

    paths = [*sorted(schemas_dir().glob("*.json")), *sorted(schemas_dir().glob("clients/*.json"))]
    files = {path.name.removesuffix(".json"): path for path in paths}
    if name is None:
        if as_path:
            raise click.UsageError("--path needs the NAME of a schema")
        _print_list(files, output_format)
        return 0
    path = _file_of(name, files)
    click.echo(str(path) if as_path else path.read_text(encoding="utf-8"), nl=as_path)
    return 0


def _file_of(name: str, files: Mapping[str, Path]) -> Path:
    from octoc.cli.failures import UserError
    from octoc.diagnostics.suggest import did_you_mean

    # The newest version is meant where none is named; files are sorted.
    known = {file.rpartition(".")[0]: path for file, path in files.items()} | dict(files)
    path = known.get(name.removesuffix(".json"))
    if path is None:
        names = [file.rpartition(".")[0] for file in files]
        raise UserError(f"there is no schema `{name}`", did_you_mean(name, names) or "run `octoc schema` for the list")
    return path


def _print_list(files: Mapping[str, Path], output_format: str) -> None:
    import json

    titles = {file: json.loads(path.read_text(encoding="utf-8"))["title"] for file, path in files.items()}
    if output_format == "json":
        fields = [{"name": file, "title": titles[file], "path": str(path)} for file, path in files.items()]
        click.echo(json.dumps(fields, indent=2))
        return
    from octoc.cli.tables import print_table

    print_table(f"{len(files)} schemas", ("name", "title"), [(file, titles[file]) for file in files])
