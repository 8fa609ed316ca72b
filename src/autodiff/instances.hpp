// Operations are templates over their operands, each a Tensor or a Var. They are compiled once, in the library:
//
//   TERN_INSTANCES_2(ResultOf, rms_norm, double)
//
// stands for ResultOf<A, B> rms_norm(const A&, const B&, double) of every mixture of the two operands' types.
#pragma once

#define TERN_INSTANCES_1(result, name, ...)                               \
  template result<Tensor> name(const Tensor& __VA_OPT__(, ) __VA_ARGS__); \
  template result<Var> name(const Var& __VA_OPT__(, ) __VA_ARGS__);

#define TERN_INSTANCE_2(A, result, name, B, ...) \
  template result<A, B> name(const A&, const B& __VA_OPT__(, ) __VA_ARGS__);
#define TERN_INSTANCE_3(A, B, result, name, C, ...) \
  template result<A, B, C> name(const A&, const B&, const C& __VA_OPT__(, ) __VA_ARGS__);
#define TERN_INSTANCE_4(A, B, C, result, name, D, ...) \
  template result<A, B, C, D> name(const A&, const B&, const C&, const D& __VA_OPT__(, ) __VA_ARGS__);

// The last operand either way, after those before it.
#define TERN_LAST_OF_2(A, result, name, ...)                           \
  TERN_INSTANCE_2(A, result, name, Tensor __VA_OPT__(, ) __VA_ARGS__)  \
  TERN_INSTANCE_2(A, result, name, Var __VA_OPT__(, ) __VA_ARGS__)
#define TERN_LAST_OF_3(A, B, result, name, ...)                           \
  TERN_INSTANCE_3(A, B, result, name, Tensor __VA_OPT__(, ) __VA_ARGS__)  \
  TERN_INSTANCE_3(A, B, result, name, Var __VA_OPT__(, ) __VA_ARGS__)
#define TERN_LAST_OF_4(A, B, C, result, name, ...)                           \
  TERN_INSTANCE_4(A, B, C, result, name, Tensor __VA_OPT__(, ) __VA_ARGS__)  \
  TERN_INSTANCE_4(A, B, C, result, name, Var __VA_OPT__(, ) __VA_ARGS__)
#define TERN_LAST_TWO_OF_3(A, ...)     \
  TERN_LAST_OF_3(A, Tensor, __VA_ARGS__) \
  TERN_LAST_OF_3(A, Var, __VA_ARGS__)
#define TERN_LAST_TWO_OF_4(A, B, ...)       \
  TERN_LAST_OF_4(A, B, Tensor, __VA_ARGS__) \
  TERN_LAST_OF_4(A, B, Var, __VA_ARGS__)
#define TERN_LAST_THREE_OF_4(A, ...)         \
  TERN_LAST_TWO_OF_4(A, Tensor, __VA_ARGS__) \
  TERN_LAST_TWO_OF_4(A, Var, __VA_ARGS__)

#define TERN_INSTANCES_2(...)         \
  TERN_LAST_OF_2(Tensor, __VA_ARGS__) \
  TERN_LAST_OF_2(Var, __VA_ARGS__)
#define TERN_INSTANCES_3(...)             \
  TERN_LAST_TWO_OF_3(Tensor, __VA_ARGS__) \
  TERN_LAST_TWO_OF_3(Var, __VA_ARGS__)
#define TERN_INSTANCES_4(...)               \
  TERN_LAST_THREE_OF_4(Tensor, __VA_ARGS__) \
  TERN_LAST_THREE_OF_4(Var, __VA_ARGS__)
