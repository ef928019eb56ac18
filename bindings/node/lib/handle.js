// SPDX-License-Identifier: MIT
// What all objects that hold memory of the library's have in common.
'use strict';

const native = require('./native.js');
const { wrongType } = require('./arguments.js');

/** First argument of constructors that take over what the addon made. */
const ADOPT = Symbol('adopt');

/** The addon's value for an object of a class; TypeError for another's. */
let nativeOf;

class Handle {
  #native;

  static {
    nativeOf = (handle, kind = Handle) => {
      if (!(handle instanceof kind)) throw wrongType(`an object of class ${kind.name} is wanted`);
      return handle.#native;
    };
  }

  constructor(made) {
    this.#native = made;
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

module.exports = { ADOPT, Handle, nativeOf };
