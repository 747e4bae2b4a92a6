"""Reading pages of the web, with the standard library alone.

addresses.py  which hosts may be reached, and their checked addresses
fetch.py      one request and its redirects, bounded in time and size
robots.py     what a site asks robots to leave alone
page_text.py  HTML as readable text
"""
