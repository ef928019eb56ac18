// SPDX-License-Identifier: MIT
// The package, for import.
import polarquant from './index.js';

export const {
  BadArgumentError,
  CancelledError,
  CodeBlocks,
  Codec,
  CorruptDataError,
  CudaError,
  Index,
  IndexBuilder,
  InputOutputError,
  InternalError,
  NewerFormatError,
  NotFoundError,
  NotTrainedError,
  OutOfMemoryError,
  PolarError,
  PreparedFilter,
  Query,
  RangeResult,
  SearchResult,
  StateMismatchError,
  UnsupportedError,
  advise,
  adviseSync,
  cuda,
  mergeFiles,
  mergeFilesSync,
  mergePartials,
  specHelp,
  version,
  versionNumber,
} = polarquant;

export default polarquant;
