"""Signs of prompt injection in a description: hidden parts, and orders to the model. A sign is not a proof."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import attrs


@attrs.frozen(kw_only=True)
class SuspiciousPhrase:
    """One kind of suspicious text. `pattern` is tried only if the lower-cased text contains one of `hints`."""

    what: str
    hints: tuple[str, ...]
    written: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when a hint is first seen."""
        return re.compile(self.written, _FLAGS)


_FLAGS = re.IGNORECASE | re.VERBOSE | re.DOTALL | re.MULTILINE


def sign(what: str, hints: str, pattern: str) -> SuspiciousPhrase:
    """Return a sign; `hints` are separated by blanks."""
    return SuspiciousPhrase(what=what, hints=tuple(hints.split()), written=pattern)


_SECRET_FILES = (
    r"~/\.ssh | \.ssh/id_ | \bid_rsa\b | \bid_ed25519\b | \.aws/credentials | /etc/(?:passwd|shadow)"
    r" | ~/\.(?:cursor|claude)\b | \bmcp\.json\b | \.git-credentials | ~/\.netrc | ~/\.pypirc"
)

SECRETS = (
    r"(?<![\w/])\.env(?!\.(?:example|sample|template|dist|defaults?)\b)(?:\.[a-z]{1,20}){0,2}\b"
    r" | ~/\.ssh(?:/\S{0,60})? | \.ssh/id_\w{1,20}"
    r" | ~?/?\.aws/credentials | ~/\.netrc | \.git-credentials"
    r" | (?-i:\b[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_){0,4}(?:SECRET|TOKEN|PASSWORD|KEY)\b)"
)
"""Files with secrets, and variables that hold one."""
ADDRESS = r"(?:<?https?://|\S+@\S+\.\w)"
_AWAY = (
    rf"(?:to\s+{ADDRESS}|(?:to|into|in|as|with)\s+(?:the|your|every|each|any|an?)\s+(?:\w+\s+){{0,2}}?"
    r"(?:review|answers?|response|reply|output|calls?|requests?|messages?|arguments?|parameters?|comments?|webhook)\b)"
)
"""Places outside of the machine, and what is shown or sent on."""

HIDDEN: tuple[SuspiciousPhrase, ...] = (
    sign("an HTML comment, which rendered text does not show", "<!--", r"<!--.{0,2000}?(?:-->|\Z)"),
    sign("a Markdown comment, which rendered text does not show", "[//]: [comment]:", r"^\s*\[(?://|comment)\]:[^\n]+"),
    sign(
        "an element that a style hides",
        "display visibility font-size opacity",
        r"<\w+[^>]{0,200}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0\b)[^>]{0,200}>",
    ),
    sign(
        "a tag that speaks with authority",
        "important system secret hidden admin override critical",
        # In angle brackets and alone, or closed: `<system>` as a placeholder in prose is neither.
        r"<(?-i:IMPORTANT|SYSTEM|SECRET|HIDDEN|ADMIN|OVERRIDE|CRITICAL)>"
        r"| </(?:important|system|secret|hidden|admin|override|critical)> | \[/(?:system|admin|override)\]",
    ),
    sign(
        "a mark of a chat template",
        "<| [inst] <<sys>>",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|> | \[/?INST\] | <</?SYS>>",
    ),
)
"""Text that a model reads and that people do not see in the rendered text."""

# An indented line of a drawing is not far: what counts across lines is how many are blank.
_FAR = re.compile(r"[ \t]{120,}\S|\n(?:[ \t]*+\n){20,}+[ \t]*+\S")

_LOOKED_BACK = 80
_QUOTES = ("'", '"', "`", "\u2018", "\u201c", "\u00ab", "\u201e")
_LOOKED_FOR = re.compile(
    r"\b(?:detect|flag|catch|block|prevent|resist|reject|(?:scan|look|check|test|search|watch|guard|defend)s?(?:ing)?"
    r"\s+(?:for|against))\w*\b[^.;!\n]*\Z"
    r"|\b(?:injections?|attacks?|attempts?(?:\s+to)?|phrases|tr(?:y|ies|ying)\s+to|such\s+as|e\.g\.,?)\W*\Z",
    re.IGNORECASE,
)
"""The beginning of a sentence on what an agent looks for."""

ORDERS: tuple[SuspiciousPhrase, ...] = (
    sign(
        "an order to ignore other instructions",
        "ignore disregard forget override",
        r"""\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|every|the|your|of|other|these|those)\s+){0,3}
        (?:(?:previous|prior|earlier|preceding|above|existing|system|original|initial|safety)\s+(?:\w+\s+){0,2}
        (?:instructions?|prompts?|rules?|guidelines?|directions?|messages?|policy|policies)\b
        | (?:instructions|prompt|rules|guidelines)\s+(?:above|before\s+this|you\s+(?:were\s+given|received|have))\b
        | (?:rules?|instructions?|polic(?:y|ies)|guidelines?|restrictions?)\s+(?:that|which)\s+
        (?:forbids?|prohibits?|prevents?|disallows?|restricts?|den(?:y|ies)|contradicts?)\b
        | sandbox\s+(?:polic(?:y|ies)|rules?|restrictions?)\b
        | user(?:'s|s')?\s+(?:requests?|questions?|instructions?|rules?|wish(?:es)?|orders?|objections?)\b)""",
    ),
    sign(
        "an order to get around what protects the user",
        "bypass circumvent evade",
        r"""\b(?:bypass|circumvent|evade)\s+(?:(?:all|any|every|the|your|of|other|these|those)\s+){0,3}
        (?:system\s+prompt|safety\s+(?:\w+\s+)?(?:rules?|guidelines?|polic(?:y|ies)|filters?)
        |user(?:'s|s')\s+(?:rules?|wish(?:es)?|consent|instructions?|approval))\b""",
    ),
    sign(
        "an order to keep something from the user",
        "tell inform mention reveal notify alert disclose",
        r"""\b(?:do\s+not|don'?t|never|must\s+not|should\s+not|without)\s+(?:ever\s+)?
        (?:tell|inform|mention|reveal|notify|alert|disclose|telling|informing|mentioning|revealing|notifying|alerting)
        \s+(?:(?:this|it|that|anything|any\s+of\s+this)\s+)?(?:to\s+)?(?:the\s+|your\s+)?
        (?:users?|humans?|any(?:one|body)|operator|person)\b(?!\s+(?:to|how|which|whether|if|when|unless|until)\b)""",
    ),
    sign(
        "an order to keep from the user what was done",
        "tell inform show mention reveal disclose report",
        r"""\b(?:do\s+not|don'?t|never|must\s+not|should\s+not|shall\s+not|without)\s+(?:ever\s+)?
        (?:(?:tell|inform|show|telling|informing|showing)\s+(?:the\s+|your\s+)?(?:users?|humans?|operator)\s+
        (?:(?:about|of)\s+)?(?:which|what|that|how|the|these|those|any)\s+(?:\w+\s+){0,4}?
        (?:(?:that\s+)?you\s+(?:have\s+)?(?:ran|run|used|did|done|executed|called|sent|read|made|changed|took|taken)
        |(?:were|was|are|is|have\s+been|has\s+been)\s+(?:run|executed|called|invoked|sent|read|uploaded|copied))\b
        |(?:mention|reveal|disclose|mentioning|revealing|disclosing)\s+(?:this|these|that|those)\s+
        (?:\w+\s+)?(?:steps?|calls?|commands?|requests?|uploads?|transfers?|actions?|instructions?|orders?)\b
        |(?:show|report|explain|mention|reveal|disclose)\s+(?:this|these|that|those|it|any\s+of\s+(?:this|it))
        (?:\s+\w+){0,2}\s+to\s+(?:the\s+|your\s+)?(?:users?|humans?|operator|any(?:one|body))\b)""",
    ),
    sign(
        "an order to the model to act in secret",
        "assistant model agent llm ai",
        r"""\b(?:assistant|model|agent|llm|ai)\s+(?:must|shall|should|has\s+to|is\s+to)\s+(?:always\s+|also\s+)?
        (?:obey|silently|secretly|covertly|quietly|(?:not|never)\s+(?:tell|ask|inform|warn|alert|notify)\s+the\s+user)\b""",
    ),
    sign(
        "a wish that the user does not notice",
        "knowledge knowing noticing let",
        r"""\b(?:do\s+not|don'?t|never)\s+let\s+(?:the\s+|your\s+)?(?:users?|humans?)\s+(?:know|see|notice|find\s+out)\b
        (?!\s+(?:a|an|how|when|until)\b)
        | \bwithout\s+(?:the\s+|your\s+)?(?:users?|humans?|owners?)(?:'s?)?\s+(?:knowledge|knowing|noticing)\b""",
    ),
    sign(
        "an order to hide something from the user",
        "hide conceal withhold keep",
        r"""\b(?:hide|conceal|withhold|keep)\s+(?:all\s+|any\s+|your\s+|the\s+|other\s+|these\s+|those\s+)*
        (?:it|this|that|them|everything|findings?|results?|errors?|problems?|warnings?|changes?|actions?|calls?|steps?)\s+
        (?:(?:a\s+)?secret\s+|hidden\s+)?from\s+(?:the\s+|your\s+)?(?:users?|humans?|operator|owner|any(?:one|body))\b""",
    ),
    sign(
        "a wish that the user does not notice",
        "user human",
        r"""\b(?:users?|humans?)\s+(?:must|should|shall)\s*(?:not|n't|never)\s+
        (?:know|see|notice|be\s+(?:told|informed|aware|notified))\b(?!\s+(?:the|a|an|how|which|what)\b)""",
    ),
    sign(
        "a pointer to files with keys or passwords",
        "ssh id_rsa id_ed25519 credentials /etc/ mcp.json .netrc .pypirc .cursor .claude",
        rf"\b(?:read|open|cat|access|load|include|pass|send|upload|append|copy|attach|provide)\b[^.\n]{{0,60}}"
        rf"(?:{_SECRET_FILES})",
    ),
    sign(
        "an order to hand over data before the tool is used",
        "before",
        r"""\bbefore\s+(?:(?:you\s+)?(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|execut(?:e|ing))\s+
        (?:this|the|any|other)\s+(?:other\s+)?(?:tools?|functions?)\b
        | (?:this|any|every|each)\s+(?:other\s+)?(?:tool|function)\s+is\s+(?:used|called|invoked|executed|run)\b)
        [^.\n]{0,100}
        \b(?:read|send|pass|upload|include|access|collect)\b[^.\n]{0,60}
        (?:\bcontents?\s+of|\bsecrets?\b|\bpasswords?\b|\bcredentials?\b|\bprivate\s+key|\bconversation|~/|/etc/)""",
    ),
    sign(
        "an order to send private data away",
        "conversation history system secrets credentials passwords keys variables .env",
        r"""\b(?:send|forward|upload|post|transmit|exfiltrate|leak)\b[^.\n]{0,60}
        \b(?:conversation|chat\s+history|system\s+prompt|api\s+keys?|passwords?|credentials?|secrets?|private\s+keys?
        |environment\s+variables|contents?\s+of\s+(?:the\s+|every\s+|all\s+)?`?\.env)\b[^.\n]{0,60}
        \bto\s+(?:https?://|\S+@\S+\.\w)""",
    ),
    sign(
        "an order to hand over the value of a secret",
        "secret token password key",
        r"""\b(?:append|attach|include|send|upload|forward|pass|add)\s+the\s+(?:values?|contents?)\s+of\s+[`$"']?\{?
        (?-i:[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_){0,4}(?:SECRET|TOKEN|PASSWORD|KEY))\b""",
    ),
    sign(
        "an order to take secrets out of a file",
        ".env _key _token _secret _password id_rsa id_ed25519 credentials",
        rf"""\b(?:read|open|cat|load|take|get|fetch|collect|copy|grab|print|dump)\b[^\n]{{0,40}}?
        (?:{SECRETS})[^\n]{{0,60}}?\b(?:send|post|upload|forward|transmit|leak|put|paste|append|attach|include|copy
        |write|add|pass|embed|insert)\s+(?:it|them|its\s+\w+|their\s+\w+|all\s+of\s+(?:it|them)|everything|{SECRETS}
        |(?:the|all|every)\s+(?:values?|contents?|results?|output|keys?|secrets?))\s+(?:\w+\s+){{0,2}}?{_AWAY}""",
    ),
    sign(
        "an order to send private data away",
        "keys passwords credentials secrets tokens",
        rf"""\b(?:collect|gather|find|take|read|get|copy|fetch)\b[^.\n]{{0,60}}\b(?:keys|passwords|credentials|secrets|tokens)\b
        [^.\n]{{0,40}}\b(?:send|post|upload|forward|transmit)\s+(?:them|it|their\s+\w+|everything)\s+to\s+{ADDRESS}""",
    ),
    sign(
        "an order to hand over the content of a file with secrets",
        ".env id_rsa id_ed25519 credentials",
        rf"""\b(?:append|attach|include|send|post|upload|forward|transmit|pass|add|put|embed|insert)\s+(?:\w+\s+){{0,2}}?
        (?:values?|contents?)\s+(?:of|from|in)\s+(?:(?:the|every|all|your|any|user'?s?)\s+)*[`'"]?(?:{SECRETS})
        [`'"]?\s+(?:\w+\s+){{0,2}}?(?:in|into|to|as|with)\b""",
    ),
    sign(
        "an order to send a secret away",
        ".env _key _token _secret _password",
        rf"""\b(?:send|post|upload|forward|transmit|exfiltrate|leak)\s+(?:(?:the|your|all|every|value|of)\s+)*[`'"$]*\{{?
        (?:{SECRETS})[`'"]*\}}?\s+(?:\w+\s+){{0,3}}?to\s+{ADDRESS}""",
    ),
    sign(
        "an order to smuggle data in an argument",
        "sidenote side_note",
        r"\b(?:put|pass|place|include|add|append|store|write|as|in|into)\b[^.\n]{0,80}\bside_?note\b",
    ),
    sign(
        "a question for the system prompt",
        "prompt instructions",
        r"""\b(?:reveal|print|output|repeat|return|include|send)\s+(?:me\s+)?(?:all\s+of\s+)?(?:your|the)\s+
        (?:full\s+|entire\s+|complete\s+)?(?:system\s+prompt|hidden\s+instructions|initial\s+instructions)\b""",
    ),
    sign(
        "new orders for the model",
        "now instructions",
        r"""\byou\s+are\s+now\s+(?:a|an)\s | \bfrom\s+now\s+on,?\s+you\s+(?:must|will|should|are|shall)\b
        | \bnew\s+(?:system\s+)?instructions\s*:""",
    ),
)
"""Text that tells a model to act against its user."""

_TO_RUN = re.compile(r"\b(?:run|execute|call|type)\s+`\Z", re.IGNORECASE)
"""What makes a command in backticks an order and not a quotation."""

SECRET_NAME = sign(
    "a wish for a file with keys or passwords",
    "rsa ed25519 passwd shadow content user ~/ aws",
    r"""~/|\b(?:aws/credentials|id\s(?:rsa|ed25519)|etc\s(?:passwd|shadow)
    |contents?\s(?:of\s)?(?:(?:the|all|users?)\s){0,3}(?:ssh\s)?(?:private\skeys?|ssh\skeys?|passwords?|credentials)
    |(?:private\skeys?|ssh\skeys?|passwords?|credentials)\sof\s(?:the\s)?users?)\b""",
)
"""A name, its parts as words, that asks for the content of such a file."""


def signs_in(
    text: str, signs: tuple[SuspiciousPhrase, ...], *, may_mention: bool = False
) -> Iterator[tuple[str, int, int]]:
    """Yield description, start and end of the first match of each sign.

    Where the text `may_mention` orders, as that of an agent that looks for them, one in quotation marks does not count.
    """
    low = text.lower()
    for sign in signs:
        if any(hint in low for hint in sign.hints):
            for match in sign.pattern.finditer(text):
                if not (may_mention and _is_mention(text, match.start())):
                    yield sign.what, match.start(), match.end()
                    break


def _is_mention(text: str, start: int) -> bool:
    """Tell whether what begins at `start` is in quotation marks, or is what the sentence says to look for."""
    before = text[max(start - _LOOKED_BACK, 0) : start]
    if _TO_RUN.search(before) is not None:
        return False
    return before.rstrip()[-1:] in _QUOTES or _LOOKED_FOR.search(before) is not None


def far_text(text: str) -> tuple[int, int] | None:
    """Return start and end of text that follows so much blank space that no window shows both; None without."""
    match = _FAR.search(text) if len(text) > 40 else None
    return None if match is None else (match.end() - 1, len(text.rstrip()))
