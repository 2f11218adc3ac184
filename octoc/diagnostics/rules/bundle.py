"""OCT6xx: the bundle, when it is opened and when it is written."""

from functools import partial

from octoc.diagnostics.rule import Rule, Scope, Severity

rule = partial(Rule, scope=Scope.BUILD)

BUNDLE_UNREADABLE = rule("OCT601", "bundle-unreadable", "There is no file that can be read where the bundle should be.")
NOT_A_BUNDLE = rule("OCT602", "not-a-bundle", "The file is not a bundle of octoc.")
BUNDLE_CUT = rule("OCT603", "bundle-cut", "The bundle ends before its end: a copy or a download stopped early.")
BUNDLE_ALTERED = rule("OCT604", "bundle-altered", "The bundle's bytes are not those that were built.")
BUNDLE_NEWER = rule("OCT605", "bundle-format-newer", "The bundle's format is newer than this octoc reads.")
BUNDLE_MALFORMED = rule(
    "OCT606", "bundle-malformed", "The bundle is whole, but a value in it has not the shape of the format."
)
BUNDLE_NOT_WRITTEN = rule("OCT607", "bundle-not-written", "The bundle could not be written.")
DEPS_TREE_UNUSABLE = rule(
    "OCT609", "deps-tree-unusable", "What lies in a tap's `deps/` cannot go into the bundle for its scripts."
)
BUNDLE_DIFFERS = rule("OCT610", "bundle-differs", "The bundle that is there is not the one that these inputs give.")
BUNDLE_WITHHELD = rule(
    "OCT608",
    "bundle-withheld",
    "Errors kept the bundle from being written, and an older one stays.",
    Severity.WARNING,
)
