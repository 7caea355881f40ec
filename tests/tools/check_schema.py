#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_schema.py SCHEMA FILE...: each JSON file conforms to the schema. Prints a line for each place that does not;
exit 1."""
import json, sys
import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
bad = 0
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    for error in jsonschema.Draft7Validator(schema).iter_errors(document):
        place = "/".join(str(part) for part in error.absolute_path)
        print(f"{path}: {place or 'the document'}: {error.message[:300]}")
        bad = 1
sys.exit(bad)
