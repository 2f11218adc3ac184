"""The language or script that a text is written in, as far as an encoder needs it. Pure functions, linear time.

A script is recognised by its letters, a language in Latin letters by its function words (articles, pronouns,
prepositions). A text without two of them counts as English, as do names and commands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable
from functools import lru_cache

from octoc.search.words import STOP_WORDS

ENGLISH = "English"
_CHINESE, _JAPANESE, _KOREAN = "Chinese", "Japanese", "Korean"

_SCRIPTS = (
    (0x0000, ENGLISH),
    (0x0370, "Greek"),
    (0x0400, "Cyrillic"),
    (0x0530, "Armenian"),
    (0x0590, "Hebrew"),
    (0x0600, "Arabic"),
    (0x0900, "Devanagari"),
    (0x0980, "Bengali"),
    (0x0A00, "another Indic script"),
    (0x0B80, "Tamil"),
    (0x0C00, "another Indic script"),
    (0x0E00, "Thai"),
    (0x0E80, "Lao"),
    (0x0F00, "Tibetan"),
    (0x1000, "Burmese"),
    (0x10A0, "Georgian"),
    (0x1100, _KOREAN),
    (0x1200, "Ethiopic"),
    (0x1400, "another script"),
    (0x1780, "Khmer"),
    (0x1800, "another script"),
    (0x1E00, ENGLISH),
    (0x1F00, "Greek"),
    (0x2000, ENGLISH),
    (0x2E80, _CHINESE),
    (0x3040, _JAPANESE),
    (0x3100, _CHINESE),
    (0x3130, _KOREAN),
    (0x3190, _CHINESE),
    (0x31F0, _JAPANESE),
    (0x3200, _CHINESE),
    (0xA000, "another script"),
    (0xA720, ENGLISH),
    (0xA800, "another script"),
    (0xAC00, _KOREAN),
    (0xD800, "another script"),
    (0xF900, _CHINESE),
    (0xFB00, ENGLISH),
    (0xFB1D, "Hebrew"),
    (0xFB50, "Arabic"),
    (0xFF00, ENGLISH),
    (0xFF66, _JAPANESE),
    (0xFFA0, _KOREAN),
    (0xFFE0, "another script"),
    (0x1D400, ENGLISH),
    (0x1D800, "another script"),
    (0x20000, _CHINESE),
)
"""The first character of each range of Unicode, and its script; Latin letters are English until words say more."""
_STARTS = tuple(start for start, _ in _SCRIPTS)
_FIRST_OTHER = _STARTS[1]

_WORTH = {_CHINESE: 3, _JAPANESE: 2, _KOREAN: 2}
"""The number of Latin letters that one character of a script says as much as; 1 for other scripts."""

_TABLE = """
German: der das und ist nicht ich du wir sie ein eine einen einem einer mit für auf dem des von zu im kannst
  bitte mir mich dir uns wie wann welche welcher noch auch wenn dass schon nach zur zum haben habe sind mein
  meine meinen unser unsere dein sich oder aber heute es hier wurde wird kann soll muss gibt vom beim alle als
  ob
French: le la les des du une est et je tu il elle nous vous ils pas ne que qui pour dans avec sur au aux ce
  cette ces mon ma mes notre nos votre vos leur moi toi se sont ont avez peux peut quel quelle quels où comment
  mais ou donc puis été d'un d'une l'on j'ai c'est qu'il n'est s'il de en encore tout tous y
Spanish: el la los las del un una es y que en por para con se lo le les mi mis tu su sus nos me yo está están
  hay qué cómo cuándo cuánto dónde cuál este esta estos ese esa muy más pero o si al no ya fue son tiene quiero
  necesito puedes puede de como todo todos ha
Portuguese: o os as um uma uns é e que em por para com se do da dos das no na nos nas ao aos à meu minha seu sua
  não está estão há quê onde quando qual quais este esta esse essa isso muito mais mas ou já foi são tem quero
  preciso pode você eu ele ela de como me pelo pela
Italian: il lo la gli le un una è e che di del della dei delle in per con su si mi ti ci mio mia tuo suo non
  sono hai ha ho questo questa quello dove quando quale come più ma o anche al alla nel nella dal dalla vorrei
  puoi posso
Dutch: de het een en is niet ik je jij wij we zij van voor met op dat die naar te mijn ons onze deze dit wat hoe
  waar wanneer welke kun kan wil moet hebben heeft zijn er ook nog maar of als bij uit aan om
Polish: i w z na do nie się jest to że jak co mi mnie ja ty on ona my mój moja moje dla od po za czy gdzie kiedy
  który która tego tej są mam masz proszę już tylko ale o przez
Turkish: bir ve bu şu ben sen biz için ile ne nerede zaman mi mu mü değil var yok çok daha ama gibi
  kadar bana beni benim sana olan olarak lütfen her de da
Swedish: och att det är en ett inte jag du vi han hon på för med av till den som om hur vad när var min mitt
  mina kan ska vill har hade från eller men också
Danish or Norwegian: og at det er en et ikke jeg du vi han hun på for med av af til den som om hvordan hva hvad
  når hvor min mitt mit mine kan skal vil har hadde havde fra eller men også
Finnish: ja on ei se että minä sinä hän me te olen olet oli mitä missä miten kun mutta tai myös voi voisitko
  minun sinun tämä
Czech: a je se na v do že jak co mi já ty on ona my můj moje pro od po za kde kdy který která jsou mám máš
  prosím už jen ale nebo by
Romanian: și este nu că ce cum în la cu pe de un o mi îmi te se sunt am ai pentru din unde când care meu mea
  vreau poți sau dar mai
Hungarian: a az egy és hogy nem is van mi mit hogyan hol mikor melyik én te ő meg el ezt azt kell lehet nekem ez
  vagy de csak már
Vietnamese: là của và có không tôi bạn cho với này đó được những các một như thế nào khi ở trong đã sẽ hãy giúp
Indonesian: yang dan di ke dari ini itu untuk dengan saya anda kamu tidak ada apa bagaimana kapan mana akan
  sudah bisa tolong atau juga
Hindi in Latin letters: hai hain hoon ho tha thi main mein mujhe mera meri hum aap tum kya kyun kaise kab kahan
  nahi nahin ka ki ke ko se aur par bahut karo kar raha rahe rahi aaj kal
"""
_FUNCTION_WORDS = {
    language: frozenset(words.split())
    for language, words in re.findall(r"^(\w.*?): (.*(?:\n +.*)*)", _TABLE, re.MULTILINE)
}
_ENGLISH = STOP_WORDS | {
    "one",
    "two",
    "up",
    "out",
    "over",
    "more",
    "most",
    "make",
    "get",
    "give",
    "see",
    "show",
    "find",
}
_EVERY = _ENGLISH.union(*_FUNCTION_WORDS.values())
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_PART = re.compile(r"[^\W\d_]{2,}")
_BEGINNING = 5
_ACCENTED = re.compile(r"[\u00e0-\u024f\u1ea0-\u1eff]")
_FEWEST = 2
"""The fewest signs of a language: function words, and one for a lower-case word with accents."""


def script_of(text: str) -> str:
    """Return the script that most of a text's letters are in; `English` for Latin letters and for none."""
    if text.isascii() or ord(max(text)) < _FIRST_OTHER:
        return ENGLISH
    weights: dict[str, int] = {}
    for char in text:
        if char.isalpha():
            script = _script(char)
            weights[script] = weights.get(script, 0) + _WORTH.get(script, 1)
    if _JAPANESE in weights:  # Japanese has Chinese characters too
        weights[_JAPANESE] += weights.pop(_CHINESE, 0)
    return max(weights, key=weights.__getitem__, default=ENGLISH)


@lru_cache(maxsize=64)
def language_of(text: str) -> str:
    """Return the script of a text, or for Latin letters its language, by its English name; `English` if unknown."""
    script = script_of(text)
    if script != ENGLISH:
        return script
    spoken = _WORD.findall(text)
    found = [word.lower().replace("’", "'") for word in spoken]
    distinct = set(found)
    accents = any(word[0].islower() and _ACCENTED.search(word) for word in spoken)
    counts = {name: len(distinct & words) for name, words in _FUNCTION_WORDS.items()}
    best = max(counts, key=counts.__getitem__)
    signs = counts[best] + accents
    is_other = counts[best] > 0 and signs >= _FEWEST and signs > len(distinct & _ENGLISH)
    return best if is_other else ENGLISH


def languages_of(groups: Iterable[Collection[str]]) -> tuple[str, ...]:
    """Return the languages in which at least half of the groups of texts have one, sorted, without English."""
    spoken = [{language_of(text) for text in texts} for texts in groups]
    every = {language for languages in spoken for language in languages} - {ENGLISH}
    return tuple(sorted(name for name in every if 2 * sum(name in languages for languages in spoken) >= len(spoken)))


def shares_word(text: str, others: Iterable[str]) -> bool:
    """Return whether a text shares a word with one of the others, by its first letters, function words aside."""
    beginnings = _beginnings(text)
    return any(beginnings & _beginnings(other) for other in others)


def _beginnings(text: str) -> set[str]:
    return {word[:_BEGINNING] for word in _PART.findall(text.lower()) if word not in _EVERY}


def letters_in(text: str) -> int:
    """Return the number of non-blank characters, where one that stands for a syllable or a word counts 2 or 3."""
    length = sum(map(len, text.split()))
    if text.isascii():
        return length
    return length + sum(_WORTH.get(_script(char), 1) - 1 for char in text if ord(char) >= _FIRST_OTHER)


def _script(char: str) -> str:
    return _SCRIPTS[bisect_right(_STARTS, ord(char)) - 1][1]
