"""Words that say nothing about a subject.

`STOP` words occur in every English sentence and are not indexed. `WEAK` words are indexed and can be searched for,
but occur in many prompts to a coding agent ("run it again and show me the file"), so sharing one with an entry does
not make it relevant.
"""

_STOP = """
a about again all am an and any are aren as at be because been being both but by can cannot could couldn d did didn
do does doesn doing don done down each few for from had hadn has hasn have haven having he her here hers herself him
himself his how i if in into is isn it its itself just ll m may me might more most must my myself no nor not of off
on only onto or other our ours ourselves out over own re s same shall she should shouldn so some such t than that
the their theirs them themselves then there these they this those through to too under until up upon us ve very was
wasn we were weren what when where which while who whom whose why will with won would wouldn you your yours yourself
yourselves
"""

_WEAK = """
add after ago already also always another ask back bad before begin best better big bug build call change check
class close code come common continue create day delete difference different easy else end error ever every
everything example explain fail file find fine first fix format function get give go going good great help hey hi
idea issue keep kind know last later let like line list little long look lot make many mean module move much name
need never new next nice nothing now number ok okay old once one open output part people place please point print
problem project put question read really remove right run say script second see set show since small something soon
start still stop sure take talk tell test thank thanks thing think three time today together try turn two update use
used using want way week well word work write wrong year yes yesterday yet
"""

STOP = frozenset(_STOP.split())
WEAK = frozenset(_WEAK.split())
