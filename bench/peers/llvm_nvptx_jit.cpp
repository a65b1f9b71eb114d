// Lets LLVM's offload runtime compile its kernels when the program runs: linked into llvm_target for NVIDIA devices.
// SPDX-License-Identifier: BSL-1.0
//
// The runtime of LLVM 19 takes the machine code of CUDA 13's ptxas for none of its own and crashes
// (https://github.com/llvm/llvm-project/issues/159088), so the kernels are carried as bitcode. For these, it asks LLVM for
// the NVPTX back end, which the runtime as Debian builds it has not registered.

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace {

struct registration {
    registration()
    {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
    }
} const registered;

} // namespace
