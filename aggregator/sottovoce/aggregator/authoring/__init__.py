"""Write surveys: drafts, templates, spreadsheet import and texts for a survey. Uses neither Flask nor HTML."""
