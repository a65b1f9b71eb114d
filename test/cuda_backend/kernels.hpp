// SPDX-License-Identifier: BSL-1.0
// kernels.cu as PTX, so that these tests need no toolkit: `nvcc -ptx -arch=compute_75 kernels.cu`, without comments, and of a
// version that older drivers take too.
#pragma once

namespace cuda_test {

inline constexpr char kernels_ptx[] = R"ptx(
.version 7.0
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 part[];
.visible .entry add_index(
	.param .u64 add_index_param_0,
	.param .u64 add_index_param_1
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<7>;
	.reg .b64 	%rd<9>;
	ld.param.u64 	%rd2, [add_index_param_0];
	ld.param.u64 	%rd3, [add_index_param_1];
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %ntid.x;
	mul.wide.u32 	%rd4, %r1, %r2;
	mov.u32 	%r3, %tid.x;
	cvt.u64.u32 	%rd5, %r3;
	add.s64 	%rd1, %rd4, %rd5;
	setp.ge.u64 	%p1, %rd1, %rd3;
	@%p1 bra 	$L__BB0_2;
	cvta.to.global.u64 	%rd6, %rd2;
	shl.b64 	%rd7, %rd1, 2;
	add.s64 	%rd8, %rd6, %rd7;
	ld.global.u32 	%r4, [%rd8];
	cvt.u32.u64 	%r5, %rd1;
	add.s32 	%r6, %r4, %r5;
	st.global.u32 	[%rd8], %r6;
$L__BB0_2:
	ret;
}
.visible .entry mark_2d(
	.param .u64 mark_2d_param_0,
	.param .u32 mark_2d_param_1,
	.param .u32 mark_2d_param_2
)
{
	.reg .pred 	%p<4>;
	.reg .b32 	%r<16>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [mark_2d_param_0];
	ld.param.u32 	%r3, [mark_2d_param_1];
	ld.param.u32 	%r4, [mark_2d_param_2];
	mov.u32 	%r5, %ctaid.x;
	mov.u32 	%r6, %ntid.x;
	mov.u32 	%r7, %tid.x;
	mad.lo.s32 	%r1, %r5, %r6, %r7;
	mov.u32 	%r8, %ntid.y;
	mov.u32 	%r9, %ctaid.y;
	mov.u32 	%r10, %tid.y;
	mad.lo.s32 	%r2, %r9, %r8, %r10;
	setp.ge.s32 	%p1, %r1, %r3;
	setp.ge.s32 	%p2, %r2, %r4;
	or.pred  	%p3, %p1, %p2;
	@%p3 bra 	$L__BB1_2;
	cvta.to.global.u64 	%rd2, %rd1;
	mad.lo.s32 	%r11, %r2, %r3, %r1;
	mul.wide.s32 	%rd3, %r11, 4;
	add.s64 	%rd4, %rd2, %rd3;
	mad.lo.s32 	%r12, %r2, 1000, %r1;
	ld.global.u32 	%r13, [%rd4];
	add.s32 	%r14, %r12, %r13;
	add.s32 	%r15, %r14, 1;
	st.global.u32 	[%rd4], %r15;
$L__BB1_2:
	ret;
}
.visible .entry mark_3d(
	.param .u64 mark_3d_param_0,
	.param .u32 mark_3d_param_1,
	.param .u32 mark_3d_param_2,
	.param .u32 mark_3d_param_3
)
{
	.reg .pred 	%p<6>;
	.reg .b32 	%r<22>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [mark_3d_param_0];
	ld.param.u32 	%r4, [mark_3d_param_1];
	ld.param.u32 	%r5, [mark_3d_param_2];
	ld.param.u32 	%r6, [mark_3d_param_3];
	mov.u32 	%r7, %ctaid.x;
	mov.u32 	%r8, %ntid.x;
	mov.u32 	%r9, %tid.x;
	mad.lo.s32 	%r1, %r7, %r8, %r9;
	mov.u32 	%r10, %ntid.y;
	mov.u32 	%r11, %ctaid.y;
	mov.u32 	%r12, %tid.y;
	mad.lo.s32 	%r2, %r11, %r10, %r12;
	mov.u32 	%r13, %ntid.z;
	mov.u32 	%r14, %ctaid.z;
	mov.u32 	%r15, %tid.z;
	mad.lo.s32 	%r3, %r14, %r13, %r15;
	setp.ge.s32 	%p1, %r1, %r4;
	setp.ge.s32 	%p2, %r2, %r5;
	or.pred  	%p3, %p1, %p2;
	setp.ge.s32 	%p4, %r3, %r6;
	or.pred  	%p5, %p3, %p4;
	@%p5 bra 	$L__BB2_2;
	cvta.to.global.u64 	%rd2, %rd1;
	mad.lo.s32 	%r16, %r2, 100, %r1;
	mad.lo.s32 	%r17, %r3, 10000, %r16;
	mad.lo.s32 	%r18, %r3, %r5, %r2;
	mad.lo.s32 	%r19, %r18, %r4, %r1;
	mul.wide.s32 	%rd3, %r19, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.u32 	%r20, [%rd4];
	add.s32 	%r21, %r17, %r20;
	st.global.u32 	[%rd4], %r21;
$L__BB2_2:
	ret;
}
.visible .entry increment(
	.param .u64 increment_param_0
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<6>;
	.reg .b64 	%rd<3>;
	ld.param.u64 	%rd1, [increment_param_0];
	mov.u32 	%r1, %tid.x;
	mov.u32 	%r2, %ctaid.x;
	or.b32  	%r3, %r2, %r1;
	setp.ne.s32 	%p1, %r3, 0;
	@%p1 bra 	$L__BB3_2;
	cvta.to.global.u64 	%rd2, %rd1;
	ld.global.u32 	%r4, [%rd2];
	add.s32 	%r5, %r4, 1;
	st.global.u32 	[%rd2], %r5;
$L__BB3_2:
	ret;
}
.visible .entry add_from(
	.param .u64 add_from_param_0,
	.param .u64 add_from_param_1
)
{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [add_from_param_0];
	ld.param.u64 	%rd2, [add_from_param_1];
	cvta.to.global.u64 	%rd3, %rd2;
	cvta.to.global.u64 	%rd4, %rd1;
	ld.global.u32 	%r1, [%rd4];
	ld.global.u32 	%r2, [%rd3];
	add.s32 	%r3, %r2, %r1;
	st.global.u32 	[%rd3], %r3;
	ret;
}
.visible .entry with_struct(
	.param .align 8 .b8 with_struct_param_0[16],
	.param .u64 with_struct_param_1
)
{
	.reg .pred 	%p<2>;
	.reg .b16 	%rs<5>;
	.reg .b32 	%r<4>;
	.reg .f64 	%fd<5>;
	.reg .b64 	%rd<3>;
	ld.param.v2.u8 	{%rs1, %rs2}, [with_struct_param_0+10];
	ld.param.u64 	%rd1, [with_struct_param_1];
	cvt.s16.s8 	%rs4, %rs1;
	ld.param.f64 	%fd1, [with_struct_param_0];
	ld.param.s16 	%r1, [with_struct_param_0+8];
	cvta.to.global.u64 	%rd2, %rd1;
	ld.global.f64 	%fd2, [%rd2];
	setp.lt.s16 	%p1, %rs4, 0;
	neg.s32 	%r2, %r1;
	selp.b32 	%r3, %r2, %r1, %p1;
	cvt.rn.f64.s32 	%fd3, %r3;
	fma.rn.f64 	%fd4, %fd1, %fd2, %fd3;
	st.global.f64 	[%rd2], %fd4;
	ret;
}
.visible .entry reverse_team(
	.param .u64 reverse_team_param_0
)
{
	.reg .b32 	%r<14>;
	.reg .b64 	%rd<8>;
	ld.param.u64 	%rd1, [reverse_team_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %ntid.x;
	mul.lo.s32 	%r3, %r1, %r2;
	cvt.u64.u32 	%rd3, %r3;
	mov.u32 	%r4, %tid.x;
	cvt.u64.u32 	%rd4, %r4;
	add.s64 	%rd5, %rd3, %rd4;
	shl.b64 	%rd6, %rd5, 2;
	add.s64 	%rd7, %rd2, %rd6;
	ld.global.u32 	%r5, [%rd7];
	shl.b32 	%r6, %r4, 2;
	mov.u32 	%r7, part;
	add.s32 	%r8, %r7, %r6;
	st.shared.u32 	[%r8], %r5;
	bar.sync 	0;
	not.b32 	%r9, %r4;
	add.s32 	%r10, %r2, %r9;
	shl.b32 	%r11, %r10, 2;
	add.s32 	%r12, %r7, %r11;
	ld.shared.u32 	%r13, [%r12];
	st.global.u32 	[%rd7], %r13;
	ret;
}
.visible .entry team_sizes(
	.param .u64 team_sizes_param_0
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<7>;
	.reg .b64 	%rd<3>;
	ld.param.u64 	%rd1, [team_sizes_param_0];
	mov.u32 	%r1, %tid.y;
	mov.u32 	%r2, %tid.x;
	or.b32  	%r3, %r2, %r1;
	setp.ne.s32 	%p1, %r3, 0;
	@%p1 bra 	$L__BB7_2;
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r4, %nctaid.x;
	st.global.u32 	[%rd2], %r4;
	mov.u32 	%r5, %ntid.x;
	st.global.u32 	[%rd2+4], %r5;
	mov.u32 	%r6, %ntid.y;
	st.global.u32 	[%rd2+8], %r6;
$L__BB7_2:
	ret;
}
.visible .entry at_most_64(
	.param .u64 at_most_64_param_0
)
.maxntid 64, 1, 1
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<3>;
	ld.param.u64 	%rd1, [at_most_64_param_0];
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %tid.x;
	or.b32  	%r3, %r1, %r2;
	setp.ne.s32 	%p1, %r3, 0;
	@%p1 bra 	$L__BB8_2;
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r4, %ntid.x;
	st.global.u32 	[%rd2], %r4;
$L__BB8_2:
	ret;
}
.visible .entry trap(
	.param .u64 trap_param_0
)
{
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<3>;
	ld.param.u64 	%rd1, [trap_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	ld.global.u32 	%r1, [%rd2];
	add.s32 	%r2, %r1, 1;
	st.global.u32 	[%rd2], %r2;
	trap;
	ret;
}
.visible .entry wild_store(
	.param .u64 wild_store_param_0
)
{
	.reg .b32 	%r<2>;
	.reg .b64 	%rd<4>;
	ld.param.u64 	%rd1, [wild_store_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	ld.global.u32 	%r1, [%rd2];
	mov.u64 	%rd3, 16;
	st.u32 	[%rd3], %r1;
	ret;
}
)ptx";

} // namespace cuda_test
