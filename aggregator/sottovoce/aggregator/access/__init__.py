"""Who may do what: accounts, roles, keys, sessions, invitations. Respondents have none of these."""
