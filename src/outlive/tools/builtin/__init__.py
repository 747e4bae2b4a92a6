"""The tools that every agent has, one a file; `standard.py` lists them."""
