"""Lesson 3. Each answer is checked by the engine: a question names an experiment, and its result is the right answer.

question.py             a question, and what an experiment found
bank.py                 the questions
graph_experiments.py    experiments on a real task graph
session_experiments.py  experiments with the recorded session of the second lesson
own.py                  questions from what the visitor did in the other lessons
quiz.py                 rounds and answers
"""
