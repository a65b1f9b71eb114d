// SPDX-License-Identifier: BSL-1.0
// Copies as commands: lanes, staging, and who waits.
#include "copy.hpp"

#include <cstring>

namespace omp_co_sim {
namespace {

// A pageable source up to this size is read before the call returns.
constexpr std::size_t staged_at_most = 64 * 1024;
constexpr std::size_t brief_at_most = 64 * 1024;

enum class place { device, pinned, pageable };

struct located {
    place where = place::pageable;
    std::shared_ptr<allocation> in;
    std::byte* first = nullptr;
};

std::size_t extent(copy_box const& box, copy_side const& side)
{
    return side.plane * (box.depth - 1) + side.row * (box.height - 1) + box.width;
}

// The addresses of a device that hold nothing are no memory of the host either.
bool of_some_device(session& s, std::uint64_t address)
{
    for (auto const& d : s.sim.devices)
        if (d->addresses.contains(address)) return true;
    return false;
}

located locate(session& s, copy_box const& box, copy_side const& side)
{
    require(side.address != 0);
    located found;
    found.in = s.sim.memory.find(side.address);
    if (!found.in) {
        if (side.must_be_known || of_some_device(s, side.address)) {
            s.misuse(describe("address", reinterpret_cast<void*>(side.address)) +
                     " holds no memory of a device");
            throw failure{CUDA_ERROR_INVALID_VALUE};
        }
        found.first = reinterpret_cast<std::byte*>(side.address);
        return found;
    }
    if (found.in->dying) {
        s.misuse(describe("address", reinterpret_cast<void*>(side.address)) +
                 " used after its stream-ordered free");
        throw failure{CUDA_ERROR_INVALID_VALUE};
    }
    if (found.in->end() - side.address < extent(box, side)) {
        s.misuse("the copy runs over the end of " +
                 describe("allocation", reinterpret_cast<void*>(found.in->base)));
        throw failure{CUDA_ERROR_INVALID_VALUE};
    }
    found.where = found.in->on_host() ? place::pinned : place::device;
    found.first = found.in->bytes.get() + (side.address - found.in->base);
    return found;
}

class copy_command final : public command {
public:
    copy_command(copy_box const& box, located source, located destination, lane* engine_lane,
                 nanoseconds duration)
        : box_(box),
          source_(std::move(source)),
          destination_(std::move(destination)),
          lane_(engine_lane),
          duration_(duration)
    {
    }

    // Reads the source now.
    void stage()
    {
        staged_.resize(box_.bytes());
        auto staged_side = box_.source;
        staged_side.row = box_.width;
        staged_side.plane = box_.width * box_.height;
        move(staged_.data(), staged_side, source_.first, box_.source);
        box_.source = staged_side;
        source_.first = staged_.data();
    }

    weight how() const override { return box_.bytes() <= brief_at_most ? weight::brief : weight::heavy; }
    nanoseconds duration() const override { return duration_; }
    lane* resource() const override { return lane_; }

    outcome run() override
    {
        for (auto const* side : {&source_, &destination_})
            if (side->in && !side->in->ready)
                return {CUDA_ERROR_ILLEGAL_ADDRESS,
                        "a copy uses memory before its allocation in stream order"};
        move(destination_.first, box_.destination, source_.first, box_.source);
        return {};
    }

private:
    void move(std::byte* to, copy_side const& to_side, std::byte const* from,
              copy_side const& from_side) const
    {
        for (std::size_t z = 0; z < box_.depth; ++z) {
            for (std::size_t y = 0; y < box_.height; ++y) {
                std::memmove(to + z * to_side.plane + y * to_side.row,
                             from + z * from_side.plane + y * from_side.row, box_.width);
            }
        }
    }

    copy_box box_;
    located source_;
    located destination_;
    lane* lane_;
    nanoseconds duration_;
    std::vector<std::byte> staged_;
};

lane* lane_of(session& s, located const& source, located const& destination)
{
    bool const from_device = source.where == place::device;
    bool const to_device = destination.where == place::device;
    if (from_device && (!to_device || source.in->device != destination.in->device))
        return &s.device_at(source.in->device).from_device;
    if (to_device && !from_device) return &s.device_at(destination.in->device).to_device;
    return nullptr;
}

} // namespace

copy_box row(CUdeviceptr destination, bool destination_known, CUdeviceptr source, bool source_known,
             std::size_t bytes)
{
    copy_box box;
    box.source = {source, bytes, bytes, source_known};
    box.destination = {destination, bytes, bytes, destination_known};
    box.width = bytes;
    return box;
}

CUresult copy(session& s, stream& st, copy_box const& box, copy_call how)
{
    if (box.bytes() == 0) return CUDA_SUCCESS;
    auto const source = locate(s, box, box.source);
    auto const destination = locate(s, box, box.destination);
    bool const synchronous = how == copy_call::synchronous;
    if (synchronous) s.unsafe_while_capturing();
    bool const pageable = source.where == place::pageable || destination.where == place::pageable;
    if (st.capturing && pageable) {
        st.capturing->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    auto const bandwidth = s.sim.config.bandwidth;
    auto const time =
        bandwidth > 0 ? static_cast<nanoseconds>(static_cast<double>(box.bytes()) / bandwidth) : 0;
    auto const c =
        std::make_shared<copy_command>(box, source, destination, lane_of(s, source, destination), time);
    bool const staged = source.where == place::pageable && destination.where != place::pageable &&
                        box.bytes() <= staged_at_most && !st.capturing;
    if (staged) c->stage();
    auto& where = *st.where;
    if (!s.enqueue(st, c)) return CUDA_SUCCESS;
    bool const within_devices = source.where == place::device && destination.where == place::device;
    bool const within_host = source.where != place::device && destination.where != place::device;
    bool const blocks = within_host || (synchronous ? !within_devices && !staged : pageable && !staged);
    if (blocks) s.wait(c, where);
    return CUDA_SUCCESS;
}

} // namespace omp_co_sim
