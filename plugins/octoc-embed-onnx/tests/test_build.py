"""The default encoder in a build, and in a runtime that has the bundle alone."""

from pathlib import Path

import pytest

from octoc.compiler import build
from octoc.plugin.toolkit import install_command
from octoc.runtime import OpenBundle, Runtime
from octoc.testing import WorkspaceBuilder
from octoc_embed_onnx import weights

TRIGGERS = {
    "pulls": ["list the open pull requests", "merge my pull request", "review the changes of a branch"],
    "clock": ["what time is it in Tokyo", "convert a time to another zone"],
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with two capabilities, of a user who has no graph yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    routing = {"gate": "octomind", "threshold": 0.5, "margin": 0.08}
    builder = WorkspaceBuilder(tmp_path / "workspace", name="w", routing=routing, plugins={"use": ["embed-onnx"]})
    for name, triggers in TRIGGERS.items():
        builder.capability(name, triggers, server={"command": "true"})
    return builder.write()


@pytest.fixture
def without_onnx(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """`onnx` is not installed."""
    monkeypatch.setattr(weights, "QUANTIZER", "octoc_no_such_package")
    return monkeypatch


def _encoder_findings(root: Path) -> list[str]:
    return [f"{found.rule.code} {found.message}" for found in build(root).diagnostics if found.rule.code[:5] == "OCT70"]


def test_the_bundle_alone_routes(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a build made is in the bundle: a machine without `onnx`, weights and cache routes as the builder does."""
    outcome = build(root)
    assert outcome.bundle is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    monkeypatch.setattr(weights, "QUANTIZER", "octoc_no_such_package")
    monkeypatch.setattr(weights, "WEIGHTS_PACKAGE", "octoc_no_such_package")
    with OpenBundle.open(outcome.bundle) as opened:
        encoder = opened.bundle.encoder
        assert encoder is not None
        assert (encoder.files, encoder.settings) == (("model.onnx", "origin.json", "vocab.txt"), {})
    routing = Runtime.open(outcome.bundle, env={}).session().route("show me the open pull requests")
    assert routing.capability == "pulls"
    assert not (tmp_path / "other").exists()


def test_a_build_without_onnx_says_what_to_install(root: Path, without_onnx: pytest.MonkeyPatch) -> None:
    """The build fails and names the command; once the package is there, the same build has an encoder."""
    (found,) = _encoder_findings(root)
    assert not (root / "dist").exists()
    assert found.startswith("OCT702 encoder `minilm-l6` failed")
    assert f"run `{install_command('octoc-embed-onnx[quantize]')}`" in found
    without_onnx.setattr(weights, "QUANTIZER", "onnx")
    assert _encoder_findings(root) == []


def test_without_shipping_a_machine_that_cannot_make_it_says_so(
    root: Path, tmp_path: Path, without_onnx: pytest.MonkeyPatch
) -> None:
    """With `ship_encoder = false` the user's cache serves; where there is none, the reason has the command."""
    settings = root / "octoc.toml"
    settings.write_text(
        settings.read_text(encoding="utf-8").replace("[routing]", "[routing]\nship_encoder = false"), encoding="utf-8"
    )
    without_onnx.setattr(weights, "QUANTIZER", "onnx")
    outcome = build(root)
    assert outcome.bundle is not None
    assert outcome.size < 5_000_000
    without_onnx.setattr(weights, "QUANTIZER", "octoc_no_such_package")
    message = "show me the open pull requests"
    assert Runtime.open(outcome.bundle, env={}).session().route(message).capability == "pulls"
    without_onnx.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    routing = Runtime.open(outcome.bundle, env={}).session().route(message)
    assert routing.capability is None
    assert install_command("octoc-embed-onnx[quantize]") in routing.reason
