// SPDX-License-Identifier: BSL-1.0
// CUDA C++ source as a variant of a kernel, compiled at run time.
#pragma once

#include <omp_co/cuda/code.hpp>
#include <omp_co/cuda/compile.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace omp_co::cuda {

namespace engine {

class source_code final : public code {
public:
    explicit source_code(nvrtc::program what) : program_(std::move(what)) {}

    nvrtc::program const& program() const noexcept { return program_; }

    // The device's own code first: a driver may be older than the compiler, and then refuses its PTX.
    unsigned ways() const noexcept override { return 2; }
    bool has_expressions() const noexcept override { return true; }

    built_code build(unsigned way, int architecture, std::string const& function,
                     bool expression) const override
    {
        nvrtc::api const& compiler = nvrtc::table();
        nvrtc::program what = program_;
        if (expression) what.name_expressions.push_back(function);
        bool const ptx = way != 0 || (compiler.available() && !compiler.knows(architecture));
        nvrtc::compilation made = nvrtc::compile(
            compiler, what, ptx ? nvrtc::image_kind::ptx : nvrtc::image_kind::cubin, architecture);
        built_code b{made.error, std::move(made.image), function, std::move(made.log)};
        if (expression && !made.lowered_names.empty()) b.function = std::move(made.lowered_names.back());
        return b;
    }

private:
    nvrtc::program program_;
};

} // namespace engine

/// CUDA C++ source text as the CUDA variant of a kernel. NVRTC, loaded at run time, compiles it once a device, off the
/// event loop, for all kernels made from copies of this object. A kernel is found by its name if it is `extern "C"`;
/// else its name is a C++ expression, `ns::scale<float>`, for which the source is compiled once more.
///
/// Errors of regions: kernel_unavailable if there is no NVRTC, or the source does not compile, or has no such
/// kernel; explain() has the compiler's log.
class source {
public:
    /// Copies `text`. Throws std::bad_alloc.
    explicit source(std::string_view text) : source(text, {}) {}

    /// With options of NVRTC, such as `-DN=4` or `--include-path=…`.
    source(std::string_view text, std::vector<std::string> options) : code_(make(text, std::move(options))) {}

    /// The same source for a kernel whose function has this name, and not the kernel's own.
    source function(std::string name) const
    {
        source other(*this);
        other.function_ = std::move(name);
        return other;
    }

    template <class... Args>
    std::shared_ptr<backend::kernel const> bind(std::string const& kernel_name) const
    {
        return std::make_shared<engine::cuda_kernel>(code_, function_.empty() ? kernel_name : function_);
    }

private:
    static std::shared_ptr<engine::code const> make(std::string_view text, std::vector<std::string> options)
    {
        nvrtc::program p;
        p.source = text;
        p.options = std::move(options);
        return std::make_shared<engine::source_code>(std::move(p));
    }

    std::shared_ptr<engine::code const> code_;
    std::string function_;
};

} // namespace omp_co::cuda
