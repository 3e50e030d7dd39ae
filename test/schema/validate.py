#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""validate.py SCHEMA FILE...: every FILE is JSON that the schema accepts; and it refuses what is wrong in an obvious way.
Exit code 77: the validator is not installed."""

import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("validate: the Python package jsonschema is missing (Debian: python3-jsonschema)")
    sys.exit(77)


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failed = False
    for name in sys.argv[2:]:
        document = json.loads(pathlib.Path(name).read_text())
        for error in validator.iter_errors(document):
            failed = True
            print(f"{name}: {error.json_path}: {error.message}")
        for member in schema["required"]:
            broken = {key: value for key, value in document.items() if key != member}
            if validator.is_valid(broken):
                failed = True
                print(f"{name}: the schema accepts it without `{member}`")
    print(f"{len(sys.argv) - 2} documents, {'some do not match' if failed else 'all match'}")
    return 1 if failed or len(sys.argv) < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
