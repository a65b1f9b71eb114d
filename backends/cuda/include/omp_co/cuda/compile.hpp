// SPDX-License-Identifier: BSL-1.0
// CUDA C++ source to a device's own code or to PTX, by NVRTC.
#pragma once

#include <omp_co/cuda/nvrtc.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace omp_co::cuda::nvrtc {

/// What is compiled. A header that the source includes is given here or lies in a folder that an
/// option (`--include-path=…`) names.
struct program {
    struct header {
        std::string name; ///< as the source includes it
        std::string text;
    };

    std::string source;
    std::string name = "kernel.cu"; ///< in the compiler's messages
    std::vector<header> headers;
    std::vector<std::string> options;
    std::vector<std::string> name_expressions; ///< of kernels that are not extern "C"
};

enum class image_kind { cubin, ptx };

struct compilation {
    error_code error;
    std::string image;                      ///< PTX ends in its terminating zero like any C string
    std::string log;                        ///< the compiler's words, warnings too
    std::vector<std::string> lowered_names; ///< one for each name expression
};

/// An NVRTC program, destroyed with this object.
class open_program {
public:
    open_program(api const& compiler, program const& what) : compiler_(compiler)
    {
        std::vector<char const*> texts;
        std::vector<char const*> names;
        for (program::header const& h : what.headers) {
            texts.push_back(h.text.c_str());
            names.push_back(h.name.c_str());
        }
        state_ = compiler_.create_program(&handle_, what.source.c_str(), what.name.c_str(),
                                          static_cast<int>(texts.size()), texts.data(), names.data());
    }
    open_program(open_program const&) = delete;
    open_program& operator=(open_program const&) = delete;
    ~open_program()
    {
        if (handle_ != nullptr) (void)compiler_.destroy_program(&handle_);
    }

    /// Of the first step that failed; the steps after it do nothing.
    result state() const noexcept { return state_; }

    void ask_for(std::string const& name_expression)
    {
        if (state_ != result::success) return;
        state_ = compiler_.add_name_expression(handle_, name_expression.c_str());
    }

    void compile(std::vector<std::string> const& options)
    {
        if (state_ != result::success) return;
        std::vector<char const*> flags;
        flags.reserve(options.size());
        for (std::string const& o : options) flags.push_back(o.c_str());
        state_ = compiler_.compile_program(handle_, static_cast<int>(flags.size()), flags.data());
    }

    std::string log() const
    {
        std::size_t size = 0;
        if (handle_ == nullptr || compiler_.get_program_log_size(handle_, &size) != result::success)
            return {};
        std::string text(size, '\0');
        if (size <= 1 || compiler_.get_program_log(handle_, text.data()) != result::success) return {};
        text.pop_back();
        return text;
    }

    std::string image(image_kind kind)
    {
        if (state_ != result::success) return {};
        bool const ptx = kind == image_kind::ptx;
        std::size_t size = 0;
        state_ = ptx ? compiler_.get_ptx_size(handle_, &size) : compiler_.get_cubin_size(handle_, &size);
        if (state_ != result::success) return {};
        std::string bytes(size, '\0');
        state_ = ptx ? compiler_.get_ptx(handle_, bytes.data()) : compiler_.get_cubin(handle_, bytes.data());
        if (ptx && !bytes.empty()) bytes.pop_back();
        return bytes;
    }

    std::string lowered_name(std::string const& name_expression)
    {
        if (state_ != result::success) return {};
        char const* name = nullptr;
        state_ = compiler_.get_lowered_name(handle_, name_expression.c_str(), &name);
        return state_ == result::success ? name : "";
    }

private:
    api const& compiler_;
    program_handle handle_ = nullptr;
    result state_ = result::success;
};

/// Compiles for one device, `architecture` being its compute capability (10 * major + minor). A cubin runs on that
/// architecture alone; PTX is made for the newest that the compiler knows up to it. May take a second: not on an event
/// loop. Any thread may call. Errors: `kernel_unavailable` when there is no NVRTC, it does not know the architecture or
/// the source does not compile, and then the log says why; `invalid_argument` for an option that it refuses.
inline compilation compile(api const& compiler, program const& what, image_kind kind, int architecture)
{
    compilation made;
    if (!compiler.available()) {
        made.error = omp_co::make_error_code(errc::kernel_unavailable);
        made.log = "no NVRTC: " + compiler.reason();
        return made;
    }
    int const target = kind == image_kind::ptx ? compiler.newest_up_to(architecture) : architecture;
    if (!compiler.knows(target)) {
        std::vector<int> const& known = compiler.architectures();
        made.error = omp_co::make_error_code(errc::kernel_unavailable);
        made.log = compiler.library() + " (CUDA " + driver::version_text(compiler.release()) +
                   ") compiles for sm_" + std::to_string(known.front()) + " to sm_" +
                   std::to_string(known.back()) + ", not for sm_" + std::to_string(architecture);
        return made;
    }

    std::vector<std::string> options = what.options;
    options.push_back((kind == image_kind::ptx ? "--gpu-architecture=compute_" : "--gpu-architecture=sm_") +
                      std::to_string(target));
    open_program open(compiler, what);
    for (std::string const& e : what.name_expressions) open.ask_for(e);
    open.compile(options);
    made.log = open.log();
    made.image = open.image(kind);
    for (std::string const& e : what.name_expressions) made.lowered_names.push_back(open.lowered_name(e));
    if (open.state() == result::success) return made;
    made.error = open.state();
    made.image.clear();
    made.lowered_names.clear();
    return made;
}

} // namespace omp_co::cuda::nvrtc
