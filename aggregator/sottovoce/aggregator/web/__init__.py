"""What all routes share: problem documents, headers, who may enter, health."""
