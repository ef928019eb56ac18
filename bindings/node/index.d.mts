// SPDX-License-Identifier: MIT
export * from './index.js';
import * as polarquant from './index.js';
export default polarquant;
