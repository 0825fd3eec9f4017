#!/bin/sh
# Builds the Debian packages, looks into them, unpacks them into an empty root and runs the program
# from there. usage: deb.sh BUILD WORK [report]
set -eu
for tool in cpack dpkg-deb dpkg-shlibdeps; do
  command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
build=$1 work=$2
rm -rf "$work"
mkdir -p "$work/root"
cd "$work"
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work" >log 2>&1 || { cat log; exit 1; }

deb=$(echo aurora_*.deb)
dpkg-deb -c "$deb" >contents
for file in bin/aurora lib/libaurora.so.0 lib/libaurora.so lib/libaurora_cli.so.0 \
  lib/cmake/aurora/aurora-config.cmake \
  include/aurora/tasks/task.hpp share/aurora/python/aurora_qd/__main__.py share/man/man1/aurora.1.gz \
  share/man/man1/aurora-run.1.gz share/bash-completion/completions/aurora \
  share/zsh/vendor-completions/_aurora share/doc/aurora/copyright; do
  grep -q " ./usr/$file\( ->.*\)\?$" contents || { echo "$file is not in $deb"; exit 1; }
done
if command -v lintian >/dev/null; then
  lintian --fail-on error,warning --tag-display-limit 0 aurora*.deb
fi

for package in aurora*.deb; do dpkg-deb -x "$package" root; done
aurora=$work/root/usr/bin/aurora
ldd "$aurora" | grep -q "$work/root/usr/" || { echo "this is not the library of the package"; exit 1; }
"$aurora" list tasks >tasks
grep -q "42 genes" tasks
for plugin in "$build"/lib/libaurora_*.so; do
  case $plugin in */libaurora_cli.so) continue ;; esac  # stands beside libaurora.so
  [ ! -e "$plugin" ] || test -f "root/usr/lib/aurora/$(basename "$plugin")"
done
[ ! -e root/usr/lib/aurora/libaurora_box2d.so ] || "$aurora" run air-hockey task.engine=box2d \
  --variant hc-csc-uniform --iterations 2 --quiet --out run-box2d
"$aurora" run maze --variant hc-csc-uniform --iterations 5 --quiet --out run
[ "${3:-}" != report ] || { "$aurora" report run --out report && test -f report/report.html; }

# The manual and the completion know what the program knows.
zcat root/usr/share/man/man1/aurora-run.1.gz | grep -q 'fB\\-\\-seed'
# shellcheck disable=SC2016
PATH=$work/root/usr/bin:$PATH bash -c '. root/usr/share/bash-completion/completions/aurora
  COMP_WORDS=(aurora run --se) COMP_CWORD=2; _aurora; [ "${COMPREPLY[*]}" = --seed ]
  COMP_WORDS=(aurora run ma) COMP_CWORD=2; _aurora; [ "${COMPREPLY[*]}" = maze ]
  COMP_WORDS=(aurora ver) COMP_CWORD=1; _aurora; [ "${COMPREPLY[*]}" = verify ]'
cd / && rm -rf "$work"
