// tern: n-dimensional tensors with gradients on the CPU, CUDA and WebGPU. This header is all a user includes.
#pragma once
#include "tern/autodiff.hpp"
#include "tern/capture.hpp"
#include "tern/device.hpp"
#include "tern/dtype.hpp"
#include "tern/error.hpp"
#include "tern/formula.hpp"
#include "tern/ops.hpp"
#include "tern/optim.hpp"
#include "tern/shape.hpp"
#include "tern/tensor.hpp"
#include "tern/trace.hpp"
#include "tern/tuning.hpp"
