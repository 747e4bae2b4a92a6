"""Small documents that the workers of a fleet share: who works, what it cost, which limits hold."""
