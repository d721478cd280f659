"""Results for analysts: from a file, a folder of files, a database, or the address of an aggregator."""
