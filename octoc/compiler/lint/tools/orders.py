"""More signs of orders to the model: secrecy toward the user, rules set aside, secrets that leave the machine."""

from __future__ import annotations

from octoc.compiler.lint.tools.phrases import ADDRESS, ORDERS, SECRETS, sign

_NOT = r"(?:do\s+not|don'?t|never(?:,?\s+ever)?|must\s+not|should\s+not|shall\s+not|may\s+not)"
_USER = r"(?:the\s+|your\s+)?(?:users?|humans?|operators?|owners?|developers?|reviewers?)"
_DONE = r"(?:run|ran|executed|called|sent|read|uploaded|copied|changed|deleted|accessed|collected)"
_SECRET_WORDS = (
    r"(?:(?:api|ssh|private|access|secret)\s+keys?|passwords?|credentials?|secrets?|(?:access\s+|auth\s+|api\s+)?tokens?"
    r"|environment\s+variables|process\.env)"
)
_MORE_FILES = r"~/\.npmrc | ~/\.kube/config | ~/\.docker/config\.json | ~/\.gnupg | ~/\.config/gh/hosts"
_FILES = rf"(?:{SECRETS} | {_MORE_FILES} | \bid_rsa\b | \bid_ed25519\b)"

_SECRECY = (
    sign(
        "an order to keep something from the user",
        "tell inform notify alert letting find know notice secret hidden invisible suspect",
        rf"""\b{_NOT},?\s+(?:under\s+any\s+circumstances|ever|in\s+any\s+way|at\s+any\s+point),?\s+
        (?:tell|inform|notify|alert)\s+{_USER}\b
        | \bnever,\s+ever\s+(?:tell|inform|notify|alert)\s+{_USER}\b
        | \bwithout\s+letting\s+{_USER}\s+(?:know|see|notice)\b
        | \bso\s+(?:that\s+)?{_USER}\s+(?:do(?:es)?\s+not|do(?:es)?n'?t|never|will\s+not|won'?t)\s+
        (?:find\s+out|suspect|know\s+about\s+(?:this|it)|notice(?:\s+(?:this|it|anything))?(?=\s*(?:[.;,!]|\Z)))
        | \b(?:make\s+sure|ensure)\s+(?:that\s+)?{_USER}\s+(?:never|do(?:es)?\s+not|do(?:es)?n'?t)\s+
        (?:finds?\s+out|notices?\s+(?:this|it)|sees?\s+(?:this|it))\b
        | \b{_USER}\s+(?:need\s+not|do(?:es)?\s+not\s+need\s+to|do(?:es)?n'?t\s+need\s+to)\s+know
        (?:\s+(?:about\s+)?(?:this|it)\b|\s*(?:[.;!]|\Z))
        | \b(?:this|it|these\s+\w+)\s+(?:must|should|shall|has\s+to)\s+(?:always\s+)?(?:remain|stay|be\s+kept|be)\s+
        (?:hidden|secret|invisible)\s+(?:from|to)\s+{_USER}\b
        | \bkeep\s+(?:this|these\s+\w+)\s+(?:a\s+)?secret\b""",
    ),
    sign(
        "an order to keep from the user what was done",
        "hide conceal withhold omit leave mention disclose reveal admit report log",
        rf"""\b(?:hide|conceal|withhold)\s+(?:all|any|your|the|every|each)\s+(?:\w+\s+){{0,2}}?
        (?:outputs?|actions?|activity|diffs?|edits?|commands?|steps?|traces?|calls?)\s+from\s+{_USER}\b
        | \b(?:omit|leave|drop)\s+(?:this|these|that)\s+(?:steps?|calls?|commands?|actions?)\s+
        (?:out\s+(?:of|from)|from)\s+(?:the|your|any|every)\s+(?:\w+\s+)?(?:reports?|summary|answers?|responses?|output|logs?|transcript)\b
        | \b{_NOT}\s+(?:(?:log|mention|disclose|reveal|admit|report)(?:\s+or\s+|\s+))+that\s+
        (?:you\s+(?:have\s+)?{_DONE} | (?:\w+\s+){{1,4}}?(?:was|were|has\s+been|have\s+been)\s+{_DONE})\b""",
    ),
    sign(
        "an order to deceive the user",
        "lie secretly covertly",
        rf"""\blie\s+to\s+{_USER}\b
        | \b(?:secretly|covertly)\s+(?:add|send|run|include|read|upload|collect|insert|copy|install)\b""",
    ),
)
_OVERRIDES = (
    sign(
        "an order to ignore other instructions",
        "ignore disregard forget",
        r"""\b(?:ignore|disregard|forget)\s+(?:everything|anything|all|what(?:ever)?)\s+
        (?:above|that\s+(?:came|was\s+said)\s+(?:before|earlier|above)|(?:that\s+)?(?:the\s+)?users?\s+
        (?:said|says|asks?|asked|wants?|wanted|told|wrote))\b
        | \b(?:ignore|disregard|forget)\s+(?:all\s+(?:of\s+)?)?(?:your|project)\s+
        (?:rules|guidelines|instructions|policies|restrictions|training)\b
        | \b(?:ignore|disregard)\s+the\s+user(?=\s+and\b|\s*(?:[.;,!]|\Z))
        | \b(?:ignore|disregard)\s+(?:the\s+)?(?:rules\s+(?:of|in)\s+)?(?-i:CLAUDE|AGENTS|GEMINI)\.md\b""",
    ),
    sign(
        "an order to get around what protects the user",
        "ignore disregard override bypass",
        r"""\b(?:ignore|disregard|override|bypass)\s+(?:the\s+|any\s+|all\s+|every\s+)?
        (?:permission\s+(?:prompts?|checks?|rules?)|approval\s+(?:prompts?|checks?)|user(?:'s|s')\s+permissions?
        |sandbox\b(?!\s+(?:folder|director|branch|environment|tests?)))""",
    ),
    sign(
        "new orders for the model",
        "instructions rules guidelines bound your",
        r"""\b(?:previous|prior|earlier|original|your)\s+(?:\w+\s+)?(?:instructions|rules|guidelines)\s+
        (?:are\s+(?:now\s+)?(?:void|invalid|obsolete|revoked|cancell?ed|superseded|lifted)
        |(?:do\s+not|no\s+longer)\s+apply)\b
        | \byou\s+are\s+(?:no\s+longer|not)\s+bound\s+by\b
        | \byour\s+(?:real|true|actual|secret|hidden)\s+(?:task|goal|job|purpose|objective|mission)\s+is\b""",
    ),
    sign(
        "an order to obey what others write",
        "instruction command order directive",
        r"""\b(?:follow|obey|execute|carry\s+out)\s+(?:any|all|every|each)\s+(?:\w+\s+)?
        (?:instructions?|commands?|orders?|directives?)\s+(?:that\s+)?
        (?:you\s+(?:find|see|read|encounter)|found|contained|embedded|hidden)\b""",
    ),
    sign(
        "a voice of the system",
        "system: note: override: prompt: message:",
        r"""(?-i:\bSYSTEM(?:\s+(?:NOTE|OVERRIDE|PROMPT|MESSAGE))?):\s+(?:you|ignore|disregard|from\s+now\s+on
        |the\s+(?:assistant|model|agent))\b""",
    ),
)
_SECRETS_SENT = (
    sign(
        "an order to send private data away",
        "keys key passwords password credential secret token variables process.env",
        rf"""\b(?:send|forward|upload|post|transmit|exfiltrate|leak|e-?mail|mail|submit)\s+
        (?:(?:all|any|every|the|your|users?|user's|their|each|values?|contents?|of|stored)\s+)*{_SECRET_WORDS}
        (?:\s+(?:that\s+)?you\s+\w+)?\s+(?:\w+\s+){{0,2}}?to\s+(?:\w+\s+){{0,3}}?{ADDRESS}""",
    ),
    sign(
        "an order to send a secret away",
        "value",
        rf"\b(?:send|post|upload|forward|transmit|submit)\s+the\s+values?\s+of\s+[`$]*(?-i:[A-Z][A-Z0-9_]{{3,}})`?\s+to\s+{ADDRESS}",
    ),
    sign(
        "an order to send a file with secrets away",
        ".env .ssh .npmrc .kube .docker .gnupg .netrc .aws .git-credentials hosts id_rsa id_ed25519",
        rf"""\b(?:send|post|upload|forward|transmit|e-?mail|mail)\b[^\n]{{0,40}}?{_FILES}[^\n]{{0,30}}?\bto\s+{ADDRESS}
        | {_FILES}[^\n]{{0,40}}?\b(?:send|post|upload|forward|transmit|e-?mail|mail)\s+
        (?:it|them|the\s+\w+|its\s+\w+)\s+to\s+{ADDRESS}
        | \bcat\s+\S{{0,60}}?{_FILES}[^\n|]{{0,20}}\|\s*(?:curl|nc|wget)\b
        | \bcurl\b[^\n]{{0,80}}?\s(?:-d|--data(?:-\w+)?|-F|-T)\s*\S{{0,20}}?@\S{{0,60}}?{_FILES}
        | \b(?:base64|encode|zip)\b[^\n]{{0,20}}?{_FILES}[^\n]{{0,40}}?
        \b(?:append|attach|add|send|post|upload)\s+(?:it|them)\b""",
    ),
    sign(
        "an order to hand over the value of a secret",
        "keys key passwords password credential secret token variables",
        rf"""(?<!not\s)(?<!never\s)(?<!n't\s)\b(?:include|append|put|paste|copy|dump|embed|insert)\s+
        (?:(?:all|any|every|the|users?|user's|your|of)\s+){{1,3}}(?:\w+\s+)?{_SECRET_WORDS}(?:\s+(?:that\s+)?you\s+\w+)?\s+
        (?:in|into|to)\s+(?:the|your|each|every|any|an?)\s+(?:\w+\s+)?
        (?:responses?|answers?|reply|summary|commit|comments?|review)\b""",
    ),
)
ALL_ORDERS = (*ORDERS, *_SECRECY, *_OVERRIDES, *_SECRETS_SENT)
"""All signs of text that tells a model to act against its user."""
