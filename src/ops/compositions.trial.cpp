// The entries of compositions stand beside them.
#define TERN_ENTRIES
#include "tern/compositions.hpp"
