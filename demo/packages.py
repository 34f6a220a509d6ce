#!/usr/bin/env python3
"""Turns the output of `cargo metadata --format-version 1` (standard input) into JSON Lines for `pleach load`."""
import json
import sys


def node(table, **data):
    return {"table": table, "data": {name: value for name, value in data.items() if value is not None}}


def edge(table, start, end, **data):
    return {"table": table, "from": start, "to": end, "data": {k: v for k, v in data.items() if v is not None}}


def dependencies(start, resolved, ids):
    """One edge for each kind of dependency; a platform only if there is no place without the dependency."""
    for dependency in resolved["deps"]:
        by_kind = {}
        for kind in dependency["dep_kinds"]:
            by_kind.setdefault(kind["kind"] or "normal", set()).add(kind["target"])
        for kind, platforms in sorted(by_kind.items()):
            platform = None if None in platforms else " or ".join(sorted(platforms))
            yield edge("DependsOn", start, ids[dependency["pkg"]], kind=kind, platform=platform)


def rows(metadata):
    ids = {package["id"]: f"{package['name']} {package['version']}" for package in metadata["packages"]}
    resolved = {resolution["id"]: resolution for resolution in metadata["resolve"]["nodes"]}
    licences = set()
    for package in metadata["packages"]:
        own = ids[package["id"]]
        about = " ".join(package["description"].split()) if package["description"] else None
        yield node("Package", id=own, name=package["name"], version=package["version"], about=about,
                   edition=package["edition"], local=package["source"] is None)
        licence = (package["license"] or "not stated").replace("/", " OR ").replace("  ", " ")
        if licence not in licences:
            licences.add(licence)
            yield node("Licence", expression=licence)
        yield edge("LicensedUnder", own, licence)
        enabled = set(resolved[package["id"]]["features"])
        for feature in sorted(package["features"]):
            yield node("Feature", package=own, name=feature)
            yield edge("Offers", own, [own, feature], enabled=feature in enabled)
        yield from dependencies(own, resolved[package["id"]], ids)


for row in rows(json.load(sys.stdin)):
    print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
