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


def schema_with_common(path):
    """The schema with what it refers to in common.schema.json put into it: versions of jsonschema differ in how they look
    for other files."""
    common = json.loads((path.parent / "common.schema.json").read_text())
    schema = json.loads(path.read_text().replace('"common.schema.json#/', '"#/'))
    assert not set(schema["$defs"]) & set(common["$defs"]) or path.name == "report.schema.json"
    schema["$defs"] = {**common["$defs"], **schema["$defs"]}
    return schema


def main():
    schema = schema_with_common(pathlib.Path(sys.argv[1]))
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
