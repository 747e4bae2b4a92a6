"""The task graph: rules over a store. `TaskGraph` is the entry point.

graph.py     the operations; each is one transaction of the store
rules.py     valid field values, and who may act on a claimed task
queries.py   find and lock tasks, say why none is ready; example.py a plan to show
refs.py      parsing of task ids, with suggestions for a wrong one
shape.py     pure graph algorithms: cycles, layers, critical path
listing.py   tasks as text within a token budget
transfer.py  export and import
drawing/     pictures of the graph
"""
