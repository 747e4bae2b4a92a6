"""What a session teaches: from the words in a log to candidates for memories.

explicit_requests.py  what the user asks to remember, and standing corrections, by rule
utterances.py         who said what in a log, and whether a text is a quotation of the user
candidate.py          something to remember, compared with what is known already
extract.py            what a session taught, with a model and without
"""
