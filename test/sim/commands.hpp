// SPDX-License-Identifier: BSL-1.0
// The commands that several subjects use.
#pragma once

#include "engine.hpp"

#include <functional>
#include <utility>

namespace omp_co_sim {

/// Does nothing: an event's record, a wait.
class marker final : public command {
public:
    weight how() const override { return weight::light; }
};

/// Changes the driver's own state when the stream gets there. The change happens also after a fault.
class state_change final : public command {
public:
    explicit state_change(std::function<void()> change) : change_(std::move(change)) {}
    weight how() const override { return weight::light; }
    void over(CUresult) override { change_(); }

private:
    std::function<void()> change_;
};

} // namespace omp_co_sim
