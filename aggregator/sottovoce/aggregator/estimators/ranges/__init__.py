"""Parts of the estimates from reports of ranges (square wave): bins, and likelihood ratio tests of their shares."""
