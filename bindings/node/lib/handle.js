// SPDX-License-Identifier: MIT
// What all objects that hold memory of the library's have in common.
'use strict';

const native = require('./native.js');
const { wrongType } = require('./arguments.js');

/** First argument of constructors that take over what the addon made. */
const ADOPT = Symbol('adopt');

class Handle {
  #native;

  constructor(made) {
    this.#native = made;
  }

  /** The addon's value for an object; TypeError for another's. */
  static native(handle, kind) {
    if (kind !== undefined && !(handle instanceof kind)) {
      throw wrongType(`an object of class ${kind.name} is wanted`);
    }
    return handle.#native;
  }

  get closed() {
    return native.isClosed(this.#native);
  }

  close() {
    native.close(this.#native);
  }
}

// Newer engines close what `using` declares.
if (typeof Symbol.dispose === 'symbol') {
  Object.defineProperty(Handle.prototype, Symbol.dispose, {
    value: function dispose() {
      this.close();
    },
    configurable: true,
    writable: true,
  });
}

module.exports = { ADOPT, Handle };
