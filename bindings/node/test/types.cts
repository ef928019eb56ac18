// SPDX-License-Identifier: MIT
// Compiled, never run: the types by require.
import polarquant = require('polarquant');

const index: polarquant.Index = new polarquant.Index('Polar4', 8);
const result: polarquant.RangeResult = index.rangeSearchSync(new Float32Array(8), 1);
const layout: polarquant.cuda.Places = { layout: 'replicated' };
export { layout, result };
