"""From an idea to a survey: drafts, templates, spreadsheets, the texts that go with a survey; no Flask, no HTML."""
