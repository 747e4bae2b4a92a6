"""Pictures of the task graph: pure functions from tasks to text. An arrow points from a task to what waits for it.

terminal.py  a tree and a layered picture for the terminal (channels.py, columns.py draw the latter)
mermaid.py   Mermaid flowchart
dot.py       Graphviz
svg.py       a picture of its own (scene.py lays it out, sheet.py holds its style sheet and symbols)
marks.py     the state of a task, its mark and colours
diagram.py   the edges to draw; grid.py and placing.py the layered layout; text.py measuring and wrapping
"""
