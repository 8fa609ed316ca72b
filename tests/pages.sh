#!/bin/sh
# Checks the Markdown pages: lines of at most 120 columns (but for tables and code), links that lead to a file, names of
# source files that exist, blocks of code that are as in the files they name, and at most 1,800 words in docs/design.md.
# Usage: pages.sh <source folder>
set -eu
cd "$1"
failed=no
complain() {
  echo "$1"
  failed=yes
}

sources=$(find include src tests tools bench examples cmake -type f)
# docs/ops.md is printed by a tool: its long lines are rows.
for page in $(find README.md CONTRIBUTING.md docs examples -name '*.md' ! -path docs/ops.md); do
  prose=$(awk '/^```/ { code = !code; print ""; next } { print code ? "" : $0 }' "$page")

  long=$(printf '%s\n' "$prose" | LC_ALL=C.UTF-8 grep -nE '^[^|].{120}' | cut -d: -f1 | tr '\n' ' ') || true
  [ -z "$long" ] || complain "$page: more than 120 columns in lines $long"

  for link in $(printf '%s\n' "$prose" | sed 's/`[^`]*`//g' | grep -oE '\]\([^)# ]+' | cut -c3-); do
    case $link in http*://*) continue ;; esac
    [ -e "$(dirname "$page")/$link" ] || complain "$page: leads to $link, which is not there"
  done

  for name in $(printf '%s\n' "$prose" | grep -oE '`[A-Za-z0-9_/]+\.(hpp|cpp|inc|cu|cmake)`' | tr -d '`'); do
    printf '%s\n' "$sources" | grep -qE "(^|/)$name\$" || complain "$page: names $name, which is not there"
  done
done

# Blocks of code that say where they come from ("```cpp file=<path>") are there, word for word.
for page in docs/*.md; do
  for file in $(sed -n 's/^```[a-z]* file=//p' "$page" | sort -u); do
    python3 - "$page" "$file" <<'PYTHON' || complain "$page: a block is not as in $file"
import re, sys
page, file = open(sys.argv[1]).read(), open(sys.argv[2]).read()
blocks = re.findall(r'^```\w* file=' + re.escape(sys.argv[2]) + r'\n(.*?)^```$', page, re.M | re.S)
sys.exit(not all(block in file for block in blocks))
PYTHON
  done
done

words=$(wc -w < docs/design.md)
[ "$words" -le 1800 ] ||
  complain "docs/design.md has $words words; what it cannot say in 1,800 belongs to docs/internals"
[ $failed = no ]
