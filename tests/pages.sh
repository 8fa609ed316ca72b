#!/bin/sh
# Checks the Markdown pages: lines of at most 120 columns (but for tables and code), links that lead to a file, names of
# source files that exist, and at most 1,800 words in docs/design.md.
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

  for link in $(printf '%s\n' "$prose" | grep -oE '\]\([^)# ]+' | cut -c3-); do
    case $link in http*://*) continue ;; esac
    [ -e "$(dirname "$page")/$link" ] || complain "$page: leads to $link, which is not there"
  done

  for name in $(printf '%s\n' "$prose" | grep -oE '`[A-Za-z0-9_/]+\.(hpp|cpp|inc|cu|cmake)`' | tr -d '`'); do
    printf '%s\n' "$sources" | grep -qE "(^|/)$name\$" || complain "$page: names $name, which is not there"
  done
done

words=$(wc -w < docs/design.md)
[ "$words" -le 1800 ] || complain "docs/design.md has $words words; what it cannot say in 1,800 belongs to docs/internals"
[ $failed = no ]
