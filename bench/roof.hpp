// The machine's measured limits, by which shares are counted.
#pragma once
#include <map>
#include <string>

#include <tern/tern.hpp>

#include "harness.hpp"

namespace bench {

/// "f32", "f64", "bf16": flop/s of multiply-adds that stay in registers, on all threads. "triad": bytes/s of
/// x = y + s·z past the caches. Each is the best of several tries, for the machine may be shared.
std::map<std::string, double> measure_roofs(int threads, Clock clock);

/// The triad of so many bytes, to run in turn with a workload that moves as many: memory that others use, too, is not
/// as fast at all times. A part of the workload, no peer.
Contender triad_contender(double bytes, int threads, Clock clock);

/// Bytes a second, read and written, of the fastest of several copies of a large tensor to another on the device.
double copy_rate(tern::Device device);

}  // namespace bench
