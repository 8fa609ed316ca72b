#include "cpu/lapack/eigen-inl.h"

TERN_EIGEN_TABLE(std::complex<double>)
