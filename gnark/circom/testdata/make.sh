#!/usr/bin/env bash
# Makes the files of this folder again: circuits and witnesses by make.go, all others by
# snarkjs. Keys and proofs come out differently each time, as snarkjs adds randomness of
# its own. Needs Go, node and npm; takes a minute.
#
#   testdata/make.sh [FOLDER WITH node_modules/snarkjs]
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
modules=${1:-}
if [[ -z $modules ]]; then
  cp snarkjs/*.json "$work"
  npm ci --prefix "$work" --ignore-scripts --no-audit --no-fund --loglevel=error
  modules=$work
fi
snarkjs() { node "$modules/node_modules/snarkjs/build/cli.cjs" "$@" >/dev/null; }

go run make.go .
for curve in bn128:bn128 bls12-381:bls12381; do
  name=${curve#*:}
  snarkjs powersoftau new "${curve%:*}" 8 "$work/0.ptau"
  snarkjs powersoftau contribute "$work/0.ptau" "$work/1.ptau" --name=test -e="test $name"
  snarkjs powersoftau prepare phase2 "$work/1.ptau" "$work/$name.ptau"
done
for r1cs in *.r1cs; do
  c=${r1cs%.r1cs}
  snarkjs wtns check "$r1cs" "$c.wtns"
  snarkjs groth16 setup "$r1cs" "$work/${c##*_}.ptau" "$work/$c.0.zkey"
  snarkjs zkey contribute "$work/$c.0.zkey" "$c.zkey" --name=test -e="test $c"
  snarkjs zkey export verificationkey "$c.zkey" "$c.vk.json"
  snarkjs groth16 prove "$c.zkey" "$c.wtns" "$c.proof.json" "$c.public.json"
  snarkjs groth16 verify "$c.vk.json" "$c.public.json" "$c.proof.json"
  echo "$c"
done
