"""The closed world of statements: what every survey says of privacy, and of which surveys it is true."""
