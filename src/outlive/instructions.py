"""Detects standing instructions by rule; directives, memories and passes share this one detector.

`standing` quotes the sentences of a message that say how to work from now on. It prefers to miss one rather than
invent one: a sentence counts as a command with a word that makes it last, as a rule about all work of a kind, as a
preference, or as an item under a heading such as `Rules:`. Questions, reported speech, quotes, code, logs and pasted
documents do not count. `instructs` is wider: it tells whether a text instructs at all. English only.

A sentence is first rewritten so that each meaning has one spelling (`_SPELLINGS`: "don't" and "you must not" become
"do not"); the rules are written in those words.
"""

import re

from outlive.sentences import outside_tags, own_lines, sentences

MIN_CHARS, MAX_CHARS = 8, 300
"""Minimum and maximum length of an instruction in characters."""
PASTED, DOCUMENT, HEADINGS = 4_000, 1_200, 3
"""A text of this many characters counts as pasted; so does a shorter one with this many headings."""


def _one_of(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


def _form(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


_VERBS = _one_of(
    r"abbreviate add amend announce answer apologi[sz]e apply ask assume attach avoid base be begin block break "
    r"build bump bypass call catch change check cite clean close comment commit compile confirm consult copy cover "
    r"create cut default delete deploy describe disable do document drop edit enable end ensure exclude execute "
    r"explain export expose extract favou?r fetch finish fix follow force forget format generate get give go group "
    r"guess hallucinate handle hardcode have hide ignore import include indent inline insert install introduce "
    r"invent keep leave limit link lint list load lock log look make mark measure mention merge mock modify move "
    r"name notify omit open order output overwrite paste pin place post prefer present preserve print propose "
    r"provide publish pull push put quote raise read rebase refactor refer reformat regenerate release rely "
    r"remember remind remove rename repeat replace reply report request reset resolve respond restart restore "
    r"return reuse revert review rewrite run save say search send separate set share ship shorten show sign "
    r"silence simplify skip sort speak speculate spell split squash stage start state stay step stick stop store "
    r"strip style suggest summari[sz]e suppress swallow switch tag take talk target tell test think throw touch "
    r"track translate transmit treat trust try turn type update upgrade upload use validate verify wait warn work "
    r"wrap write"
)
_VERB = rf"(?:\w+-)?{_VERBS}(?![\w-])"
_CLOSED = _one_of(
    "a about again all also although am an and any are as at be because been but by can could did do does done "
    "each else even every few first for from had happy has have he her here his how i if in into is it its just "
    "later less like likely many may maybe me might mind more most much must my never next nice no none nor not "
    "nothing of off on once one only or our out over quite really same she should since so some soon such sure "
    "than that the their then there these they this those though to too two under until up us very was we well "
    "were what when where which while who why will with without would yes yet you your able late early good "
    "great enough easy hard seen heard gone made got known knew thought felt found met saw went came said told "
    "going doing being using"
)
"""Words that begin no command."""
_ANY_VERB = rf"(?!{_CLOSED}\b|(?:\w*[^\We]ed|\w{{3,}}ing|\w+ly|\w*[^\Ws]s)\b)[a-z]{{2,}}(?![\w'/.-])"
_OBJECT = r"(?:the|an?|me|my|its?|them|every|no|us|your|our|their|what|only|[a-z]+[^s]s)\b"
_IMPERATIVE = rf"(?:{_VERB}|{_ANY_VERB}(?= {_OBJECT}))"
"""A listed verb, or a word before an object that can hardly be anything else."""
_EVENTS = _one_of(
    r"commit change edit push pr pull.request merge release response answer reply replies message turn step "
    r"session task fix bugfix feature refactor refactoring migration deploy deployment branch review summary "
    r"summaries"
)
_EVENT = rf"(?:(?:new|future|public|bug|big) )?{_EVENTS}(?:e?s)?\b"
_THINGS = _one_of(
    r"code (?:commit|log|error).message test function method class module file (?:branch|variable).name comment "
    r"doc docstring documentation name variable identifier endpoint api query queries dependency dependencies "
    r"import script string number date work"
)
_WORK = rf"(?:{_EVENT}|{_THINGS}(?:e?s)?\b)"
_ACT = (
    r"(?:committing|pushing|merging|releasing|deploying|opening a (?:pr|pull request)|"
    r"(?:you|every) (?:commit|push|merge|deploy|release)s?)\b(?! (?:it|this|that|these|those|them)\b)"
)
_SPELLINGS = tuple(
    (re.compile(rf"\b(?:{forms})(?!\w)"), word)
    for forms, word in (
        (r"from (?:now|here) on(?: out)?|(?:going|moving) forward|in (?:the )?future|next time", "henceforth"),
        (r"at all times|without exception|under any circumstances|until further notice|no matter what", "henceforth"),
        (r"for (?:the rest of (?:this|the|our)|this) (?:session|conversation|chat)", "henceforth"),
        (r"(?:every(?: single)?|each) time|any ?time(?= (?:you|we)\b)", "whenever"),
        (r"each|any(?! (?:more|longer))|all", "every"),
        (r"(?:should|shall)(?: not|n't)", "ought not"),
        (r"mustn't", "must not"),
        (r"don't|dont|you (?:must|may|can|ought) ?not|you can't", "do not"),
        (r"(?:do )?not,? ever|never,? ever|under no circumstances|at no point", "never"),
        (r"you(?:'re| are) not (?:allowed |permitted |supposed )?to", "never"),
        (r"shall|should|ha(?:s|ve) to|needs? to|ought to", "must"),
    )
)

# -- the parts of a sentence

_LEAD = re.compile(
    r"(?:(?:please|pls|kindly|and|but|also|so|just|hey|hi|ok|okay|btw|i think|i guess)\b[\s,:;.!—–-]*|"
    r"(?:alright|oh|well|by the way|fyi|(?:one|another) (?:more )?thing|first|second|finally|again|yes|no|right|"
    r"great|good|perfect|nice|thanks|thank you|to be clear)\s*[,:;.!—–-]+\s*|"
    r"(?:(?:make sure|ensure)(?: that)? you|(?:make sure|be sure|remember|try|take care|do not forget) to|you must|"
    r"it(?:'s| is) (?:very )?important (?:that you|to)|remember that you|"
    r"i(?:'d| would)? (?:want|need|like|expect|prefer)(?: that)? you(?: to)?)\s+(?:must )?)+"
)
_LABEL = re.compile(
    r"(?!.*\b(?:error|warning|says?|said|told|reads?|wrote|claims?)\b)[^\s:,.]+(?: [^\s:,.]+){0,3}: (?=\S)"
)
_CLAUSE = _form(
    r"\s*[;—–→]\s*",
    r"\s+-+\s+",
    r",\s+(?:and|but|so|or|also)?\s*",
    r"[.:]\s+",
    r"\s+(?:and|but)\s+(?=(?:please |also )?(?:always|never|do not)\b)",
)
_REPORTED = _form(
    r"\b(?:said|says?|told|tells|reads|wrote|claims?|thinks?|docs?|readme|according|asks|asked)\b",
    r"^(?:when|if|while|once|after|before|until)\b(?! (?:you|i|we)\b)",
)
_ONCE = _form(
    r"\b(?:(?:for|right|just) now|this (?:time|once)|just once|(?:at|for) the moment|today|tonight|tomorrow)\b",
    r"\bfor (?:a|the) (?:moment|minute|second|while|time being)\b|\bmeanwhile\b",
    r"\b(?:so far|any ?more|(?:any|no) longer)\b",
    r"\b(?:now|yet|then|here|before|again)\W*$",
)
_NO_LONGER = re.compile(r"\b(?:any ?more|any longer)(?=\W*$)")
"""The end of a prohibition that ends a habit; elsewhere these words describe ("it does not work any more")."""
_LASTING = _form(
    r"\bhenceforth\b",
    r"\bever(?=\W*$)",
    r"\bwhenever\b(?! (?:you (?:like|want|can|are|feel)|possible|it suits)\b)",
    r"\b(?:unless|until|only when) i (?:say|ask|tell|explicitly)\b|\bwhen i (?:ask|tell) you to\b",
    r"\bunless (?:told|asked|instructed)\b",
    r"\bwithout (?:asking|checking with me|being asked|(?:my )?(?:ok|okay|approval|permission|consent))\b",
)
_HABIT = _form(
    rf"\b(?:on|in|for|after|before|with|at the (?:end|start) of) every (?:{_EVENT}(?! message)|new \w+)",
    r"\bevery \w+ (?:before |when |after |that )?(?:you|we) (?:\w+ it\b|\w+)",
    rf"\b(?:before|after|when|while) {_ACT}",
)
_FRONT = _form(
    r"henceforth,?\s+",
    r"in (?:this|our|the) (?:repo|repository|project|codebase),?\s+",
    r"(?:as a (?:general )?rule|(?:in )?general(?:ly)?|(?:unless|until) i [^,]+|unless (?:told|asked) otherwise),\s*",
    r"(?:when|if) (?:you(?:'re| are) )?(?:in doubt|not sure|unsure|uncertain),\s*",
    rf"(?:{_HABIT.pattern})[^,]{{0,40}},\s*",
    r"when \w+ing(?! (?:the|this|that|it)\b)[^,]{0,60},\s*",
    r"whenever (?:you|we) [^,]{1,80},\s*",
    r"when (?:you|we) (?!are (?:done|finished|ready)|finish|have (?:time|finished)|get (?:to|there))[^,]{1,80},\s*",
)
"""Phrases that make the command after them last."""
_MAYBE = re.compile(r"\b(?:might|could|may|would|maybe|perhaps|probably|plan to|will|[a-z]+'ll|i)\b")
_POINTED = _form(
    r"\b(?:its?|them|this(?! (?:repo|repository|project|codebase|machine|computer|laptop|"
    r"network|team|house|company|folder|directory)\b)|(?<!thing )that|these|those|him|her)\b",
    r"\b(?:here|there|now|yet|else|above|below|we discussed|you (?:just|did|made|wrote|suggested|mentioned))\b",
    r"\bthe (?:above|same|other|following|last|first|next|second|previous|new|current|latest|rest)\b",
    r":\s*$|#\d+|\bline \d+",
)
"""Phrases that refer to something present, so that the sentence is about that alone."""
_THE = re.compile(r"\b(?:the(?! (?:main|master|production|generated|vendored|public)\b)|an?|my|his|their|your)\b")
_RELATIVE = re.compile(r"\s(?:that|which|who|because|since|so)\s")

# -- what holds from now on

_ALWAYS = _form(
    rf"(?:(?:let's|must) )*(?:always|never),? {_IMPERATIVE}",
    rf"(?:(?:let's|must) )*never,? {_ANY_VERB} (?!(?:to|on|at|with|before|since|in)\b)\S",
    rf"(?:here,? )?we (?:must )?(?:always|never) {_VERB}(?!.*\b(?:but|because|so|which|until|when)\b)",
    r"[\w -]{1,60} must never (?:leave|be (?:committed|shared|uploaded))\b",
)
_DO_NOT = re.compile(
    r"(?:let's )?do not (?!(?:think|get|have|say|be|worry|bother|panic|hurry|understand|know|see|care|believe|want|"
    r"need|hesitate|wait|expect|give|see|mean|seem|look|work|exist)\b)"
    rf"({_VERB}|{_ANY_VERB})(.*)"
)
_COMMAND = _form(rf"(?:let's )?{_VERB}", r"[\w -]+, not \w")
_AFTER_FRONT = _form(_VERB, "no |only |do not ", r"(?:you|we|every)\b(?! (?:have|had|need|get|want|see)\b)")
_RULE = re.compile(
    rf"(?:(?:every|no) (?:of (?:the|your|our) )?(?:[\w-]+ )?{_WORK}(?: (?:you|we) \w+)?|(?:new )?{_WORK}|everything|"
    r"nothing) (?:must|ought|needs?|(?:always|never) (?:go|get|come|need|use|have|start|end)) (?!(?:now |"
    r"already |still )?(?:have (?:been|\w+ed)|work|pass|be (?:\w+ing|\w*named|fine|ok|done|green|an?|the|moved|"
    r"changed|removed|fixed))\b)"
)
"""Rules about all work of a kind, and not a prediction (`every test must pass now`)."""
_SUBJECT = (
    r"(?!(?:it|this|that|these|those|there|he|she|they|i|we|you|something|someone|what|which|who|here|so|maybe|access)\b)"
    r"(?!.*\b(?:i|he|she|they)\b)[\w'’./@#* -]{2,60}?"
)
_HAPPENS = _one_of(
    "be have must take matter happen fail see get need care look seem cause hurt break crash exist worry work "
    "pass return throw show appear come feel go cost require affect change"
)
"""Verbs of expectations and bug reports (`tests should not fail`)."""
_PARTICIPLE = (
    r"(?!(?:needed|required|noticed|related|affected|supported|installed|allowed|expected|surprised|confused)\b)"
    r"(?:[a-z]+(?:ed|en|wn|ld|ought)|put|cut|set|read|sent|kept|left|made|run|lost|built|said|shut|spent|done)\b"
)
_TABOO = (
    r"(?:off[ -]limits|out of bounds|taboo|a no-go|(?:strictly )?(?:forbidden|prohibited|banned)|"
    r"not (?:allowed|permitted))"
)
_NOBODY = r"(?:nobody|no ?one|no (?:[\w-]+ ){0,2}[\w-]+)(?: but \w+)?"
_MUST_NOT = r"must (?:not|never)"
_ALLOWED = r"(?:may|(?:is|are) (?:allowed |permitted )?to)"
_FORBIDDEN = _form(
    rf"{_SUBJECT} (?:{_MUST_NOT}|may not|(?:is|are) (?:not|never) to) be {_PARTICIPLE}",
    rf"{_SUBJECT} {_MUST_NOT} (?!{_HAPPENS}\b)[a-z]+ \S",
    rf"(?!the\b)(?:[\w-]+ ){{0,3}}[\w-]+s (?:ought not|may not) (?:be {_PARTICIPLE}|(?!{_HAPPENS}\b)[a-z]+ \S)",
    rf"{_NOBODY} (?:must|{_ALLOWED}) (?!have\b)[a-z]",
    r"nothing (?:goes|leaves|ships)(?: \S+){2,}",
    rf"nothing (?:may|is to) be {_PARTICIPLE}",
    rf"only (?!(?:then|now|this|that|it|he|she|they|you)\b)(?:[\w-]+ ){{1,3}}{_ALLOWED} [a-z]",
    rf"{_SUBJECT} (?:is|are) {_TABOO}\W*(?:$|(?:henceforth|for|without|in|on|at|outside|after|before|unless)\b)",
    rf"it is {_TABOO} to [a-z]",
    r"(?:leave|let) (?!(?:me|us|him|her)\b)\S.{0,60}? (?:alone|untouched|unchanged)\b",
    r"(?:keep (?:your |every )?)?hands? off (?:of )?\S|(?:keep|stay) (?:out of|away from|clear of) \S",
    r"keep (?!(?:going|the|an?|your|me|us|him|her|in|an|on|up|track|\w+ing)\b)"
    r"(?:[\w-]+ ){1,4}(?:in|on|inside|within|under|below|private|secret|confidential|local|offline)\b(?! mind\b)",
    r"keep .{2,60} out of \S",
    r"(?:name|mention|cite|quote|spell|sign|date|label|state) every [\w-]+",
    r"every (?:[\w-]+ ){1,3}must (?!(?:now|already|still|pass|work|have (?:been|\w+ed)|be (?!in|on|at))\b)[a-z]",
)
"""Prohibitions and rules by their structure, whatever the trade: X must not, nobody may, X is off limits."""
_CONDITION = _form(
    r"(?:when|whenever|if|once|as soon as|after|before) (?:an?|someone|somebody|anyone|anybody|nobody|no|"
    r"two|there is (?:an?|no)|nothing)\b(?!.*\b(?:was|were|i)\b)[^,]{2,80},\s*(?:then )?",
    r"(?:before|after|with|at the (?:end|start) of) every [^,]{2,60},\s*",
)
"""Conditions about anything of a kind; what is to be done then is a rule."""
_NOT_BEFORE = re.compile(r"^(?P<thing>[^,]*?)\b(?:before|without)\b \S+ \S")
_MANNER = _form(
    r"(?:ask|check with|consult|tell|warn|notify)(?: me)?(?: first)? (?:before (?:you|we|\w+ing)|whenever)\b",
    r"(?:i (?:\w+ly |always |much )?)?(?:prefer|favou?r) \S.* (?:over|to|rather than|instead of) \S",
    r"(?:answer|reply|respond|speak|talk)(?: me| to me)? in (?!(?:the|this|an?)\b)\w+\W*$",
    r"ask instead of|be (?:more |very )?(?:concise|brief|terse|succinct|direct|precise)\b",
    r"stop (?:\w+ing \S|apologi[sz]ing)",
    r"(?:keep|make|treat|name|format) (?:your |every )?(?:[\w-]+ )?\w+s "
    r"(?:short|small|brief|concise|simple|to|under|below|within|as|after)\b",
    r"i (?:always|never) want (?:you|to see|to be|every|the|an?)\b",
    r"i do not want (?:you to ever|you ever|every|to ever see)\b",
    rf"i (?:want|expect|need) .*\bevery {_EVENT}",
)
"""How to answer, ask and choose: about more than one change by nature."""
_GENERAL = _form(
    rf"(?:only ever|only {_VERB}|use only|stick (?:to|with)|avoid) \S",
    r"use [^,]+?(?: instead of| rather than| over|,? (?:and )?not) \S",
    r"(?:use|follow|prefer) (?:[\w-]+ ){0,2}\w+s\W*$",
    r"(?:use|write|spell|name|format) \S.*\b(?:everywhere|throughout|for everything|(?:for|in) every \w+)",
    rf"write (?:every )?{_WORK} in \S",
    r"no (?!(?:need|problem|idea|worries|way|one|longer|matter|rush|errors?|luck|changes?)\b|.*\b(?:are|is|was|were|"
    r"be|been|found|fail\w*|pass\w*|left|needed|required|changed|cover\w*|work\w*|match\w*|has|have|"
    r"for (?:me|that))\b)\S+(?: \S+){0,7}$",
)
"""Commands that are general unless they name something in particular."""
_ORDER = re.compile(
    r"(?i)(?:^|[.!?;:\n][ \t]*|[-*][ \t]+|\b(?:please|and|but|then|should|must|to|you|we|agents?|assistants?)\s+)"
    r"(?:always|never|must|do not|don't|make sure|be sure|from now on|whenever|when asked|run|execute|use|call|send|"
    r"install|delete|remove|ignore|avoid|prefer|reply|answer|respond|push|commit|open|visit|fetch|download|trust)\b|"
    r"\byou (?:must|should|need to|have to|are required)\b|\bfrom now on\b"
)
"""Any phrase that tells someone to do something."""

_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']*'(?!\w)")
_PLAIN = str.maketrans({"’": "'", "‘": "'", "*": "", "_": " "})
_TITLE = re.compile(r"^#{1,4} \S", re.MULTILINE)
_RULES = re.compile(
    r"(?i)\W*(?:(?:some|my|our|the|a few|these|here are|please|follow|general|project|coding|repo|team|commit|house|"
    r"ground|standing|working)\s+){0,4}(?:rules?|guidelines|conventions|preferences|instructions|orders|standards|"
    r"principles)(?:\s+(?:for|of|in|to|when)\s+(?:\w+\s+){0,2}?(?:repo|repository|project|codebase|session|follow|"
    r"code|commits|team)\b[^.!?]{0,40})?\W*|"
    r"\s*(?:please )?(?:from now on|going forward|always|never|in (?:this|our) \w+)\s*:\s*"
)
"""Headings whose items are rules, whatever their form."""


def standing(text: str) -> tuple[str, ...]:
    """The sentences of a message that say how to work from now on, verbatim."""
    if len(text) > PASTED or (len(text) > DOCUMENT and len(_TITLE.findall(text)) >= HEADINGS):
        return ()
    found: dict[str, None] = {}
    for words, heading in own_lines(outside_tags(text)):
        for sentence in () if _RULES.fullmatch(words) else sentences(words, lines=False):
            if MIN_CHARS <= len(sentence) <= MAX_CHARS and is_standing(sentence, heading=heading):
                found[sentence] = None
    return tuple(found)


def is_standing(sentence: str, *, heading: str = "") -> bool:
    """Whether a sentence, or a list item under a heading, says how to work from now on."""
    if sentence.rstrip("\"')*_ ").endswith(("?", "？")):
        return False
    if heading and _RULES.fullmatch(heading):
        return True
    text = " ".join(_QUOTED.sub("x", sentence.translate(_PLAIN)).lower().split())
    for form, word in _SPELLINGS:
        text = form.sub(word, text)
    if heading.endswith(":") and _LABEL.match(text):  # minutes of a meeting: who said what
        return False
    text = _without_lead(text)
    if _DO_NOT.match(text):
        text = _NO_LONGER.sub("henceforth", text)
    if _ONCE.search(_LASTING.sub("", text)):
        return False
    first, *others = _CLAUSE.split(text)
    further = [] if _REPORTED.search(first) else [_without_lead(clause) for clause in others]
    plain = [clause for clause in further if clause.startswith(("always ", "never ", "do not ", "henceforth"))]
    return any(_holds(clause) or _holds_behind_front(clause) for clause in (text, *plain))


def instructs(text: str) -> bool:
    """Whether a text tells anyone to do anything, once or always."""
    return _ORDER.search(text) is not None or any(map(is_standing, sentences(text)))


def _without_lead(text: str) -> str:
    """The text without its lead-in: thanks, please, `Style:` …"""
    for form in (_LEAD, _LABEL) * 3:
        if found := form.match(text):
            text = text[found.end() :]
    return text.strip()


def _holds(text: str) -> bool:
    """Whether a clause without its lead-in is a standing instruction."""
    if _ALWAYS.match(text):
        return True
    lasts = bool(_LASTING.search(text))
    recurs = lasts or bool(_HABIT.search(text))
    if forbidden := _DO_NOT.match(text):
        return recurs or _forbids_in_general(*forbidden.groups())
    if not lasts and _POINTED.search(_HABIT.sub("", _CLAUSE.split(text)[0])):
        return False
    if _FORBIDDEN.match(text) and not _REPORTED.search(text):
        return True
    if _RULE.match(text) or _MANNER.match(text) or (recurs and _COMMAND.match(text)):
        return True
    return bool(_GENERAL.match(text)) and (lasts or not _THE.search(text))


def _forbids_in_general(verb: str, rest: str) -> bool:
    """Whether "do not" forbids something general: no article, no reference to something present."""
    if late := _NOT_BEFORE.match(rest.strip()):
        thing = late["thing"].strip()
        return verb not in ("stop", "quit", "go") and not (_POINTED.search(thing) or _THE.search(thing))
    if verb in ("stop", "quit", "go"):
        return False
    thing = _RELATIVE.split(_CLAUSE.split(rest)[0])[0].strip(" .!")
    if thing in ("", "anything"):
        return re.fullmatch("apologi[sz]e|guess|speculate|hallucinate", verb) is not None
    return not _POINTED.search(thing) and not _THE.search(thing)


def _holds_behind_front(text: str) -> bool:
    """Whether it begins with a lasting time or a recurring condition and continues with a command or a rule."""
    if (front := _CONDITION.match(text)) and re.match(
        rf"(?:please )?(?:{_IMPERATIVE}|never |do not )", text[front.end() :]
    ):
        return not _ONCE.search(text)
    front = _FRONT.match(text)
    rest = _without_lead(text[front.end() :]) if front else ""
    if not rest or _MAYBE.match(rest):
        return False
    doubtful = rest.startswith(("you ", "we ", "every ")) and _MAYBE.search(rest)
    return _holds(rest) or bool(_AFTER_FRONT.match(rest) and not doubtful)
