#!/bin/sh
# Checks the Markdown pages: lines of at most 120 columns (but for tables and code), links that lead to a file and to a
# heading in it, names of source files that exist, blocks of code that are as in the files they name, and at most 1,800
# words in docs/design.md.
# Usage: pages.sh <source folder>
set -eu
cd "$1"
failed=no
complain() {
  echo "$1"
  failed=yes
}

sources=$(find include src tests tools bench examples cmake -type f)
for page in $(find README.md CONTRIBUTING.md docs examples -name '*.md'); do
  prose=$(awk '/^```/ { code = !code; print ""; next } { print code ? "" : $0 }' "$page")

  long=$(printf '%s\n' "$prose" | LC_ALL=C.UTF-8 grep -nE '^[^|].{120}' | cut -d: -f1 | tr '\n' ' ') || true
  [ -z "$long" ] || complain "$page: more than 120 columns in lines $long"

  for name in $(printf '%s\n' "$prose" | grep -oE '`[A-Za-z0-9_/]+\.(hpp|cpp|inc|cu|cmake)`' | tr -d '`'); do
    printf '%s\n' "$sources" | grep -qE "(^|/)$name\$" || complain "$page: names $name, which is not there"
  done
done

# Links lead to a file that is there, and what follows a # is one of its headings as GitHub spells it. An address is not
# broken over lines, where no tool finds it.
python3 - $(find README.md CONTRIBUTING.md docs examples -name '*.md') <<'PYTHON' || failed=yes
import collections, os, re, sys

def prose(text):
    return re.sub(r'^```.*?^```$', lambda m: '\n' * m.group().count('\n'), text, flags=re.M | re.S)

def anchors(path):
    found, count = set(), collections.Counter()
    for heading in re.findall(r'^#+ +(.*?) *#*$', prose(open(path, encoding='utf-8').read()), re.M):
        heading = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', heading)
        slug = re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')
        found.add(f'{slug}-{count[slug]}' if count[slug] else slug)
        count[slug] += 1
    return found

good = True
for page in sys.argv[1:]:
    text = re.sub(r'`[^`\n]*`', '``', prose(open(page, encoding='utf-8').read()))
    for match in re.finditer(r'\]\(([^)]*)\)', text):
        link, line = match[1], text.count('\n', 0, match.start()) + 1
        path, _, anchor = link.partition('#')
        target = os.path.join(os.path.dirname(page), path) if path else page
        if re.search(r'\s', link): wrong = 'is broken over lines or has spaces'
        elif re.match(r'https?://', link): continue
        elif not os.path.exists(target): wrong = 'leads to what is not there'
        elif anchor and (not target.endswith('.md') or anchor not in anchors(target)):
            wrong = 'leads to a heading that is not there'
        else: continue
        print(f'{page}:{line}: the link {link!r} {wrong}')
        good = False
sys.exit(not good)
PYTHON

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
