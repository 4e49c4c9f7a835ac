// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/op_effects_table.h"

#include "winze/schema/op_ids.h"

namespace winze {
namespace {

using Fact = EffectFact;
using Test = EffectCondition::Test;

constexpr EffectRow ordered(OpId op, Ordering ordering) {
  return {.op = op, .fact = Fact::ordered, .ordering = ordering};
}
constexpr EffectRow about(OpId op, Fact fact, std::string_view argument) {
  return {.argument = argument, .op = op, .fact = fact};
}
constexpr EffectRow when_true(OpId op, Fact fact, std::string_view argument,
                              std::string_view tested) {
  return {.argument = argument, .tested = tested, .op = op, .fact = fact, .test = Test::is_true};
}
constexpr EffectRow writes(OpId op, std::string_view argument) {
  return about(op, Fact::writes, argument);
}
constexpr EffectRow writes_if(OpId op, std::string_view argument, std::string_view tested) {
  return when_true(op, Fact::writes, argument, tested);
}
constexpr EffectRow writes_only_if(OpId op, std::string_view argument, std::string_view tested) {
  return when_true(op, Fact::writes_only, argument, tested);
}
constexpr EffectRow views(OpId op, std::string_view argument) {
  return about(op, Fact::views, argument);
}
constexpr EffectRow is_self(OpId op, std::string_view argument) {
  return about(op, Fact::is_self, argument);
}
constexpr EffectRow maybe_aliases(OpId op, std::string_view argument) {
  return about(op, Fact::maybe_aliases, argument);
}
constexpr EffectRow random_if(OpId op, std::string_view tested) {
  return when_true(op, Fact::random, {}, tested);
}
constexpr EffectRow fact(OpId op, Fact which) {
  return about(op, which, {});
}

constexpr EffectRow effect_rows[] = {
    // ---- Batch normalization in training updates the running statistics; its older schemas do not
    // say so
    // (ATen/native/Normalization.cpp, ATen/native/cudnn/BatchNorm.cpp).
    fact(op::aten_batch_norm_default, Fact::aliases_nothing),
    fact(op::aten__batch_norm_impl_index_default, Fact::aliases_nothing),
    writes_if(op::aten_batch_norm_default, "running_mean", "training"),
    writes_if(op::aten_batch_norm_default, "running_var", "training"),
    writes_if(op::aten__batch_norm_impl_index_default, "running_mean", "training"),
    writes_if(op::aten__batch_norm_impl_index_default, "running_var", "training"),
    writes_if(op::aten_native_batch_norm_default, "running_mean", "training"),
    writes_if(op::aten_native_batch_norm_default, "running_var", "training"),
    writes_if(op::aten_native_batch_norm_out, "running_mean", "training"),
    writes_if(op::aten_native_batch_norm_out, "running_var", "training"),
    writes_if(op::aten_cudnn_batch_norm_default, "running_mean", "training"),
    writes_if(op::aten_cudnn_batch_norm_default, "running_var", "training"),
    writes_if(op::aten_cudnn_batch_norm_out, "running_mean", "training"),
    writes_if(op::aten_cudnn_batch_norm_out, "running_var", "training"),
    writes_if(op::aten_miopen_batch_norm_default, "running_mean", "training"),
    writes_if(op::aten_miopen_batch_norm_default, "running_var", "training"),
    writes_if(op::aten_miopen_batch_norm_out, "running_mean", "training"),
    writes_if(op::aten_miopen_batch_norm_out, "running_var", "training"),
    writes_if(op::aten_instance_norm_default, "running_mean", "use_input_stats"),
    writes_if(op::aten_instance_norm_default, "running_var", "use_input_stats"),
    writes(op::aten_batch_norm_update_stats_default, "running_mean"),
    writes(op::aten_batch_norm_update_stats_default, "running_var"),
    writes(op::aten_batch_norm_update_stats_out, "running_mean"),
    writes(op::aten_batch_norm_update_stats_out, "running_var"),
    writes(op::aten_batch_norm_gather_stats_default, "running_mean"),
    writes(op::aten_batch_norm_gather_stats_default, "running_var"),
    writes(op::aten_batch_norm_gather_stats_out, "running_mean"),
    writes(op::aten_batch_norm_gather_stats_out, "running_var"),
    writes(op::aten_batch_norm_gather_stats_with_counts_default, "running_mean"),
    writes(op::aten_batch_norm_gather_stats_with_counts_default, "running_var"),
    writes(op::aten_batch_norm_gather_stats_with_counts_out, "running_mean"),
    writes(op::aten_batch_norm_gather_stats_with_counts_out, "running_var"),

    // ---- These say that they write, and do it in training alone.
    writes_only_if(op::aten__native_batch_norm_legit_default, "running_mean", "training"),
    writes_only_if(op::aten__native_batch_norm_legit_default, "running_var", "training"),
    writes_only_if(op::aten__native_batch_norm_legit_out, "running_mean", "training"),
    writes_only_if(op::aten__native_batch_norm_legit_out, "running_var", "training"),
    writes_only_if(op::aten_rrelu_with_noise_default, "noise", "training"),
    writes_only_if(op::aten_rrelu_with_noise__default, "noise", "training"),
    writes_only_if(op::aten_rrelu_with_noise_out, "noise", "training"),

    // ---- Views by annotation that copy, or give their input back, depending on sizes, strides,
    // dtype or device.
    fact(op::aten_contiguous_default, Fact::maybe_copies),
    fact(op::aten_reshape_default, Fact::maybe_copies),
    fact(op::aten_reshape_as_default, Fact::maybe_copies),
    fact(op::aten_flatten_using_ints, Fact::maybe_copies),
    fact(op::aten_to_device, Fact::maybe_copies),
    fact(op::aten_to_dtype, Fact::maybe_copies),
    fact(op::aten_to_dtype_layout, Fact::maybe_copies),
    fact(op::aten_to_other, Fact::maybe_copies),
    fact(op::aten_to_prim_Device, Fact::maybe_copies),
    fact(op::aten_to_prim_dtype, Fact::maybe_copies),
    fact(op::aten_to_prim_other, Fact::maybe_copies),
    fact(op::aten_ravel_default, Fact::maybe_copies),
    fact(op::aten_pin_memory_default, Fact::maybe_copies),
    fact(op::aten_resolve_conj_default, Fact::maybe_copies),
    fact(op::aten_resolve_neg_default, Fact::maybe_copies),
    fact(op::aten_conj_default, Fact::maybe_copies),
    fact(op::aten__autocast_to_full_precision_default, Fact::maybe_copies),
    fact(op::aten__autocast_to_reduced_precision_default, Fact::maybe_copies),
    fact(op::aten_coalesce_default, Fact::maybe_copies),
    fact(op::aten__grad_sum_to_size_default, Fact::maybe_copies),
    fact(op::aten__sparse_broadcast_to_default, Fact::maybe_copies),

    // ---- Give their input back, or a view of it, although the schema promises a fresh tensor.
    maybe_aliases(op::aten__cast_Byte_default, "self"),
    maybe_aliases(op::aten__cast_Char_default, "self"),
    maybe_aliases(op::aten__cast_Double_default, "self"),
    maybe_aliases(op::aten__cast_Float_default, "self"),
    maybe_aliases(op::aten__cast_Half_default, "self"),
    maybe_aliases(op::aten__cast_Int_default, "self"),
    maybe_aliases(op::aten__cast_Long_default, "self"),
    maybe_aliases(op::aten__cast_Short_default, "self"),
    maybe_aliases(op::aten_type_as_default, "self"),
    maybe_aliases(op::aten_sum_to_size_default, "self"),
    maybe_aliases(op::aten_meshgrid_default, "tensors"),
    maybe_aliases(op::aten_meshgrid_indexing, "tensors"),
    maybe_aliases(op::aten_broadcast_tensors_default, "tensors"),
    maybe_aliases(op::aten_einsum_default, "tensors"),
    maybe_aliases(op::aten_to_dense_default, "self"),
    maybe_aliases(op::aten_dequantize_self, "self"),
    maybe_aliases(op::aten_dequantize_tensors, "tensors"),
    maybe_aliases(op::aten__to_cpu_default, "tensors"),
    maybe_aliases(op::aten_to_padded_tensor_default, "self"),
    maybe_aliases(op::aten__reshape_from_tensor_default, "self"),
    maybe_aliases(op::aten_unflatten_dense_tensors_default, "flat"),
    maybe_aliases(op::aten_flatten_dense_tensors_default, "tensors"),
    maybe_aliases(op::aten__coalesce_default, "self"),
    maybe_aliases(op::aten_channel_shuffle_default, "self"),
    maybe_aliases(op::aten_native_channel_shuffle_default, "self"),
    maybe_aliases(op::aten_to_sparse_default, "self"),
    maybe_aliases(op::aten_to_sparse_sparse_dim, "self"),
    maybe_aliases(op::aten_to_sparse_csr_default, "self"),
    maybe_aliases(op::aten_to_sparse_csc_default, "self"),
    maybe_aliases(op::aten_to_sparse_bsr_default, "self"),
    maybe_aliases(op::aten_to_sparse_bsc_default, "self"),
    maybe_aliases(op::_c10d_functional__wrap_tensor_autograd_default, "input"),
    maybe_aliases(op::export_access_subclass_inner_tensor_default, "src_subclass_tensor"),
    maybe_aliases(op::prims_inductor_force_stride_order_default, "input"),
    maybe_aliases(op::aten_atleast_1d_Sequence, "tensors"),
    maybe_aliases(op::aten_atleast_2d_Sequence, "tensors"),
    maybe_aliases(op::aten_atleast_3d_Sequence, "tensors"),

    // ---- Views on purpose: autograd and functionalization treat them as fresh because the base is
    // a temporary, and for storage
    // they are views all the same.
    views(op::aten__unsafe_view_default, "self"),
    views(op::aten_unsafe_split_Tensor, "self"),
    views(op::aten_unsafe_split_with_sizes_default, "self"),
    views(op::aten_unsafe_chunk_default, "self"),
    views(op::aten_lift_default, "self"),
    views(op::aten_data_default, "self"),
    views(op::aten__add_batch_dim_default, "self"),
    views(op::aten__remove_batch_dim_default, "self"),
    views(op::inductor__alloc_from_pool_default, "self"),
    views(op::inductor__reinterpret_tensor_default, "self"),
    views(op::torch__functorch_predispatch__add_batch_dim, "self"),
    views(op::torch__functorch_predispatch__remove_batch_dim, "self"),
    views(op::torch__functorch_predispatch__unwrap_for_grad, "tensor"),
    views(op::torch__functorch_predispatch__make_dual, "tensor"),
    views(op::torch__functorch_predispatch__unpack_dual, "tensor"),
    views(op::higher_order_register_hook, "tensor"),

    // ---- Sparse tensors hold the tensors of indices and values that they are made from.
    maybe_aliases(op::aten_sparse_coo_tensor_indices, "indices"),
    maybe_aliases(op::aten_sparse_coo_tensor_indices, "values"),
    maybe_aliases(op::aten_sparse_coo_tensor_indices_size, "indices"),
    maybe_aliases(op::aten_sparse_coo_tensor_indices_size, "values"),
    maybe_aliases(op::aten__sparse_coo_tensor_unsafe_default, "indices"),
    maybe_aliases(op::aten__sparse_coo_tensor_unsafe_default, "values"),
    maybe_aliases(op::aten_sparse_csr_tensor_crow_col_value, "crow_indices"),
    maybe_aliases(op::aten_sparse_csr_tensor_crow_col_value, "col_indices"),
    maybe_aliases(op::aten_sparse_csr_tensor_crow_col_value, "values"),
    maybe_aliases(op::aten_sparse_csr_tensor_crow_col_value_size, "crow_indices"),
    maybe_aliases(op::aten_sparse_csr_tensor_crow_col_value_size, "col_indices"),
    maybe_aliases(op::aten_sparse_csr_tensor_crow_col_value_size, "values"),
    maybe_aliases(op::aten_sparse_csc_tensor_ccol_row_value, "ccol_indices"),
    maybe_aliases(op::aten_sparse_csc_tensor_ccol_row_value, "row_indices"),
    maybe_aliases(op::aten_sparse_csc_tensor_ccol_row_value, "values"),
    maybe_aliases(op::aten_sparse_csc_tensor_ccol_row_value_size, "ccol_indices"),
    maybe_aliases(op::aten_sparse_csc_tensor_ccol_row_value_size, "row_indices"),
    maybe_aliases(op::aten_sparse_csc_tensor_ccol_row_value_size, "values"),
    maybe_aliases(op::aten_sparse_bsr_tensor_crow_col_value, "crow_indices"),
    maybe_aliases(op::aten_sparse_bsr_tensor_crow_col_value, "col_indices"),
    maybe_aliases(op::aten_sparse_bsr_tensor_crow_col_value, "values"),
    maybe_aliases(op::aten_sparse_bsr_tensor_crow_col_value_size, "crow_indices"),
    maybe_aliases(op::aten_sparse_bsr_tensor_crow_col_value_size, "col_indices"),
    maybe_aliases(op::aten_sparse_bsr_tensor_crow_col_value_size, "values"),
    maybe_aliases(op::aten_sparse_bsc_tensor_ccol_row_value, "ccol_indices"),
    maybe_aliases(op::aten_sparse_bsc_tensor_ccol_row_value, "row_indices"),
    maybe_aliases(op::aten_sparse_bsc_tensor_ccol_row_value, "values"),
    maybe_aliases(op::aten_sparse_bsc_tensor_ccol_row_value_size, "ccol_indices"),
    maybe_aliases(op::aten_sparse_bsc_tensor_ccol_row_value_size, "row_indices"),
    maybe_aliases(op::aten_sparse_bsc_tensor_ccol_row_value_size, "values"),
    maybe_aliases(op::aten_sparse_compressed_tensor_comp_plain_value, "compressed_indices"),
    maybe_aliases(op::aten_sparse_compressed_tensor_comp_plain_value, "plain_indices"),
    maybe_aliases(op::aten_sparse_compressed_tensor_comp_plain_value, "values"),
    maybe_aliases(op::aten_sparse_compressed_tensor_comp_plain_value_size, "compressed_indices"),
    maybe_aliases(op::aten_sparse_compressed_tensor_comp_plain_value_size, "plain_indices"),
    maybe_aliases(op::aten_sparse_compressed_tensor_comp_plain_value_size, "values"),
    maybe_aliases(op::aten__sparse_compressed_tensor_unsafe_default, "compressed_indices"),
    maybe_aliases(op::aten__sparse_compressed_tensor_unsafe_default, "plain_indices"),
    maybe_aliases(op::aten__sparse_compressed_tensor_unsafe_default, "values"),
    maybe_aliases(op::aten__sparse_csr_tensor_unsafe_default, "crow_indices"),
    maybe_aliases(op::aten__sparse_csr_tensor_unsafe_default, "col_indices"),
    maybe_aliases(op::aten__sparse_csr_tensor_unsafe_default, "values"),
    maybe_aliases(op::aten__sparse_csc_tensor_unsafe_default, "ccol_indices"),
    maybe_aliases(op::aten__sparse_csc_tensor_unsafe_default, "row_indices"),
    maybe_aliases(op::aten__sparse_csc_tensor_unsafe_default, "values"),
    maybe_aliases(op::aten__sparse_bsr_tensor_unsafe_default, "crow_indices"),
    maybe_aliases(op::aten__sparse_bsr_tensor_unsafe_default, "col_indices"),
    maybe_aliases(op::aten__sparse_bsr_tensor_unsafe_default, "values"),
    maybe_aliases(op::aten__sparse_bsc_tensor_unsafe_default, "ccol_indices"),
    maybe_aliases(op::aten__sparse_bsc_tensor_unsafe_default, "row_indices"),
    maybe_aliases(op::aten__sparse_bsc_tensor_unsafe_default, "values"),
    maybe_aliases(op::aten__sparse_coo_tensor_with_dims_and_tensors_default, "indices"),
    maybe_aliases(op::aten__sparse_coo_tensor_with_dims_and_tensors_default, "values"),

    // ---- Storage is exchanged, not only written (ATen/native/TensorShape.cpp,
    // ATen/native/Resize.cpp).
    fact(op::aten_set__default, Fact::rebinds_storage),
    fact(op::aten_set__source_Storage, Fact::rebinds_storage),
    fact(op::aten_set__source_Storage_storage_offset, Fact::rebinds_storage),
    fact(op::aten_set__source_Tensor, Fact::rebinds_storage),
    fact(op::aten_set__source_Tensor_storage_offset, Fact::rebinds_storage),
    maybe_aliases(op::aten_set__source_Tensor, "source"),
    maybe_aliases(op::aten_set__source_Tensor_storage_offset, "source"),
    fact(op::aten_set_data_default, Fact::unknown),
    fact(op::aten__cudnn_rnn_flatten_weight_default, Fact::unknown),
    fact(op::inductor_accumulate_grad__default, Fact::unknown),
    fact(op::inductor_resize_storage_bytes__default, Fact::unknown),
    fact(op::aten__propagate_xla_data_default, Fact::unknown),
    fact(op::aten_resize__default, Fact::rebinds_storage),
    fact(op::aten_resize_as__default, Fact::rebinds_storage),
    fact(op::aten__resize_output__default, Fact::rebinds_storage),
    fact(op::aten__resize_output__default, Fact::changes_metadata),
    fact(op::aten_resize_as_sparse__default, Fact::changes_metadata),

    // ---- Grows to the broadcast shape of its result.
    fact(op::aten_addbmm__default, Fact::changes_metadata),

    // ---- Collectives that work in place although their names and schemas do not say so
    // (torch/csrc/distributed/c10d/Functional.cpp, torch/distributed/_functional_collectives.py).
    is_self(op::_c10d_functional_wait_tensor_default, "tensor"),
    is_self(op::c10d_functional_wait_tensor_default, "self"),
    writes(op::_c10d_functional_irecv_default, "tensor"),
    is_self(op::_c10d_functional_irecv_default, "tensor"),
    writes(op::c10d_functional_irecv_default, "self"),
    is_self(op::c10d_functional_irecv_default, "self"),
    is_self(op::_c10d_functional_isend_default, "tensor"),
    is_self(op::c10d_functional_isend_default, "self"),
    writes(op::_c10d_functional_batch_p2p_ops_default, "tensors"),
    is_self(op::_c10d_functional_batch_p2p_ops_default, "tensors"),
    writes(op::c10d_functional_batch_p2p_ops_default, "tensors"),
    is_self(op::c10d_functional_batch_p2p_ops_default, "tensors"),
    ordered(op::_c10d_functional__wrap_tensor_autograd_default, Ordering::none),
    writes(op::fsdp_all_gather_copy_in_default, "all_gather_output"),
    views(op::fsdp_all_gather_copy_in_default, "all_gather_output"),
    ordered(op::_dtensor_shard_dim_alltoall_default, Ordering::collective),

    // ---- Random without the tag.
    random_if(op::aten_quantized_gru_data, "train"),
    random_if(op::aten_quantized_gru_data_legacy, "train"),
    random_if(op::aten_quantized_gru_input, "train"),
    random_if(op::aten_quantized_gru_input_legacy, "train"),
    random_if(op::aten_quantized_lstm_data, "train"),
    random_if(op::aten_quantized_lstm_data_legacy, "train"),
    random_if(op::aten_quantized_lstm_input, "train"),
    random_if(op::aten_quantized_lstm_input_legacy, "train"),
    random_if(op::quantized_dropout_default, "training"),
    fact(op::prims_inductor_seed_default, Fact::random),
    fact(op::prims_inductor_seeds_default, Fact::random),
    fact(op::prims_inductor_rand_eager_offset_default, Fact::random),
    fact(op::prims_inductor_rand_eager_offsets_default, Fact::random),
    fact(op::higher_order_run_and_save_rng_state, Fact::random),
    fact(op::higher_order_graphsafe_run_with_rng_state, Fact::random),
    fact(op::higher_order_run_dtensor_rng_op, Fact::random),

    // ---- Checks: a program may not lose them unless asked to.
    ordered(op::aten__assert_async_default, Ordering::assertion),
    ordered(op::aten__assert_async_msg, Ordering::assertion),
    ordered(op::aten__assert_scalar_default, Ordering::assertion),
    ordered(op::aten__assert_tensor_metadata_default, Ordering::assertion),
    ordered(op::aten__functional_assert_async_msg, Ordering::assertion),
    ordered(op::aten__functional_assert_scalar_default, Ordering::assertion),
    ordered(op::aten_sym_constrain_range_default, Ordering::assertion),
    ordered(op::aten_sym_constrain_range_for_size_default, Ordering::assertion),
    ordered(op::aten__functional_sym_constrain_range_default, Ordering::assertion),
    ordered(op::aten__functional_sym_constrain_range_for_size_default, Ordering::assertion),
    ordered(op::aten__linalg_check_errors_default, Ordering::assertion),
    ordered(op::aten__validate_compressed_sparse_indices_default, Ordering::assertion),
    ordered(op::aten__validate_sparse_coo_tensor_args_default, Ordering::assertion),
    ordered(op::aten__validate_sparse_compressed_tensor_args_default, Ordering::assertion),
    ordered(op::aten__validate_sparse_csr_tensor_args_default, Ordering::assertion),
    ordered(op::aten__validate_sparse_csc_tensor_args_default, Ordering::assertion),
    ordered(op::aten__validate_sparse_bsr_tensor_args_default, Ordering::assertion),
    ordered(op::aten__validate_sparse_bsc_tensor_args_default, Ordering::assertion),
    ordered(op::prim_RaiseException_default, Ordering::assertion),
    ordered(op::c10d_check_for_nan_default, Ordering::assertion),

    // ---- Prints, logs, warns.
    ordered(op::aten__print_default, Ordering::output),
    ordered(op::aten_warn_default, Ordering::output),
    ordered(op::aten_save_default, Ordering::output),
    ordered(op::higher_order_print, Ordering::output),

    // ---- States outside the graph.
    ordered(op::aten_manual_seed_default, Ordering::global_state),
    ordered(op::aten_manual_seed_generator, Ordering::global_state),
    ordered(op::aten_seed_default, Ordering::global_state),
    ordered(op::aten_initial_seed_default, Ordering::global_state),
    ordered(op::aten_set_grad_enabled_default, Ordering::global_state),
    ordered(op::aten_is_grad_enabled_default, Ordering::global_state),
    ordered(op::aten_is_autocast_enabled_default, Ordering::global_state),
    ordered(op::aten__cufft_clear_plan_cache_default, Ordering::global_state),
    ordered(op::aten__cufft_set_plan_cache_max_size_default, Ordering::global_state),
    ordered(op::aten_record_stream_default, Ordering::global_state),
    ordered(op::aten_backward_default, Ordering::global_state),
    ordered(op::aten_backward_TensorList, Ordering::global_state),
    ordered(op::aten__backward_default, Ordering::global_state),
    ordered(op::aten_dist_backward_default, Ordering::global_state),
    ordered(op::aten_get_gradients_default, Ordering::global_state),
    ordered(op::aten_retain_grad_default, Ordering::global_state),
    ordered(op::aten_from_file_default, Ordering::global_state),
    ordered(op::prims__sink_tokens_default, Ordering::global_state),
    ordered(op::prims__make_token_default, Ordering::global_state),
    ordered(op::higher_order__export_tracepoint, Ordering::global_state),
    ordered(op::higher_order_with_effects, Ordering::global_state),
    ordered(op::inductor_prims_inductor_reserve_rng_state_default, Ordering::global_state),
    ordered(op::debugprims_load_tensor_default, Ordering::global_state),
    ordered(op::prim_TimePoint_default, Ordering::global_state),
    ordered(op::prim_AddStatValue_default, Ordering::global_state),

    // ---- Arbitrary code: objects, delegates, kernels that name what they write in a table outside
    // the program.
    fact(op::higher_order_call_torchbind, Fact::unknown),
    fact(op::higher_order_executorch_call_delegate, Fact::unknown),
    fact(op::higher_order_aoti_call_delegate, Fact::unknown),
    fact(op::higher_order_triton_kernel_wrapper_mutation, Fact::unknown),
    fact(op::higher_order_inductor_compiled_code, Fact::unknown),
    fact(op::higher_order_invoke_leaf_function, Fact::unknown),
    fact(op::higher_order_flat_apply, Fact::unknown),
    fact(op::higher_order_inline_asm_elementwise, Fact::unknown),
    fact(op::torch_export_custom_ops__call_custom_autograd_function_in_pre_dispatch, Fact::unknown),

    // ---- Numbers and shapes that depend on tensor contents, without the tags.
    fact(op::aten_is_nonzero_default, Fact::data_dependent),
    fact(op::aten_Bool_Tensor, Fact::data_dependent),
    fact(op::aten_Int_Tensor, Fact::data_dependent),
    fact(op::aten_Float_Tensor, Fact::data_dependent),
    fact(op::aten_IntImplicit_default, Fact::data_dependent),
    fact(op::aten_FloatImplicit_default, Fact::data_dependent),
    fact(op::aten_ComplexImplicit_default, Fact::data_dependent),
    fact(op::aten_ScalarImplicit_default, Fact::data_dependent),
    fact(op::aten__nested_tensor_from_mask_left_aligned_default, Fact::data_dependent),
    fact(op::aten_where_default, Fact::dynamic_shape),
    fact(op::aten_nonzero_numpy_default, Fact::dynamic_shape),
    fact(op::aten_repeat_interleave_self_Tensor, Fact::dynamic_shape),
    fact(op::aten_tensor_split_tensor_indices_or_sections, Fact::dynamic_shape),
    fact(op::aten_narrow_Tensor, Fact::dynamic_shape),
    fact(op::aten__pad_packed_sequence_default, Fact::dynamic_shape),
    fact(op::aten__reshape_from_tensor_default, Fact::dynamic_shape),
    fact(op::aten__pack_padded_sequence_default, Fact::dynamic_shape),
    fact(op::aten_combinations_default, Fact::dynamic_shape),
    fact(op::aten_ctc_loss_IntList, Fact::dynamic_shape),
    fact(op::aten_ctc_loss_Tensor, Fact::dynamic_shape),

    // ---- These read contents to check them.
    fact(op::aten_cov_default, Fact::data_dependent),
    fact(op::aten_corrcoef_default, Fact::data_dependent),
    fact(op::aten_istft_default, Fact::data_dependent),

    // ---- The forward variables of what lies beyond a sequence's length.
    fact(op::aten__ctc_loss_default, Fact::uninitialized),
    fact(op::aten__ctc_loss_Tensor, Fact::uninitialized),

    // ---- Contents are whatever the memory held.
    fact(op::aten__empty_affine_quantized_default, Fact::uninitialized),
    fact(op::aten__empty_per_channel_affine_quantized_default, Fact::uninitialized),
    fact(op::aten_empty_memory_format, Fact::uninitialized),
    fact(op::aten_empty_like_default, Fact::uninitialized),
    fact(op::aten_empty_permuted_default, Fact::uninitialized),
    fact(op::aten_empty_quantized_default, Fact::uninitialized),
    fact(op::aten_empty_strided_default, Fact::uninitialized),
    fact(op::aten_new_empty_default, Fact::uninitialized),
    fact(op::aten_new_empty_strided_default, Fact::uninitialized),
    fact(op::prims_empty_default, Fact::uninitialized),
    fact(op::prims_empty_permuted_default, Fact::uninitialized),
    fact(op::prims_empty_strided_default, Fact::uninitialized),

    // ---- Results share storage with each other.
    fact(op::aten_nonzero_numpy_default, Fact::results_overlap),
    fact(op::aten_where_default, Fact::results_overlap),
};

/// Process groups order their calls; streams and profiler ranges are states of the process. The
/// in-place collectives of `c10d` and the symmetric memory ones write without saying so.
constexpr NamespaceEffect namespaces[] = {
    {"_c10d_functional", Ordering::collective, false},
    {"_c10d_functional_autograd", Ordering::collective, false},
    {"c10d", Ordering::collective, true},
    {"c10d_functional", Ordering::collective, false},
    {"profiler", Ordering::global_state, false},
    {"streams", Ordering::global_state, false},
    {"symm_mem", Ordering::collective, true},
};

}  // namespace

std::span<const EffectRow> effect_table() {
  return effect_rows;
}

std::span<const NamespaceEffect> namespace_effects() {
  return namespaces;
}

}  // namespace winze
