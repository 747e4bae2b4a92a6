"""The server side of the lessons. Everything here works in a scratch folder of one visitor and knows nothing else.

scratch.py     the folders of visitors: who has one, how many, how long
graph.py       lesson 1: the task graph, its files on disk, worker processes (worker.py)
survival.py    lesson 2: a recorded session (recording.py, player.py) at a window, compacted, restarted, handed over
rungs.py       the same session at each rung of the ladder
quiz/          lesson 3: questions, and the experiments that check the answers
sources.py     the code that decided, and its documentation, to be read beside an answer
routes.py      the routes
"""
