"""Reports of what is closed, out of the database: written as folders of Parquet, and counted there."""
