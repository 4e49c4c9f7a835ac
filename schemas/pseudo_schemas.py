# SPDX-License-Identifier: Apache-2.0
"""Schemas of callables that torch has none for, in the same language; README.md tells the notation.

Argument names are those of the Python signatures, because exported programs use them for keyword arguments
and for functions on symbolic scalars. `dump_schemas.py` checks that they still are.
"""

# Higher-order operators: `torch.ops.higher_order.NAME`.
HIGHER_ORDER = [
    "higher_order::_export_tracepoint(...) -> ...",
    "higher_order::aoti_call_delegate(Any lowered_module, Any original_gm, Any weight_args, Any input_args)"
    " -> Tensor[]",
    "higher_order::associative_scan(Graph combine_fn, Any[] xs, Any[] additional_inputs) -> ...",
    "higher_order::auto_functionalized(Op _mutable_op, ...) -> ...",
    "higher_order::auto_functionalized_v2(Op _mutable_op, ...) -> ...",
    "higher_order::autograd_function_apply(Graph fwd, Graph bwd, ...) -> ...",
    "higher_order::call_torchbind(Any obj, str method, ...) -> ...",
    "higher_order::cond(Any pred, Graph true_fn, Graph false_fn, Any[] operands) -> ...",
    "higher_order::control_deps(Any[] additional_deps, Graph subgraph, ...) -> ...",
    "higher_order::executorch_call_delegate(Any lowered_module, ...) -> ...",
    "higher_order::flat_apply(Any func, Any in_spec, *, bool checked_output=True, ...) -> ...",
    "higher_order::flex_attention(Tensor query, Tensor key, Tensor value, Graph score_mod, Any block_mask, "
    "float scale, Any kernel_options, Any[] score_mod_other_buffers=[], Any[] mask_mod_other_buffers=[])"
    " -> (Tensor, Tensor, Tensor)",
    "higher_order::flex_attention_backward(Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp, "
    "Tensor? grad_out, Tensor? grad_logsumexp, Graph fw_graph, Graph joint_graph, Any block_mask, float scale, "
    "Any kernel_options, Any[] score_mod_other_buffers=[], Any[] mask_mod_other_buffers=[])"
    " -> (Tensor, Tensor, Tensor, Tensor?[])",
    "higher_order::foreach_map(Graph fn, ...) -> ...",
    "higher_order::graphsafe_run_with_rng_state(Op op, *, Any rng_state=None, ...) -> ...",
    "higher_order::hints_wrapper(Graph body_fn, Any[] args, Any kwargs, Any hints) -> ...",
    "higher_order::inductor_compiled_code(Any func, Any[] inputs, *, str? name=None) -> ...",
    "higher_order::inline_asm_elementwise(*, str asm_str, str constraints, ScalarType dtype, bool is_pure=True, "
    "int pack=1, ...) -> Tensor",
    "higher_order::invoke_leaf_function(Any real_fn_callable, Any fake_fn_callable, Any input_spec, "
    'str mutated_arg_indices, *, str requires_grad_indices="", ...) -> ...',
    "higher_order::invoke_quant(Graph subgraph, ...) -> ...",
    "higher_order::invoke_quant_packed(Graph subgraph, *, Any scheme=None, Any quant_options=None, ...) -> ...",
    "higher_order::invoke_subgraph(Graph subgraph, str? identifier, ...) -> ...",
    "higher_order::local_map_hop(Graph gm, ...) -> ...",
    "higher_order::map_impl(Graph f, Any[] xs, Any[] pos_args) -> ...",
    "higher_order::out_dtype(Op op, ScalarType output_dtype, ...) -> Tensor",
    "higher_order::print(str format_str, ...) -> ()",
    "higher_order::register_hook(Tensor tensor, Graph hook_body, ...) -> Tensor",
    "higher_order::run_and_save_rng_state(Op op, ...) -> (Tensor, ...)",
    "higher_order::run_const_graph(Graph graph, Any[] args) -> ...",
    "higher_order::run_dtensor_rng_op(Any start_offset_incr, Any end_offset_incr, Op op, ...) -> ...",
    "higher_order::run_with_rng_state(Tensor rng_state, Op op, ...) -> ...",
    "higher_order::scan(Graph combine_fn, Any[] init, Any[] xs, Any[] additional_inputs) -> ...",
    "higher_order::strict_mode(Graph callable, Any[] operands) -> ...",
    "higher_order::tag_activation_checkpoint(Graph gmod, ...) -> ...",
    "higher_order::triton_kernel_wrapper_functional(int kernel_idx, int constant_args_idx, Any grid, "
    "Any tma_descriptor_metadata, Any kwargs, str[] tensors_to_clone) -> ...",
    "higher_order::triton_kernel_wrapper_mutation(int kernel_idx, int constant_args_idx, Any grid, "
    "Any tma_descriptor_metadata, Any kwargs) -> ...",
    "higher_order::while_loop(Graph cond_fn, Graph body_fn, Any[] carried_inputs, Any[] additional_inputs, *, "
    'str mutated_arg_indices="") -> ...',
    "higher_order::while_loop_stack_output(Graph cond_fn, Graph body_fn, Any[] carried_inputs, "
    "Any[] additional_inputs) -> ...",
    "higher_order::with_effects(Token token, Any op, ...) -> (Token, ...)",
    "higher_order::wrap(Graph func, ...) -> ...",
    "higher_order::wrap_activation_checkpoint(Graph function, ...) -> ...",
    "higher_order::wrap_with_autocast(str device_type, ScalarType? dtype, bool enabled, bool? cache_enabled, "
    "Graph wrapped_func, ...) -> ...",
    "higher_order::wrap_with_set_grad_enabled(bool enable_grad, Graph wrapped_func, ...) -> ...",
]

# Higher-order operators that hold Python objects and never stand in a program that can be saved.
IGNORED_HIGHER_ORDER = {"custom_function_call", "dynamo_bypassing_wrapper", "trace_wrapped"}

# Functions on symbolic scalars. `Scalar` is any of SymInt, SymFloat, SymBool, int, float, bool.
SYMBOLIC = [
    "_operator::abs(Scalar a) -> Scalar",
    "_operator::add(Scalar a, Scalar b) -> Scalar",
    "_operator::and_(Scalar a, Scalar b) -> Scalar",
    "_operator::eq(Scalar a, Scalar b) -> SymBool",
    "_operator::floordiv(Scalar a, Scalar b) -> Scalar",
    "_operator::ge(Scalar a, Scalar b) -> SymBool",
    "_operator::gt(Scalar a, Scalar b) -> SymBool",
    "_operator::le(Scalar a, Scalar b) -> SymBool",
    "_operator::lshift(Scalar a, Scalar b) -> Scalar",
    "_operator::lt(Scalar a, Scalar b) -> SymBool",
    "_operator::mod(Scalar a, Scalar b) -> Scalar",
    "_operator::mul(Scalar a, Scalar b) -> Scalar",
    "_operator::ne(Scalar a, Scalar b) -> SymBool",
    "_operator::neg(Scalar a) -> Scalar",
    "_operator::or_(Scalar a, Scalar b) -> Scalar",
    "_operator::pos(Scalar a) -> Scalar",
    "_operator::pow(Scalar a, Scalar b) -> Scalar",
    "_operator::rshift(Scalar a, Scalar b) -> Scalar",
    "_operator::sub(Scalar a, Scalar b) -> Scalar",
    "_operator::truediv(Scalar a, Scalar b) -> SymFloat",
    "_operator::xor(Scalar a, Scalar b) -> Scalar",
    "builtins::round(Scalar number, int? ndigits=None) -> Scalar",
    "math::ceil(Scalar x) -> SymInt",
    "math::floor(Scalar x) -> SymInt",
    "math::trunc(Scalar x) -> SymInt",
    "torch.fx.experimental.symbolic_shapes::cast_symbool_to_symint_guardless(SymBool symbool) -> SymInt",
    "torch::_sym_acos(Scalar a) -> SymFloat",
    "torch::_sym_asin(Scalar a) -> SymFloat",
    "torch::_sym_atan(Scalar a) -> SymFloat",
    "torch::_sym_cos(Scalar a) -> SymFloat",
    "torch::_sym_cosh(Scalar a) -> SymFloat",
    "torch::_sym_log2(Scalar a) -> SymFloat",
    "torch::_sym_sin(Scalar a) -> SymFloat",
    "torch::_sym_sinh(Scalar a) -> SymFloat",
    "torch::_sym_sqrt(Scalar a) -> SymFloat",
    "torch::_sym_tan(Scalar a) -> SymFloat",
    "torch::_sym_tanh(Scalar a) -> SymFloat",
    "torch::sym_float(Scalar a) -> SymFloat",
    "torch::sym_int(Scalar a) -> SymInt",
    "torch::sym_ite(SymBool b, Scalar t, Scalar f) -> Scalar",
    "torch::sym_max(Scalar a, Scalar b) -> Scalar",
    "torch::sym_min(Scalar a, Scalar b) -> Scalar",
    "torch::sym_not(SymBool a) -> SymBool",
    "torch::sym_sum(...) -> Scalar",
]

# Other Python functions that `torch.export` leaves in a graph (the allow-list of its verifier).
FUNCTIONS = [
    "torch._C::_set_grad_enabled(bool enabled) -> ()",
    "torch._functorch.predispatch::_add_batch_dim(Tensor self, int batch_dim, int level) -> Tensor",
    "torch._functorch.predispatch::_enter_dual_level() -> Any",
    "torch._functorch.predispatch::_exit_dual_level(*, int level) -> ()",
    "torch._functorch.predispatch::_jvp_decrement_nesting() -> Any",
    "torch._functorch.predispatch::_jvp_increment_nesting() -> Any",
    "torch._functorch.predispatch::_make_dual(Tensor tensor, Tensor tangent, *, int level=0) -> Tensor",
    "torch._functorch.predispatch::_remove_batch_dim(Tensor self, int level, SymInt batch_size, int out_dim) -> Tensor",
    "torch._functorch.predispatch::_unpack_dual(Tensor tensor, *, int level=0) -> (Tensor, Tensor)",
    "torch._functorch.predispatch::_unwrap_for_grad(Tensor tensor, int level) -> Tensor",
    # They return the level, an int; export records the result as None.
    "torch._functorch.predispatch::_vmap_decrement_nesting() -> Any",
    "torch._functorch.predispatch::_vmap_increment_nesting(SymInt batch_size, str randomness) -> Any",
    "torch._functorch.predispatch::lazy_load_decompositions() -> ()",
    "torch.amp.autocast_mode::_enter_autocast(...) -> Any",
    "torch.amp.autocast_mode::_exit_autocast(Any mode) -> ()",
    "torch.autograd.grad_mode::set_grad_enabled(bool mode) -> ()",
    "torch.export.custom_ops::_call_custom_autograd_function_in_pre_dispatch(str function_cls_name, ...) -> ...",
]
