"""Test running code against the privacy that is claimed for it; knows neither devices nor surveys' owners.

branching   takes every branch of a randomizer, so that its distribution is computed and not sampled
channels    holds such a distribution, and the survey's integers, against the mechanism and its epsilon
bound       from counts to a lower bound on epsilon that is wrong with probability alpha at most
"""
