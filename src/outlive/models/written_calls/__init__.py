"""Tool calls that weak models write as text: their forms and markers, and how they are read."""
