#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validates files that DecodeScope writes against resources/schema, with the jsonschema package.

usage: validate_json.py SCHEMAS [--kind NAME] [--lines] [--damage] FILE...

The kind of a document is NAME, or what its member `schema` says. --lines: every line is a document. --damage: besides, spoil
copies of every document in every place (a member too many, a value of another type, the schema's version) and complain
about those that still pass. Without files: checks the schemas themselves. Prints one line per complaint; exit status 1 if
there is one, 3 when jsonschema is missing.
"""
import argparse
import copy
import json
import pathlib
import sys
import warnings

try:
    warnings.simplefilter("ignore")  # RefResolver: deprecated, but all that Debian 12's version has
    from jsonschema import Draft202012Validator, RefResolver
except ImportError:
    print("the Python package jsonschema is missing (Debian: python3-jsonschema)")
    sys.exit(3)

SUFFIX = ".schema.json"


def load_schemas(folder):
    return {path.name[: -len(SUFFIX)]: json.loads(path.read_text("utf-8")) for path in folder.glob("*" + SUFFIX)}


def kind_of(document):
    """The NAME of "decodescope.NAME/1"; a Chrome trace has it among its other data."""
    if not isinstance(document, dict):
        return None
    schema = document.get("schema", document.get("otherData", {}).get("schema"))
    if not isinstance(schema, str) or not schema.startswith("decodescope.") or not schema.endswith("/1"):
        return None
    return schema[len("decodescope.") : -len("/1")]


def places(value, path=()):
    """(path, shape) of every value in a document; places that differ in an index alone have the same shape."""
    yield path
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], path + (name,))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], path + (index,))


def shape_of(document, path):
    """A place without its indices; of an event of a Chrome trace also what kind of event."""
    shape = tuple("*" if isinstance(step, int) else step for step in path)
    if path[:1] == ("traceEvents",) and len(path) > 1:
        event = document["traceEvents"][path[1]]
        shape += (event["ph"], event.get("cat"), event.get("pid"))
    return shape


def shortened(value):
    """A document with fewer elements in its lists: of those with the same members one stays, and of plain ones two."""
    if isinstance(value, dict):
        return {name: shortened(member) for name, member in value.items()}
    if not isinstance(value, list):
        return value
    kept = {}
    for index, item in enumerate(value):
        plain = not isinstance(item, dict)
        key = min(index, 1) if plain else (tuple(item), item.get("ph"), item.get("cat"), item.get("pid"))
        kept.setdefault(key, item)
    return [shortened(item) for item in kept.values()]


def spoiled(document):
    """Copies of a document with one thing wrong, and what."""
    document = shortened(document)
    seen = set()
    for path in places(document):
        if any(isinstance(step, str) and step.startswith("_") for step in path):
            continue  # a comment
        shape = shape_of(document, path)
        if shape in seen:
            continue
        seen.add(shape)
        name = "/".join(map(str, path))
        wrong = copy.deepcopy(document)
        parent, value = None, wrong
        for step in path:
            parent, value = value, value[step]
        if isinstance(value, dict):
            value["not_a_member"] = 1
            yield f"{name}: a member too many", wrong
        if path:
            other = copy.deepcopy(document)
            parent = other
            for step in path[:-1]:
                parent = parent[step]
            parent[path[-1]] = {"not_a_member": 1}
            yield f"{name}: another type", other
    if isinstance(document, dict) and "schema" in document:
        yield "schema: another version", {**document, "schema": document["schema"][:-1] + "9"}


def open_objects(schema, path="#"):
    """Places of a schema whose objects may have members that it does not name."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object" and "additionalProperties" not in schema:
            yield path
        for name, value in schema.items():
            yield from open_objects(value, f"{path}/{name}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from open_objects(value, f"{path}/{index}")


def check_schemas(schemas):
    for name, schema in sorted(schemas.items()):
        try:
            Draft202012Validator.check_schema(schema)
        except Exception as error:  # pylint: disable=broad-except
            yield f"{name}: {error}"
        for place in open_objects(schema):
            yield f"{name}: {place} does not say additionalProperties"
        const = schema.get("properties", {}).get("schema", {}).get("const")
        if const not in (None, f"decodescope.{name}/1"):
            yield f"{name}: is the schema of {const}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("schemas", type=pathlib.Path)
    parser.add_argument("--kind")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--damage", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    folder = options.schemas.resolve()
    schemas = load_schemas(folder)
    validators = {
        name: Draft202012Validator(schema, resolver=RefResolver(f"{folder.as_uri()}/{name}{SUFFIX}", schema))
        for name, schema in schemas.items()
    }
    complaints = [] if options.files else list(check_schemas(schemas))
    for path in options.files:
        text = path.read_text("utf-8")
        documents = [json.loads(line) for line in text.splitlines()] if options.lines else [json.loads(text)]
        if not documents:
            complaints.append(f"{path}: is empty")
        for document in documents:
            kind = options.kind or kind_of(document)
            if kind not in validators:
                complaints.append(f"{path}: has no schema")
                continue
            for error in validators[kind].iter_errors(document):
                complaints.append(f"{path}: {error.json_path}: {error.message[:300]}")
            if options.damage:
                for what, wrong in spoiled(document):
                    wrong_kind = options.kind or kind_of(wrong)
                    if wrong_kind in validators and validators[wrong_kind].is_valid(wrong):
                        complaints.append(f"{path}: passes although spoiled: {what}")
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
