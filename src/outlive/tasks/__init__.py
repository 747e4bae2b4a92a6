"""The graph of tasks: rules over a store. `TaskGraph` is the way in.

graph.py     the operations; each is one change of the store
rules.py     what a field may hold, and who may do what to a held task
refs.py      what counts as a task id, and what was probably meant when it is not one
shape.py     pure questions about edges: cycles, layers, critical path
listing.py   tasks as text within a token budget
transfer.py  export and import
drawing/     pictures of the graph
"""
