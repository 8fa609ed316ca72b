// What choose_target.inc, which stands within a namespace, needs.
#pragma once
#include <cstdlib>
#include <string_view>

#include "cpu/simd/dispatch.hpp"
