// The function that a kernel library exports, and its name.
#pragma once
#include "dispatch/kernels.hpp"

#if defined(_WIN32)
#define DECIBAN_EXPORT __declspec(dllexport)
#else
#define DECIBAN_EXPORT __attribute__((visibility("default")))
#endif

extern "C" DECIBAN_EXPORT const deciban::Kernels* DECIBAN_TABLE();
