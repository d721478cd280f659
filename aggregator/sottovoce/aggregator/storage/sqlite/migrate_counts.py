"""From counts that held their shown figure beside them, and a count of the whole, to cells of one cohort each.

They read ``former_cells`` and ``former_counts`` and fill the new tables. Nothing is shown that was not shown: where
there are cohorts, the whole is from now on the sum of what they show, which is at most what it was.
"""

# Every report of a survey that has cohorts is in one of them, so that their sum is the whole.
_KEPT = """
    (f.cohort >= 0 OR NOT EXISTS (
        SELECT 1 FROM former_cells c WHERE c.survey = f.survey AND c.wave = f.wave AND c.cohort >= 0
    ))
"""

MOVE_COUNTS = tuple(
    statement.replace("{kept}", _KEPT)
    for statement in (
        """
        INSERT INTO cells (survey, wave, cohort, slot, arrived, withdrawn)
        SELECT survey, wave, cohort, 0, reports + withdrawn, withdrawn FROM former_cells f WHERE {kept}
        """,
        """
        INSERT INTO counts (survey, wave, cohort, question, value, slot, reports)
        SELECT survey, wave, cohort, question, value, 0, reports FROM former_counts f WHERE {kept}
        """,
        """
        INSERT INTO shown_cells (survey, wave, cohort, arrived, withdrawn, at_close)
        SELECT survey, wave, cohort, shown_reports + shown_withdrawn, shown_withdrawn,
               CASE WHEN closed_on IS NULL THEN NULL ELSE shown_reports END
        FROM former_cells f JOIN surveys ON key = survey
        WHERE {kept} AND (closed_on IS NOT NULL OR shown_reports + shown_withdrawn > 0)
        """,
        """
        INSERT INTO shown_counts (survey, wave, cohort, question, value, reports)
        SELECT survey, wave, cohort, question, value, shown FROM former_counts f WHERE {kept} AND shown > 0
        """,
    )
)
