"""The page of a report: how its texts become HTML."""

from octoc.report.html import with_code


def test_words_in_backticks_are_code() -> None:
    """Pairs of backticks mark code, a single one stays, and no text becomes markup."""
    assert with_code("unknown check `data` in `a.md`") == "unknown check <code>data</code> in <code>a.md</code>"
    assert with_code("write `{{ENV:<K>}}` & go on") == "write <code>{{ENV:&lt;K&gt;}}</code> &amp; go on"
    assert with_code("a lone ` stays") == "a lone ` stays"
    assert with_code("nothing in ``") == "nothing in ``"
    assert with_code("<b>`</b>`\u202e") == "&lt;b&gt;<code>&lt;/b&gt;</code>\\u{202E}"
