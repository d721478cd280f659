"""What can only run where another program is."""

from tests import nginx

# Elsewhere tests/unit/test_deploy.py reads what would be run.
collect_ignore = [] if nginx.program() else ["test_proxy.py", "test_relay.py"]
