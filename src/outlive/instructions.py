"""Standing instructions, found by rule: the one detector that directives, memories and passes share.

`standing` quotes the sentences of a message that say how to work from now on. It misses rather than invents: a
sentence counts as a command with a word that makes it last, as a rule about all work of a kind, as a preference, or
as an item under a heading such as `Rules:`. Questions, reported speech, quotes, code, logs and pasted documents do
not count. `instructs` asks less: whether a text tells anybody to do anything. Only English is known.
"""

import re
from bisect import bisect_left
from collections import defaultdict

from outlive.sentences import sentences

SHORTEST, LONGEST = 8, 300
"""Characters of a sentence that can be an instruction."""
PASTED, DOCUMENT, HEADINGS = 4_000, 1_200, 3
"""Characters: a text this long was pasted and is material, a shorter one with so many headings as well."""
_VERBS = frozenset(
    """
    abbreviate add amend announce answer apologise apologize apply ask assume attach avoid base be begin block break
    build bump bypass call catch change check cite clean close comment commit compile confirm consult copy cover
    create cut default delete deploy describe disable do document drop edit enable end ensure exclude execute explain
    export expose extract favor favour fetch finish fix follow force forget format generate get give go group guess
    handle hardcode have hide ignore import include indent inline insert install introduce invent keep leave limit
    link lint list load lock log look make mark measure mention merge mock modify move name notify omit open order
    output overwrite pin place prefer present preserve print propose provide publish pull push put quote raise read
    rebase refactor refer reformat regenerate release rely remember remind remove rename repeat replace reply report
    request reset resolve respond restart restore return reuse revert review rewrite run save say search send separate
    set ship shorten show sign silence simplify skip sort speak spell split squash stage start state stay step stick
    stop store strip style suggest summarise summarize suppress swallow switch tag take talk target tell test think
    throw touch track translate treat trust try turn type update upgrade use validate verify wait warn work wrap write
    """.split()
)
_ALONE = frozenset({"apologise", "apologize", "guess", "speculate", "hallucinate"})
"""Verbs whose prohibition is general without an object."""
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']*'(?!\w)")
_SPELLED = str.maketrans({"’": "'", "‘": "'", "*": "", "_": " "})
_LEAD = re.compile(
    r"(?:(?:please|pls|kindly|and|but|also|so|just|hey|hi|ok|okay|btw|i think|i guess)\b[\s,:;.!—–-]*|(?:alright|oh|"
    r"well|by the way|fyi|(?:one|another) (?:more )?thing|first|second|finally|again|yes|no|right|great|good|perfect|"
    r"nice|thanks|thank you|to be clear)\s*[,:;.!—–-]+\s*)+"
)
_LABEL = re.compile(
    r"(?!.*\b(?:error|warning|says?|said|told|reads?|wrote|claims?)\b)[^\s:,.]+(?: [^\s:,.]+){0,3}: (?=\S)"
)
_DUTY = re.compile(
    r"(?:make sure(?: (?:that )?you| to)|be sure to|ensure (?:that )?you|(?:remember|try|take care) to|"
    r"remember that you|(?:don't|do not) forget to|it(?:'s| is) (?:very )?important (?:that you|to)|let's|i(?:'d|"
    r" would)? (?:want|need|like|expect|prefer)(?: it)?(?: if| that)? you(?: to)?|(?:you|we) (?:must|should|shall|"
    r"have to|need to|are to|ought to|will|can|may|are (?:expected|supposed|allowed) to))\s+"
)
_ALWAYS = re.compile(r"(?:always|never|not ever|under no circumstances|at no point)\b,?\s+(?:ever\s+)?")
_DO_NOT = re.compile(r"(?:don't|dont|do not|not)\s+(ever\s+)?")
_MAY_NOT = re.compile(
    r"you (?:(?:must|may|shall|should) not|mustn't|cannot|can't|shouldn't)\s+(ever\s+)?|you(?:'re|"
    r" are) not (?:allowed|permitted) to\s+"
)
_FROM_NOW = (
    r"(?:from (?:now|here) on(?: out)?|(?:going|moving) forward|henceforth|in (?:the )?future|next time|at all times|"
    r"without exception|under (?:no|any) circumstances|for (?:the rest of (?:this|the|our)|this) (?:session|"
    r"conversation|chat))"
)
_MARKER = re.compile(_FROM_NOW)
_LASTING = re.compile(
    rf"\b(?:{_FROM_NOW}|until (?:further notice|i (?:say|tell))|(?:every(?: single)?|each) time|"
    r"ever(?=\W*$)|no matter what|whenever(?! (?:you (?:like|want|can|are|feel)|possible|it suits))|(?:unless|"
    r"only when) i (?:say|ask|tell|explicitly)|when i (?:ask|tell) you to\b|unless (?:told|asked|instructed)|"
    r"without (?:asking|checking with me|being asked|(?:my )?(?:ok|okay|approval|permission|consent)))\b"
)
_EVENT = (
    r"(?:(?:new|future|single|public|bug|larger|big) )?(?:commit|change|edit|push(?:e)?|pr|pull request|merge|"
    r"release|response|answer|repl(?:y|ie)|message|turn|step|session|task|(?:bug ?)?fix(?:e)?|feature|"
    r"refactor(?:ing)?|migration|deploy|deployment|branch(?:e)?|review|summar(?:y|ie))s?\b"
)
_WORK = (
    rf"(?:{_EVENT}|(?:code|(?:commit|log|error) message|test|function|method|classe|module|file|(?:branch|"
    rf"variable) name|"
    r"comment|doc|docstring|documentation|name|variable|identifier|endpoint|api|querie|dependenc(?:y|ie)|import|"
    r"script|string|number|date|work)s?\b)"
)
_HABIT = re.compile(
    rf"\b(?:(?:on|in|for|after|before|with|at the (?:end|start) of) (?:every|each|any|all) (?:{_EVENT}(?! message)|"
    rf"new \w+)|"
    r"(?:every|each|any) \w+ (?:before |when |after |that )?(?:you|we) (?:\w+ it\b|\w+)|(?:before|after|when|"
    r"while) (?:committing|pushing|merging|releasing|deploying|opening a (?:pr|pull request)|(?:you|any) (?:commit|"
    r"push|merge|deploy|release)s?)\b(?! (?:it|this|that|these|those|them)\b))"
)
_ONCE = re.compile(
    r"\b(?:for now|(?:right|just) now|this (?:time|once)|just once|(?:at|for) the moment|today|tonight|tomorrow|"
    r"for the time being|so far|any ?more|any longer|no longer|instead of that)\b|\b(?:now|yet|then|here|before|"
    r"again)\W*$"
)
_POINTED = re.compile(
    r"\b(?:its?|them|this(?! (?:repo|repository|project|codebase)\b)|that|these|those|him|her|here|there|now|yet|"
    r"else|above|below|we discussed|the (?:above|same|other|following|last|first|next|second|previous|new|current|"
    r"latest|rest)|you (?:just|did|made|wrote|suggested|mentioned))\b|:\s*$|#\d+|\bline \d+"
)
_THE = re.compile(r"\b(?:the(?! (?:main|master|production|generated|vendored|public)\b)|an?|my|his|their|your)\b")
_RELATIVE = re.compile(r"\s(?:that|which|who|because|since|so)\s")
_CLAUSE = re.compile(
    r"\s*[;—–→]\s*|\s+-+\s+|,\s+(?:and|but|so|or|also)?\s*|[.:]\s+|\s+(?:and|but)\s+(?=(?:please |also )?(?:always|"
    r"never|don't|do not)\b)"
)
_ASKS = re.compile(r"(?:can|could|would|will|do|does|did|is|are|should) (?:you|we|i|it)\b")
_NOT_MINE = re.compile(
    r"\b(?:said|says?|told|tells|reads|wrote|claims?|thinks?|docs?|readme|according|asks|asked)\b|^(?:when|if|while|"
    r"once|after|before|until)\b(?! (?:you|i|we)\b)"
)
_IDIOM = re.compile(r"never (?:mind|(?:again|ever)\W*$)|(?:don't|do not) (?:think|get|have|say|be)\b")
_FRONTED = re.compile(
    rf"{_FROM_NOW}(?:,\s*|\s+)|in (?:this|our|the) (?:repo|repository|project|codebase),?\s+|"
    rf"(?:as a (?:general )?rule|"
    r"(?:in )?general(?:ly)?|(?:unless|until) i [^,]+|unless (?:told|asked) otherwise|(?:when|if) (?:you(?:'re|"
    r" are) )?(?:in doubt|not sure|unsure|uncertain)|"
    rf"(?:for|before|after|on) (?:every|each|any|all) {_EVENT}[^,]{{0,40}}|"
    r"(?:before|after|when) (?:committing|pushing|merging|you (?:commit|push|merge))[^,]{0,40}|(?:whenever|"
    r"every time|each time|any ?time) (?:you|we) [^,]{1,80}|when \w+ing(?! (?:the|this|that|it)\b)[^,]{0,60}|"
    r"when (?:you|we) (?!are (?:done|finished|ready)|finish|have (?:time|finished)|get (?:to|there))[^,]{1,80}),\s*"
)
_MAYBE = re.compile(r"\b(?:might|could|may|would|maybe|perhaps|probably|plan to|will|[a-z]+'ll|i'm|i am|i)\b")
_EVERYONE = re.compile(r"(?:you|we|all|every|each|any)\b(?! (?:have|had|need|get|want|see)\b)")
_WE = re.compile(r"(?:here,? )?we (?:always|never) (?!.*\b(?:but|because|so|which|until|when)\b)(.*)")
_RULE = re.compile(
    rf"(?:(?:all|every|each|any|no) (?:of (?:the|your|our) )?(?:[\w-]+ )?{_WORK}(?: (?:you|we) \w+)?|"
    rf"(?:new )?{_WORK}|"
    r"everything|nothing) (?:(?:must|shall|has to|have to|needs? to|are to|is to|should)(?: always| never| not)?|"
    r"needs?|(?:always|never) (?:go|get|come|need|use|have|start|end)) \S"
)
_PREDICTED = re.compile(
    r"\b(?:should|must) (?:now |already |still )?(?:have (?:been|\w+ed)|work|pass|be (?:\w+ing|fine|ok|done|green|"
    r"an?|the|(?:re)?named|moved|changed|removed|fixed|rewritten|converted|replaced))\b"
)
_GENERAL = re.compile(
    r"(?:only ever|use only|stick (?:to|with)|avoid|only (?:use|edit|change|touch|run|write|commit|push|work|modify|"
    r"answer|reply|import|install|create)) \S|use [^,]+?(?: instead of| rather than| over|,? (?:and )?not) \S|(?:use|"
    r"follow|prefer|favou?r) (?:[\w-]+ ){0,2}\w+s\W*$|(?:use|write|spell|name|format) \S.*\b(?:everywhere|throughout|"
    r"for everything|(?:for|in) (?:all|every|any) \w+)|"
    rf"write (?:all |every )?{_WORK} in \S"
)
"""Commands about more than one change, where they name nothing in particular."""
_MANNER = re.compile(
    r"(?:ask|check with|consult|tell|warn|notify)(?: me)?(?: first)? (?:before (?:you|we|\w+ing)|whenever)\b|"
    r"(?:i (?:\w+ly |always |much )?)?(?:prefer|favou?r) \S.* (?:over|to|rather than|instead of) \S|"
    r"i prefer that you \S|(?:answer|reply|respond|speak|talk)(?: me| to me)? in (?!the\b|this\b|an?\b)\w+\W*$|"
    r"be (?:more |very )?(?:concise|brief|terse|succinct|direct|precise)\b|(?:keep|make|treat|name|format) (?:your |"
    r"all )?(?:[\w-]+ )?\w+s (?:short|small|brief|concise|simple|to|under|below|within|as|after)\b|stop (?:\w+ing \S|"
    r"apologi[sz]ing)|i (?:always|never) want (?:you|to see|to be|any|the|an?)\b|i (?:don't|"
    r"do not) (?:ever )?want (?:you to ever|you ever|any|to ever see)\b|"
    rf"i (?:want|expect|need) .*\b(?:every|each|all) {_EVENT}"
)
"""How to answer, to ask and to choose: about more than one change by its nature."""
_NO_SUCH = re.compile(
    r"no (?!(?:need|problem|idea|worries|way|one|longer|matter|rush|errors?|luck|changes?)\b|.*\b(?:are|is|was|were|"
    r"be|been|found|fail\w*|pass\w*|left|needed|required|changed|cover\w*|work\w*|match\w*|has|have|for (?:me|"
    r"that))\b)(?:\S+ ?){1,8}$"
)
_CHOICE = re.compile(r"[\w -]+, not [\w -]+")
_ORDER = re.compile(
    r"(?i)(?:^|[.!?;:\n][ \t]*|[-*][ \t]+|\b(?:please|and|but|then|should|must|to|you|we|agents?|assistants?)\s+)"
    r"(?:always|never|must|do not|don't|make sure|be sure|from now on|whenever|when asked|run|execute|use|call|send|"
    r"install|delete|remove|ignore|avoid|prefer|reply|answer|respond|push|commit|open|visit|fetch|download|trust)\b|"
    r"\byou (?:must|should|need to|have to|are required)\b|\bfrom now on\b"
)
_OPENING, _CLOSING = re.compile(r"<([A-Za-z][\w:-]*)(?![\w:-])[^<>]*>"), re.compile(r"</([A-Za-z][\w:-]*)>")
_TITLE = re.compile(r"^#{1,4} \S", re.MULTILINE)
_ITEM = re.compile(r"\s*(?:[-*+•–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+(?:\[[ xX]\]\s+)?")
_MATERIAL = re.compile(
    r"\s*(?:[>|`<\[{$]|#(?!#*\s)|\w+:\s*error\b|(?:error|warning|traceback)\b|\d+[:|]|\S+:\d+:)|"
    r"(?: {4}|\t)\s*(?![-*+•\d(])",
    re.IGNORECASE,
)
"""How lines of quotes, tables, code, shells and logs begin."""
_GOES_ON = re.compile(
    r"\s*(?:in|on|to|of|for|with|without|and|or|but|when|unless|because|that|which|than|the|an?|any|before|after|if|"
    r"by|from|at|as|until|instead|into|not)\b"
)
"""How a line goes on with the sentence of the line before it."""
_RULES = re.compile(
    r"\W*(?:(?:some|my|our|the|a few|these|here are|please|follow|general|project|coding|repo|team|commit|house|"
    r"ground|standing|working)\s+){0,4}(?:rules?|guidelines|conventions|preferences|instructions|orders|standards|"
    r"principles)(?:\s+(?:for|of|in|to|when)\s+(?:\w+\s+){0,2}?(?:repo|repository|project|codebase|session|follow|"
    r"code|commits|team)\b"
    r"[^.!?]{0,40})?\W*|\s*(?:please )?(?:from now on|going forward|always|never|in (?:this|our) \w+)\s*:\s*",
    re.IGNORECASE,
)
"""A heading whose items are rules, whatever their form."""


def standing(text: str) -> tuple[str, ...]:
    """The sentences of a message that say how to work from now on, each exactly as it was written."""
    if len(text) > PASTED or (len(text) > DOCUMENT and len(_TITLE.findall(text)) >= HEADINGS):
        return ()
    found: dict[str, None] = {}
    for words, heading in _paragraphs(outside_tags(text)):
        for sentence in sentences(words, lines=False):
            if SHORTEST <= len(sentence) <= LONGEST and is_standing(sentence, heading=heading):
                found[sentence] = None
    return tuple(found)


def is_standing(sentence: str, *, heading: str = "") -> bool:
    """Whether a sentence says how to work from now on. `heading` (`rules` or `other`): what it is an item under."""
    if sentence.rstrip("\"')*_ ").endswith(("?", "？")):
        return False
    if heading == "rules":
        return True
    text = _led(" ".join(_QUOTED.sub("x", sentence.translate(_SPELLED)).lower().split()), labels=not heading)
    if _ASKS.match(text) or _ONCE.search(_LASTING.sub("", text)):
        return False
    first, *others = _CLAUSE.split(text)
    further = () if _NOT_MINE.search(first) else filter(None, others)
    return _holds(text) or _behind_marker(text) or any(_surely(_led(clause)) for clause in further)


def instructs(text: str) -> bool:
    """Whether a text tells anybody to do anything, once or always."""
    return _ORDER.search(text) is not None or any(map(is_standing, sentences(text)))


def outside_tags(text: str) -> str:
    """The text without blocks in tags, which were pasted. The time it takes is linear in the length."""
    ends: dict[str, list[int]] = defaultdict(list)
    for closing in _CLOSING.finditer(text):
        ends[closing[1]].append(closing.start())
    kept, done = [], 0
    for opening in _OPENING.finditer(text):
        places = ends.get(opening[1], ())
        at = bisect_left(places, opening.end())
        if at < len(places):
            kept.append(text[done : opening.start()])
            done = max(done, places[at] + len(opening[1]) + len("</>"))
    return "\n".join([*kept, text[done:]])


def _led(text: str, *, labels: bool = True) -> str:
    """The text without what leads up to it: thanks, please, `Style:` …"""
    for _ in range(3):
        for form in (_LEAD, _LABEL) if labels else (_LEAD,):
            if found := form.match(text):
                text = text[found.end() :]
    return text.strip()


def _verb(text: str) -> str:
    """The verb with which a command begins; nothing if it begins otherwise."""
    word = text.partition(" ")[0].strip(".,!:;")
    return word if word.rpartition("-")[2] in _VERBS else ""


def _holds(text: str) -> bool:
    """Whether a clause, without what leads up to it, is a standing instruction."""
    if _IDIOM.match(text):
        return False
    duty = _DUTY.match(text)
    rest = text[duty.end() :] if duty else text
    if found := _MAY_NOT.match(text):
        return _forbids(text[found.end() :], ever=bool(found[1]), firm=True)
    if found := _ALWAYS.match(rest):
        return bool(_verb(rest[found.end() :]))
    if found := _DO_NOT.match(rest):
        return _forbids(rest[found.end() :], ever=bool(found[1]))
    lasting, habit = _LASTING.search(text), _HABIT.search(text)
    if (lasting or habit) and text.startswith("make sure "):
        return True
    pointed = not lasting and _POINTED.search(_HABIT.sub("", _CLAUSE.split(rest)[0]))
    told = bool(_verb(rest)) and bool(lasting or (habit and not text.startswith("let's ")))
    return not pointed and (told or _is_rule(text) or _is_general(text, rest, lasts=bool(lasting)))


def _is_rule(text: str) -> bool:
    """`All new code must have tests`, `we always squash`: a rule about everything of a kind."""
    we = _WE.match(text)
    return bool(we and _verb(we[1])) or bool(_RULE.match(text) and not _PREDICTED.search(text))


def _is_general(text: str, rest: str, *, lasts: bool) -> bool:
    """Said without a word that makes it last, yet of a kind that is not about one change."""
    particular = not lasts and _THE.search(text)
    bare = not particular and (_GENERAL.match(text) or _NO_SUCH.match(text))
    return bool(_MANNER.match(text) or _MANNER.match(rest) or bare or (lasts and _CHOICE.match(text)))


def _forbids(text: str, *, ever: bool, firm: bool = False) -> bool:
    """Whether what follows a `do not` is something general: no article, nothing pointed at."""
    verb, _, thing = text.partition(" ")
    if not _verb(verb) or ever or _LASTING.search(text) or _HABIT.search(text):
        return bool(_verb(verb))
    thing = _RELATIVE.split(_CLAUSE.split(f" {thing}")[0])[0].strip()
    if thing in ("", "anything"):
        return firm or _verb(verb) in _ALONE
    return not _POINTED.search(thing) and not _THE.search(thing)


def _behind_marker(text: str) -> bool:
    """Whether it begins with a time that lasts or a condition that recurs, and goes on with a command or a rule."""
    marker = _FRONTED.match(text)
    rest = _led(text[marker.end() :]) if marker else ""
    if not rest or _MAYBE.match(rest) or _IDIOM.match(rest):
        return False
    everyone = _EVERYONE.match(rest) and not _MAYBE.search(rest)
    return bool(everyone or _verb(rest)) or rest.startswith(("no ", "only ", "don't ", "do not ")) or _holds(rest)


def _surely(clause: str) -> bool:
    """Whether a further clause of a sentence is a standing instruction beyond doubt."""
    sure = any(form.match(clause) for form in (_ALWAYS, _DO_NOT))
    return (sure and _holds(clause)) or (_MARKER.match(clause) is not None and _behind_marker(clause))


def _is_rest(line: str, before: str) -> bool:
    """Whether a line is the rest of the sentence before it."""
    ended = before.rstrip().endswith(tuple(".!?:;。！？"))
    return not ended and _GOES_ON.match(line) is not None and not _MATERIAL.match(line.lstrip())


def _paragraphs(text: str) -> list[tuple[str, str]]:
    """The user's lines, wrapped ones joined, without list marks, quotes, code and logs; with each the kind of heading
    (`rules`, `other`) that it is an item under, if any."""
    found: list[tuple[str, str]] = []
    heading, fenced, goes_on = "", False, False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced, goes_on = not fenced, False
        elif fenced or not line.strip():
            goes_on = False
        elif goes_on and _is_rest(line, found[-1][0]):
            found[-1] = (f"{found[-1][0]}\n{line}", found[-1][1])
        elif _RULES.fullmatch(line):
            heading, goes_on = "rules", False
        else:
            item = _ITEM.match(line)
            words = line[item.end() :] if item else line
            heading = heading if item else "other" if line.rstrip().endswith(":") else ""
            goes_on = not _MATERIAL.match(words)
            if goes_on:
                found.append((words, heading if item else ""))
    return found
