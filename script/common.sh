# Read by script/demo and script/test.
# shellcheck shell=sh
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

# No more jobs than processors, nor than the free memory holds at 2 GiB each.
if [ -z "${CMAKE_BUILD_PARALLEL_LEVEL-}" ]; then
  CMAKE_BUILD_PARALLEL_LEVEL=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 2097152) }' /proc/meminfo)
  [ "${memory:-1}" -ge 1 ] || memory=1
  [ "$CMAKE_BUILD_PARALLEL_LEVEL" -le "$memory" ] || CMAKE_BUILD_PARALLEL_LEVEL=$memory
fi
export CMAKE_BUILD_PARALLEL_LEVEL

# Shows the processor's flags, one a line; nothing where it is no x86.
flags() { sed -n '/^flags/ { s/^[^:]*://p; q }' /proc/cpuinfo | tr ' ' '\n'; }
has() {
  for flag in "$@"; do
    flags | grep -qx "$flag" || return 1
  done
}
# The best SIMD target of this processor.
best_target() {
  if has avx512f avx512vl avx512bw avx512dq avx512cd; then echo AVX3
  elif has avx2 fma bmi1 bmi2 f16c; then echo AVX2
  elif has sse4_2; then echo SSE4
  else echo NEON
  fi
}

# The SIMD targets of a release build of CI: the processor's best one and, where that is AVX-512, what most processors
# have. (SSE4 is what the sanitized build has; three targets take GCC eight minutes.)
fresh_targets() {
  case $(best_target) in
    AVX3) echo AVX3,AVX2 ;;
    *) best_target ;;
  esac
}

# configure <folder> <cmake arguments…>: of the sources in $sources, which is this folder if nothing else is said. With
# TERN_FRESH, where a compiler cache begins empty, files are compiled in batches, and precompiled headers take the
# cache's place for the tests; of the archive of CUDA kernels a sample is compiled, few SIMD targets, and loops for the
# best of them.
# (The library is compiled once more for tests/packaging, out of the cache: in a folder beside, so that paths are the
# same.)
fresh='-DTERN_BATCHES=ON -DTERN_PRECOMPILED_TESTS=ON -DTERN_CUDA_ARCHIVE_SAMPLE=16'
sources=$root
[ -z "${TERN_FRESH-}" ] || export CCACHE_BASEDIR="$root"
configure() {
  folder=$root/$1
  shift
  # shellcheck disable=SC2086  # several arguments
  cmake -S "$sources" -B "$folder" -G Ninja \
    ${TERN_FRESH:+$fresh -DTERN_LOOP_TARGET=$(best_target) -DTERN_CPU_TARGETS=$(fresh_targets)} "$@"
}
