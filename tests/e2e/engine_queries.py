# SPDX-License-Identifier: MIT
"""engine_queries.py URL BEGIN END: every query of packaging/engines/ gives data of a planted recording, at an instant and
over its time, and every alert names the host that was limited, and no other."""
import json
import os
import re
import sys
import urllib.parse
import urllib.request

url, begin, end = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
folder = os.environ["CHOKEPOINT_SOURCE"] + "/packaging/engines/"


def ask(path, **words):
    try:
        with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(words)}") as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        sys.exit(f"{words}: {error.read().decode()}")


def results(expression):
    at_once = ask("query", query=expression, time=end - 2)["result"]
    over_time = ask("query_range", query=expression, start=begin + 30, end=end, step=15)["result"]
    if not at_once or not over_time:
        sys.exit(f"no data: {expression}")
    return at_once


def filled(text):
    for name, value in (("$__rate_interval", "1m"), ("$run", ".*"), ("$host", ".*")):
        text = text.replace(name, value)
    return text


with open(folder + "grafana.json") as file:
    dashboard = json.load(file)
queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
for query in queries:
    results(filled(query))
for variable in dashboard["templating"]["list"]:
    match = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"])
    if match and not ask(f"label/{match[2]}/values", **{"match[]": filled(match[1]), "start": begin, "end": end}):
        sys.exit(f"no values: {variable['query']}")

# A few forms of YAML are all that the file has.
with open(folder + "rules.yml") as file:
    alerts = re.findall(r"- alert: (\w+)\n +expr: (?:\|\n((?: {10,}.*\n)+)|(.*)\n)", file.read())
for name, block, line in alerts:
    hosts = {item["metric"]["host"] for item in results(block or line)}
    if hosts != {"node000"}:
        sys.exit(f"{name}: {hosts}")
print(f"{len(queries)} queries of panels, {len(alerts)} alerts")
