// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A method that {@link Tests} runs. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Test {
  /** Whether it takes long: run with --slow alone. */
  boolean slow() default false;
}
