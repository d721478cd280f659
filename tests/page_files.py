"""The files of the respondents' page, which a process of tests assembles once: it takes half a second."""

from functools import cache

from sottovoce.client.page import assemble

page_files = cache(assemble)
