"""From an idea to a survey: templates, spreadsheets, and the texts that go with a survey; no Flask, no HTML."""
