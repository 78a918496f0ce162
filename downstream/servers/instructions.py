"""How many instructions callgrind has counted in a library, and with those of the C library that it calls: instructions.py FILE LIBRARY"""
import re
import sys


def count(path, library):
    names = {}

    def named(match):
        """The name of a numbered object, which is written only once."""
        if match[2]:
            names[match[1]] = match[2].strip()
        return names[match[1]]

    inside, callee, call, own, called = False, None, False, 0, 0
    for line in open(path):
        if match := re.match(r"ob=\((\d+)\)(?: (.*))?", line):
            inside = named(match) == library
        elif match := re.match(r"cob=\((\d+)\)(?: (.*))?", line):
            callee = named(match)
        elif line.startswith("calls="):
            call = True
        elif line[0] in "0123456789+-*":
            if inside:
                cost = int(line.split()[1])
                if not call:
                    own += cost
                elif callee and "/libc.so" in callee:
                    called += cost
            if call:
                call, callee = False, None
    return own, own + called


print(*count(*sys.argv[1:]))
