// SPDX-License-Identifier: BSL-1.0
// Compiled device code as a variant of a kernel.
#pragma once

#include <omp_co/cuda/code.hpp>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace omp_co::cuda {

namespace engine {

class image_code final : public code {
public:
    image_code(std::string text, bool file) : text_(std::move(text)), file_(file) {}

    unsigned ways() const noexcept override { return 1; }

    built_code build(unsigned, int, std::string const& function, bool) const override
    {
        if (!file_) return {{}, text_, function, {}};
        built_code b;
        b.function = function;
        errno = 0;
        std::ifstream in(text_, std::ios::binary);
        if (in) b.bytes.assign(std::istreambuf_iterator<char>(in), {});
        if (in && !b.bytes.empty()) return b;
        b.error = make_error_code(errc::kernel_unavailable);
        b.words = text_ + ": " + (errno != 0 ? std::strerror(errno) : "an empty file");
        return b;
    }

private:
    std::string text_; // the image, or the path of its file
    bool file_;
};

} // namespace engine

/// PTX, a cubin or a fatbin as the CUDA variant of a kernel: loaded on the first device that needs it, once for all kernels
/// made from copies of this object. Kernels are found by name: `extern "C"`, or as mangled.
///
/// Errors of regions: kernel_unavailable if the file cannot be read, or the driver does not load the image, or finds
/// nothing in it for this device, or no function of this name; explain() has the words.
class image {
public:
    /// Copies `bytes`. Throws std::bad_alloc.
    explicit image(std::string_view bytes)
        : code_(std::make_shared<engine::image_code>(std::string(bytes), false))
    {
    }
    template <std::size_t Size>
    explicit image(unsigned char const (&bytes)[Size])
        : image(std::string_view(static_cast<char const*>(static_cast<void const*>(bytes)), Size))
    {
    }

    /// Read when it is first needed.
    static image from_file(std::string path)
    {
        return image(std::make_shared<engine::image_code>(std::move(path), true));
    }

    /// The same image for a kernel whose function has this name, and not the kernel's own.
    image function(std::string name) const
    {
        image other(*this);
        other.function_ = std::move(name);
        return other;
    }

    template <class... Args>
    std::shared_ptr<backend::kernel const> bind(std::string const& kernel_name) const
    {
        return std::make_shared<engine::cuda_kernel>(code_, function_.empty() ? kernel_name : function_);
    }

private:
    explicit image(std::shared_ptr<engine::code const> c) : code_(std::move(c)) {}

    std::shared_ptr<engine::code const> code_;
    std::string function_;
};

} // namespace omp_co::cuda
