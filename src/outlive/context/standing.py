"""Whether a sentence is a standing instruction: told to the agent, and meant for more than this one change.

Precision comes first. A sentence counts only in forms that are hardly used for anything else: an imperative with a
word that makes it last (always, never, from now on, before every commit …), a prohibition of something general, a
preference of one thing over another, or a rule about all work. Only English is known; the rest is never found.
"""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VERBS = _words(
    """
    abbreviate add address allow amend annotate announce answer apologise apologize apply ask assume attach
    avoid back base be begin block branch break bring build bump bypass call cap catch change check cite clean
    clear close comment commit compare compile confirm consult copy cover create cut declare default delete
    deploy describe disable discard discuss do document downgrade drop edit embed emit enable end ensure exclude
    execute expand explain export expose extract favour favor fetch finish fix follow force format generate get
    give go group guess handle hardcode have hide ignore implement import include indent inline insert install
    introduce invent keep label leave limit link lint list load lock log look make mark measure mention merge
    mock modify move name nest note notify offer omit open optimise optimize order output overwrite paste pass
    pin place prefer prefix present preserve print produce propose provide publish pull push put quote raise
    read rebase recommend refactor refer reference reformat regenerate release rely remember remind remove
    rename repeat replace reply report request rerun reset resolve respond restart restore return reuse revert
    review rewrite round run save say scope search send separate set ship shorten show sign silence simplify
    skip sort speak spell split squash stage start state stay step stick stop store strip structure style
    suggest summarise summarize suppress swallow switch sync tag take talk target tell test think throw touch
    track translate treat trust try turn type uncomment update upgrade use validate verify wait warn work wrap
    write
    """
)
_FORBIDDEN_VERBS = _words(
    """
    abbreviate add amend apologise apologize ask assume block break bump bypass catch change comment commit
    create delete deploy disable downgrade edit expand explain expose force generate guess hardcode ignore
    import include install introduce invent leave log mention merge mock modify open overwrite print publish
    push put rebase refactor reformat rely remove rename repeat reset revert rewrite run silence skip squash
    stage start store summarise summarize suppress swallow touch translate trust upgrade use work write
    """
)
_NEVER_AT_ALL = _words("apologise apologize guess speculate hallucinate")
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']*'(?!\w)")
_FORMS = str.maketrans({"’": "'", "‘": "'", "*": "", "_": " "})
_OPENING = re.compile(
    r"(?:(?:please|pls|plz|kindly|and|but|also|so|just|hey|hi|ok|okay|btw|i think|i guess)\b[\s,:;.!—–-]*|"
    r"(?:alright|oh|well|by the way|fyi|ps|p\.s|note|nb|n\.b|reminder|important|remember|one more thing|"
    r"another thing|"
    r"one rule|rule(?: \w+)?|first(?:ly)?|second(?:ly)?|third(?:ly)?|lastly|finally|again|yes|no|right|great|good|"
    r"perfect|nice|thanks|thank you|i repeat|to be clear|for the record)\s*[,:;.!—–-]+\s*)+"
)
_LABEL = re.compile(
    r"(?!.*\b(?:error|warning|says?|said|told|reads?|wrote|claims?)\b)[^\s:,.]+(?: [^\s:,.]+){0,3}: (?=\S)"
)
_REMINDING = re.compile(
    r"(?:make sure(?: (?:that )?you| to)?|be sure to|ensure (?:that )?you|remember to|remember that you|"
    r"(?:don't|do not) forget to|try to|see to it that you|take care to)\s+"
)
_LASTING = re.compile(
    r"\b(?:from now on|from here on(?: out)?|going forward|moving forward|henceforth|in (?:the )?future|at all times|"
    r"for the rest of (?:this|the|our) (?:session|conversation|project|chat)|until (?:further notice|i (?:say|tell))|"
    r"every (?:single )?time|each time|whenever(?! (?:you (?:like|want|can|are|feel)|possible|it suits))|"
    r"in all cases|without exception|no matter what|"
    r"under (?:no|any) circumstances|unless i (?:say|ask|tell|explicitly)|unless (?:told|asked|instructed)|"
    r"without (?:asking|my (?:ok|okay|approval|permission|consent)|permission|approval|checking with me|"
    r"being asked))\b"
)
_EACH = (
    r"(?:(?:new|future|single|code|public|bug|substantial|non-trivial|larger|big)\s+)?"
    r"(?:commits?|changes?|edits?|push(?:es)?|prs?|pull requests?|merges?|releases?|responses?|answers?|"
    r"repl(?:y|ies)|"
    r"messages?|turns?|steps?|sessions?|tasks?|(?:bug ?)?fix(?:es)?|features?|refactors?|refactorings?|migrations?|"
    r"deploys?|deployments?|branch(?:es)?|reviews?|summar(?:y|ies)|(?:new|public) \w+|"
    r"\w+ you (?:write|add|create|make|touch|change|edit|introduce))\b"
)
_HABIT = re.compile(
    rf"\b(?:(?:on|in|for|after|before|with|at the end of|at the start of|to) (?:every|each|any|all)\s+{_EACH}|"
    r"(?:before|after|when|while) (?:committing|pushing|merging|releasing|deploying|opening a (?:pr|pull request)|"
    r"(?:you|any) (?:commit|push|merge|deploy|release)s?)\b(?! (?:it|this|that|these|those|them)\b))"
)
_ONCE = re.compile(
    r"\b(?:for now|right now|just now|this time|this once|just (?:this )?once|at the moment|for the moment|today|"
    r"tonight|tomorrow|for the time being|as of now|so far|anymore|any more|any longer|no longer|instead of that)\b|"
    r"\b(?:now|yet|then|here|before|again)\W*$"
)
_SPECIFIC = re.compile(
    r"\b(?:it|its|them|this|that|these|those|him|her|here|there|now|yet|the above|the same|the other|"
    r"the following|else|"
    r"the (?:last|first|next|second|previous|new|current|latest|rest)|above|below|we discussed|worry|"
    r"you (?:just|did|made|wrote|suggested|mentioned))\b|:\s*$|#\d+|\bline \d+"
)
_LASTING_THINGS = re.compile(
    r"\bthe (?:main|master|production|prod|release|default|vendor(?:ed)?|generated|public|user's|git|ci|lock ?files?|"
    r"secrets?|credentials|(?:commit |git )?history|internet|network)\b|\bthe \.?[\w-]+/|"
    r"\bthe \w+ (?:folder|directory)\b"
)
_ARTICLE = re.compile(r"\b(?:the|a|an|my|his|their|your)\b")
_ALWAYS = re.compile(
    r"(?:always|never|not ever|under no circumstances|at no point)\b,?\s+(?:ever\s+)?(.*)", re.DOTALL
)
_DO_NOT = re.compile(r"(?:don't|dont|do not)\s+(ever\s+)?(.*)", re.DOTALL)
_YOU = re.compile(
    r"(?:you|we|one)\s+(?:must|should|shall|have to|has to|need to|are to|ought to|will|can|may|are allowed to|"
    r"are expected to|are supposed to)\s+(.*)",
    re.DOTALL,
)
_YOU_NOT = re.compile(
    r"you (?:must not|mustn't|may not|cannot|can't|shall not|are not (?:allowed|permitted) to|should not|"
    r"shouldn't)\s+"
    r"(ever\s+)?(.*)",
    re.DOTALL,
)
_LET_US = re.compile(r"let's (?:always|never) (.*)", re.DOTALL)
_EARLY = re.compile(
    r"(?:answer|reply|respond|speak|talk|write|use|run|commit|ask|name|sign) (?:\S+ )?(?:always|never)\b"
)
_WE = re.compile(
    r"(?:(?:here|in this (?:repo|repository|project|codebase|team)),? )?we (?:always|never) (.*)", re.DOTALL
)
_WHY = re.compile(r"\b(?:but|because|so|which|until|when)\b")
_I = (
    re.compile(r"i(?:'d| would)? (?:want|need|like|expect|prefer)(?: it)?(?: if)? you (?:to )?(?:always|never)\b"),
    re.compile(r"i (?:always|never) want (?:you|to see|to be|any|the|a|an)\b"),
    re.compile(r"i (?:don't|do not) (?:ever )?want (?:you to ever|you ever|any (?:new|more)\b|to ever see)"),
    re.compile(
        r"i (?:strongly |generally |always |usually |much )?prefer (?!the\b|this\b|that\b|it\b)\S.* "
        r"(?:over|to|rather than|instead of) \S"
    ),
    re.compile(
        r"i (?:want|expect|need) .*\b(?:every|each|all) (?:new |future )?"
        r"(?:commit|change|pr|pull request|answer|reply|response|bug ?fix|feature)s?\b"
    ),
)
_WORK = (
    r"(?:code|commits?|commit messages?|tests?|functions?|public functions?|methods?|classes|modules?|files?|prs?|"
    r"pull requests?|branch(?:es)?|branch names?|changes?|comments?|code comments|docs?|docstrings?|documentation|"
    r"names?|variables?|variable names|identifiers?|messages?|log messages?|error messages?|answers?|replies|"
    r"responses?|endpoints?|apis?|queries|migrations?|dependenc(?:y|ies)|imports?|bug ?fix(?:es)?|features?|scripts?|"
    r"summar(?:y|ies)|strings?|user-facing strings?|numbers?|dates?|work)"
)
_RULE = re.compile(
    rf"(?:(?:all|every|each|any|no)\s+(?:of (?:the|your|our) )?(?:\w+ )?{_WORK}\b(?: (?:you|we) \w+)?|"
    rf"(?:new )?{_WORK}|"
    r"everything|nothing)\s+(?:(?:must|shall|has to|have to|needs? to|are to|is to|should)(?: always| never| not)?|"
    r"needs?|(?:always|never) (?:go|get|come|need|use|have|start|end))\s+\S"
)
_RULE_LASTS = re.compile(
    r"^(?:all|every|each|any|no|everything|nothing|new)\b|\b(?:must|always|never|has to|have to|are to|is to)\b"
)
_PREDICTION = re.compile(
    r"\b(?:should|must|has to|have to) (?:now |already |still )?(?:be \w+ing\b|have (?:been|\w+ed)\b|work\b|"
    r"be (?:fine|ok|okay|there|done|fixed|wrong|broken|a|the|renamed|moved|changed|removed|deleted|rewritten|"
    r"converted|migrated|ported|replaced)\b)"
)
_GENERAL = (
    re.compile(r"(?:ask|check with|consult|tell|warn|notify)(?: me)?(?: first)? (?:before|whenever) \S+"),
    re.compile(r"(?:prefer|favou?r) (?!the\b|this\b|that\b|it\b)\S"),
    re.compile(
        r"(?:only ever|use only|stick (?:to|with)|only (?:use|edit|change|touch|run|write|commit|push|work|"
        r"modify|answer|"
        r"reply|respond|speak|import|install|create))\s+\S"
    ),
    re.compile(r"avoid \S"),
    re.compile(
        r"stop (?:using|adding|writing|asking|apologi[sz]ing|committing|pushing|creating|explaining|mocking)\b"
    ),
)
_TOOLS = (
    r"(?:pnpm|npm|yarn|bun|deno|uv|poetry|pip|pipx|conda|ruff|black|mypy|pytest|unittest|jest|vitest|tabs|spaces|"
    r"(?:two|four|2|4) spaces|single quotes|double quotes|(?:british|american) (?:english|spelling)|"
    r"conventional commits|type hints|f-strings|pathlib|rg|ripgrep|fd|make|just|docker|podman|postgres|sqlite|"
    r"async/await|composition|named exports|imperative mood|english|german|metric units)"
)
_TOOL = re.compile(
    rf"use {_TOOLS}\b.*(?:instead of|rather than|,? not|over|and not) \S|use {_TOOLS}(?: for "
    r"(?:all|every|everything|tests|commits|installs?|packages|dependencies|formatting)\b.*)?\W*$"
)
_NO_THINGS = re.compile(
    r"no (?:(?:new|external|third-party|extra|unnecessary|additional|more|direct|inline|default|global|magic|"
    r"wildcard|"
    r"star|commented-out|force|merge|emoji|one-letter|single-letter)[ -])*(?:dependenc(?:y|ies)|packages|"
    r"librar(?:y|ies)|emojis?|mocks?|mocking|push(?:es|ing)?|comments|code|abbreviations|globals?|variables?|names|"
    r"todos?|print(?: statement)?s?|imports?|numbers|exports|styles|commits|co-author\S*(?: \w+)?|"
    r"trailing whitespace|classes|small talk|apologies|filler|summaries|preamble)\b(.*)",
    re.DOTALL,
)
_NO_REPORT = re.compile(
    r"\b(?:are|is|was|were|be|been|found|fail\w*|left|needed|required|yet|so far|in (?:the|this)|changed|work\w*|"
    r"match\w*|for (?:this|that|me)|has|have|to (?:push|fix|show))\b"
)
_MARKERS = (
    r"(?:from now on|from here on(?: out)?|going forward|moving forward|henceforth|in (?:the )?future|at all times|"
    r"without exception|under no circumstances)"
)
_FRONTED = re.compile(
    rf"{_MARKERS}(?:,\s*|\s+)|(?:as a (?:general )?rule|in general|generally|unless i [^,]+|"
    r"unless (?:told|asked) otherwise|(?:when|if) (?:in doubt|unsure|uncertain)|for (?:every|each|"
    r"all) [^,]{1,60}|(?:before|after) (?:every|each|any) [^,]{1,60}|"
    r"(?:before|after|when) (?:committing|pushing|merging|you (?:commit|push|merge))[^,]{0,40}|"
    r"(?:whenever|every time|each time|any ?time) (?:you|we) [^,]{1,80}|"
    r"when (?:you|we) (?!are (?:done|finished|ready)|finish|have (?:time|finished)|get (?:to|there))[^,]{1,80}|"
    r"when (?:writing|adding|committing|editing|changing|creating|naming|refactoring|fixing|reviewing|answering|"
    r"explaining|touching)(?! (?:the|this|that|it)\b)[^,]{0,60}|"
    r"in (?:this|our|the) (?:repo|repository|project|codebase|session)),\s*"
)
_WHEN_YOU_ARE = re.compile(r"when you(?:'re| are) (?:done|finished|ready)")
_FOR_ALL = re.compile(r"(?:you|we|all|every|each|any)\b")
_MAYBE = re.compile(r"\b(?:might|could|may|would|maybe|perhaps|probably|plan to|will|[a-z]+'ll|i'm|i am|i)\b")
_IDIOM = re.compile(
    r"never (?:mind|say never|again\W*$|ever\W*$)|(?:always|never) (?:be )?(?:good|nice|great|a|the|an|so|too|"
    r"been|in|on)\b|"
    r"(?:don't|do not) (?:worry|bother|mind|care|know|think|see|get|understand|like|have|need|want|feel|"
    r"believe|say|be|"
    r"panic|hesitate)\b"
)
_CLAUSE = re.compile(
    r"\s*[;—–→]\s*|\s+-+\s+|,\s+(?:and|but|so|or|also)?\s*|"
    r"\s+(?:and|but)\s+(?=(?:please |also )?(?:always|never|don't|do not)\b)|[.:]\s+"
)
_NOT_MINE = re.compile(
    r"\b(?:said|says|say|told|tells|reads|wrote|claims?|thinks?|docs?|readme|according|asks|asked)\b|"
    r"^(?:when|if|while|once|after|before|until)\b(?! (?:you|i|we)\b)"
)


def is_standing(sentence: str, *, ruled: bool = False) -> bool:
    """Whether a sentence tells how to work from now on. `ruled`: it stands under a heading such as `Rules:`."""
    if sentence.rstrip("\"')*_ ").endswith(("?", "？")):
        return False
    text = _opened(" ".join(_QUOTED.sub("x", sentence.translate(_FORMS)).lower().split()))
    if not text or _IDIOM.match(text):
        return False
    if ruled and _commands(text):
        return True
    if _ONCE.search(_LASTING.sub("", text)):
        return False
    return _main_clause(text) or _behind_a_marker(text) or any(map(_further_clause, _further_clauses(text)))


def _opened(text: str) -> str:
    """Without what only leads up to it: thanks, please, `Style:` …"""
    for _ in range(3):
        for form in (_OPENING, _LABEL):
            if found := form.match(text):
                text = text[found.end() :]
    return text.strip()


def _is_verb(text: str) -> bool:
    """Whether a text begins with a verb as commands use it."""
    return text.partition(" ")[0].strip(".,!:;").rpartition("-")[2] in _VERBS


def _commands(text: str) -> bool:
    """An imperative, with or without a word that makes it last, or a rule."""
    found = _ALWAYS.match(text) or _DO_NOT.match(text)
    rest = found[found.lastindex or 1] if found else text
    return _is_verb(rest) or text.startswith(("no ", "only ")) or _RULE.match(text) is not None


def _main_clause(text: str) -> bool:
    return _told(text) or _wanted(text) or _about_all_work(text) or _is_general(text)


def _told(text: str) -> bool:
    """An order that lasts."""
    lasts = _LASTING.search(text) is not None or _HABIT.search(text) is not None
    if found := _ALWAYS.match(text) or _LET_US.match(text):
        return _is_verb(found[1])
    if found := _DO_NOT.match(text) or _YOU_NOT.match(text):
        reminded = _REMINDING.match(text)
        return _forbids(found) or (lasts and _is_verb(text[reminded.end() :] if reminded else found[2]))
    if found := _YOU.match(text) or _REMINDING.match(text):
        rest = text[found.end() :] if found.re is _REMINDING else found[1]
        always = _ALWAYS.match(rest)
        return (lasts and _is_verb(rest)) or (always is not None and _is_verb(always[1]))
    if not _is_verb(text):
        return False
    pointed = _LASTING.search(text) is None and _SPECIFIC.search(text) is not None
    return _EARLY.match(text) is not None or (lasts and not pointed)


def _behind_a_marker(text: str) -> bool:
    """`From now on, …`, `whenever you …, …`: what follows has to be an order or a rule."""
    fronted = _FRONTED.match(text)
    if fronted is None or _WHEN_YOU_ARE.match(text):
        return False
    rest = _opened(text[fronted.end() :])
    if _MAYBE.match(rest) or _IDIOM.match(rest):
        return False
    return _commands(rest) or _main_clause(rest) or (_FOR_ALL.match(rest) is not None and not _MAYBE.search(rest))


def _further_clauses(text: str) -> list[str]:
    """What follows on the first clause; nothing that someone else is said to have said."""
    first, *others = _CLAUSE.split(text)
    return [] if _NOT_MINE.search(first) else [_opened(other) for other in others if other]


def _further_clause(text: str) -> bool:
    """A further clause counts only where it is beyond doubt."""
    if found := _ALWAYS.match(text):
        return _is_verb(found[1]) and not _IDIOM.match(text)
    prohibited = _DO_NOT.match(text)
    return prohibited is not None and _forbids(prohibited)


def _forbids(found: re.Match[str]) -> bool:
    """`don't ever …`, or a prohibition of something general: no article, nothing pointed at."""
    ever, rest = found[1], found[2]
    if ever:
        return _is_verb(rest)
    verb, _, thing = rest.partition(" ")
    if verb.strip(".!") in _NEVER_AT_ALL and not thing:
        return True
    if verb not in _FORBIDDEN_VERBS or not thing or _SPECIFIC.search(thing):
        return False
    lasts = any(form.search(thing) for form in (_LASTING, _HABIT, _LASTING_THINGS))
    return lasts or not _ARTICLE.search(thing)


def _is_general(text: str) -> bool:
    """Told without a word that makes it last, yet of a kind that is not about one change."""
    if _SPECIFIC.search(text):
        return False
    if found := _NO_THINGS.match(text):
        return _NO_REPORT.search(found[1]) is None
    if _TOOL.match(text):
        return True
    broad = not _ARTICLE.search(text) or _LASTING_THINGS.search(text) or _LASTING.search(text)
    return bool(broad) and any(form.match(text) for form in _GENERAL)


def _wanted(text: str) -> bool:
    """What the user wants or prefers, and what `we` always do."""
    if any(form.match(text) for form in _I):
        return _SPECIFIC.search(text) is None
    found = _WE.match(text)
    return (
        found is not None
        and found[1].partition(" ")[0].rpartition("-")[2] in _FORBIDDEN_VERBS
        and not _WHY.search(text)
    )


def _about_all_work(text: str) -> bool:
    """`All new code must have tests`: a rule about everything of a kind."""
    found = _RULE.match(text)
    if found is None or _PREDICTION.search(text) or _SPECIFIC.search(text):
        return False
    return _RULE_LASTS.search(found[0]) is not None
