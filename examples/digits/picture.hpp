// Pictures of a training, as SVG. They follow the viewer's light or dark colour scheme.
#pragma once
#include <string>
#include <vector>

#include "data.hpp"
#include "model.hpp"
#include "report.hpp"

namespace digits {

/// Training loss (logarithmic) above held-out accuracy, by epoch.
std::string training_curves(const std::vector<Epoch>& epochs, const std::string& subtitle);

/// The wrongly named images, enlarged, in the given order (at most 60 of them).
std::string mistake_sheet(const Digits& digits, const std::vector<Mistake>& mistakes, const std::string& subtitle);

}  // namespace digits
