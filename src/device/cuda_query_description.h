// SPDX-License-Identifier: MIT
// What a device needs of a codec to rotate vectors, and to prepare queries.
#pragma once

#include "cuda/interface.h"
#include "src/codec/codec.h"
#include "src/scan/model/scan_codec.h"

namespace polarquant::device {

/// What it points to is the rotation's. Not of dense rotations.
cuda::RotationDescription describe_rotation(const Rotation& rotation, int dim);

/// Whether devices prepare the codec's queries: all that are not too long, but for dense rotations.
bool prepares_queries(const Codec& codec);

/// What it points to is the codec's.
cuda::QueryDescription describe_queries(const Codec& codec, const ScanCodec& scan_codec);

}  // namespace polarquant::device
