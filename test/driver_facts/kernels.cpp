// SPDX-License-Identifier: BSL-1.0
// The kernels of the facts, as PTX that any device from compute capability 7.5 on takes.
#include "facts.hpp"

namespace facts {

char const* const kernels_ptx = R"(
.version 7.0
.target sm_75
.address_size 64

.visible .global .align 4 .u32 counter = 7;

.visible .entry nothing()
{
    ret;
}

// *x += by
.visible .entry add(.param .u64 add_x, .param .u32 add_by)
{
    .reg .u64 %x;
    .reg .u32 %v, %by;
    ld.param.u64 %x, [add_x];
    ld.param.u32 %by, [add_by];
    ld.global.u32 %v, [%x];
    add.u32 %v, %v, %by;
    st.global.u32 [%x], %v;
    ret;
}

// Counts in the module's variable.
.visible .entry count()
{
    .reg .u32 %v;
    atom.global.add.u32 %v, [counter], 1;
    ret;
}

// Parameters of several sizes and alignments; their sum goes to *to.
.visible .entry mixed(.param .u8 mixed_a, .param .align 8 .b8 mixed_b[12], .param .u16 mixed_c, .param .u64 mixed_to)
{
    .reg .u64 %to;
    .reg .u32 %v, %w;
    ld.param.u8 %v, [mixed_a];
    ld.param.u32 %w, [mixed_b+8];
    add.u32 %v, %v, %w;
    ld.param.u16 %w, [mixed_c];
    add.u32 %v, %v, %w;
    ld.param.u64 %to, [mixed_to];
    st.global.u32 [%to], %v;
    ret;
}

.visible .entry at_most_64() .maxntid 64, 1, 1
{
    ret;
}

// Writes to the last word of its dynamic shared memory and hands it to *to.
.extern .shared .align 4 .b8 dynamic[];
.visible .entry last_word(.param .u64 last_word_to, .param .u32 last_word_bytes)
{
    .reg .u64 %to;
    .reg .u32 %at, %bytes, %v;
    ld.param.u64 %to, [last_word_to];
    ld.param.u32 %bytes, [last_word_bytes];
    mov.u32 %at, dynamic;
    add.u32 %at, %at, %bytes;
    st.shared.u32 [%at+-4], %bytes;
    ld.shared.u32 %v, [%at+-4];
    st.global.u32 [%to], %v;
    ret;
}

// 1 KiB of static shared memory.
.visible .entry static_kilobyte(.param .u64 static_kilobyte_to)
{
    .shared .align 4 .b8 block[1024];
    .reg .u64 %to;
    .reg .u32 %v;
    mov.u32 %v, 5;
    st.shared.u32 [block+1020], %v;
    ld.shared.u32 %v, [block+1020];
    ld.param.u64 %to, [static_kilobyte_to];
    st.global.u32 [%to], %v;
    ret;
}

// Where each thread of a three-dimensional grid is: to[number] = number.
.visible .entry number(.param .u64 number_to)
{
    .reg .u64 %to, %offset;
    .reg .u32 %block, %n, %m;
    ld.param.u64 %to, [number_to];
    mov.u32 %block, %ctaid.z;
    mov.u32 %m, %nctaid.y;
    mul.lo.u32 %block, %block, %m;
    mov.u32 %m, %ctaid.y;
    add.u32 %block, %block, %m;
    mov.u32 %m, %nctaid.x;
    mul.lo.u32 %block, %block, %m;
    mov.u32 %m, %ctaid.x;
    add.u32 %block, %block, %m;
    mov.u32 %m, %ntid.x;
    mul.lo.u32 %block, %block, %m;
    mov.u32 %n, %tid.x;
    add.u32 %n, %n, %block;
    mul.wide.u32 %offset, %n, 4;
    add.u64 %to, %to, %offset;
    st.global.u32 [%to], %n;
    ret;
}

.visible .entry stop()
{
    trap;
    ret;
}
)";

} // namespace facts
