"""Tests of what we give to people who write tests."""
