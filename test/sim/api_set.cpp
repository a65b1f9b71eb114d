// SPDX-License-Identifier: BSL-1.0
// Memory set to a value.
#include "driver.hpp"

#include <cstring>

using namespace omp_co_sim;

namespace {

template <class Value>
class set_command final : public command {
public:
    set_command(std::shared_ptr<allocation> where, std::byte* first, std::size_t pitch, Value value,
                std::size_t width, std::size_t height, nanoseconds duration)
        : where_(std::move(where)),
          first_(first),
          pitch_(pitch),
          width_(width),
          height_(height),
          duration_(duration),
          value_(value)
    {
    }
    weight how() const override
    {
        return width_ * height_ * sizeof(Value) <= 65536 ? weight::brief : weight::heavy;
    }
    nanoseconds duration() const override { return duration_; }
    outcome run() override
    {
        if (!where_->ready)
            return {CUDA_ERROR_ILLEGAL_ADDRESS, "a memset uses memory before its allocation in stream order"};
        for (std::size_t y = 0; y < height_; ++y) {
            for (std::size_t x = 0; x < width_; ++x)
                std::memcpy(first_ + y * pitch_ + x * sizeof(Value), &value_, sizeof(Value));
        }
        return {};
    }

private:
    std::shared_ptr<allocation> where_;
    std::byte* first_;
    std::size_t pitch_, width_, height_;
    nanoseconds duration_;
    Value value_;
};

/// `pitch` 0: one row of `width` values.
template <class Value>
CUresult set(session& s, CUstream handle, CUdeviceptr address, std::size_t pitch, Value value,
             std::size_t width, std::size_t height, bool synchronous)
{
    auto const st = s.find(handle);
    if (synchronous) s.unsafe_while_capturing();
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    auto const row = width * sizeof(Value);
    require(address % sizeof(Value) == 0 && pitch % sizeof(Value) == 0 && (height == 1 || pitch >= row));
    auto const a = s.sim.memory.find(address);
    if (!a || a->dying || a->end() - address < pitch * (height - 1) + row) {
        s.misuse(describe("address", reinterpret_cast<void*>(address)) + " does not hold so much memory");
        return CUDA_ERROR_INVALID_VALUE;
    }
    auto const bandwidth = s.sim.config.bandwidth;
    auto const time =
        bandwidth > 0 ? static_cast<nanoseconds>(static_cast<double>(row * height) / bandwidth) : 0;
    auto const c = std::make_shared<set_command<Value>>(a, a->bytes.get() + (address - a->base), pitch, value,
                                                        width, height, time);
    auto& where = *st->where;
    // Only memory of the host makes the caller wait.
    if (s.enqueue(*st, c) && synchronous && a->on_host()) s.wait(c, where);
    return CUDA_SUCCESS;
}

} // namespace

extern "C" {

CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, size_t count)
{
    return call(id_cuMemsetD8_v2,
                [&](session& s) { return set(s, nullptr, address, 0, value, count, 1, true); });
}

CUresult cuMemsetD16_v2(CUdeviceptr address, unsigned short value, size_t count)
{
    return call(id_cuMemsetD16_v2,
                [&](session& s) { return set(s, nullptr, address, 0, value, count, 1, true); });
}

CUresult cuMemsetD32_v2(CUdeviceptr address, unsigned int value, size_t count)
{
    return call(id_cuMemsetD32_v2,
                [&](session& s) { return set(s, nullptr, address, 0, value, count, 1, true); });
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream)
{
    return call(id_cuMemsetD8Async,
                [&](session& s) { return set(s, stream, address, 0, value, count, 1, false); });
}

CUresult cuMemsetD16Async(CUdeviceptr address, unsigned short value, size_t count, CUstream stream)
{
    return call(id_cuMemsetD16Async,
                [&](session& s) { return set(s, stream, address, 0, value, count, 1, false); });
}

CUresult cuMemsetD32Async(CUdeviceptr address, unsigned int value, size_t count, CUstream stream)
{
    return call(id_cuMemsetD32Async,
                [&](session& s) { return set(s, stream, address, 0, value, count, 1, false); });
}

CUresult cuMemsetD2D8_v2(CUdeviceptr address, size_t pitch, unsigned char value, size_t width, size_t height)
{
    return call(id_cuMemsetD2D8_v2,
                [&](session& s) { return set(s, nullptr, address, pitch, value, width, height, true); });
}

CUresult cuMemsetD2D16_v2(CUdeviceptr address, size_t pitch, unsigned short value, size_t width,
                          size_t height)
{
    return call(id_cuMemsetD2D16_v2,
                [&](session& s) { return set(s, nullptr, address, pitch, value, width, height, true); });
}

CUresult cuMemsetD2D32_v2(CUdeviceptr address, size_t pitch, unsigned int value, size_t width, size_t height)
{
    return call(id_cuMemsetD2D32_v2,
                [&](session& s) { return set(s, nullptr, address, pitch, value, width, height, true); });
}

CUresult cuMemsetD2D8Async(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream)
{
    return call(id_cuMemsetD2D8Async,
                [&](session& s) { return set(s, stream, address, pitch, value, width, height, false); });
}

CUresult cuMemsetD2D16Async(CUdeviceptr address, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream)
{
    return call(id_cuMemsetD2D16Async,
                [&](session& s) { return set(s, stream, address, pitch, value, width, height, false); });
}

CUresult cuMemsetD2D32Async(CUdeviceptr address, size_t pitch, unsigned int value, size_t width,
                            size_t height, CUstream stream)
{
    return call(id_cuMemsetD2D32Async,
                [&](session& s) { return set(s, stream, address, pitch, value, width, height, false); });
}

} // extern "C"
