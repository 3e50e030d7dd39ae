// SPDX-License-Identifier: Apache-2.0
package org.sonde.api;

/**
 * A method: its class, its name and its descriptor. It keeps no reference to the class, so that classes can be unloaded.
 *
 * <p>There is one object for each method that was loaded, so agents may compare with {@code ==} and use it as a key. An agent
 * may have implementations of its own, with fields that it needs: see {@link MethodIdFactory}.
 */
public interface MethodId {
  /** The name of the class as {@link Class#getName()} has it: {@code java.util.Map$Entry}. */
  String className();

  /** {@code put}, {@code <init>}, {@code <clinit>}. */
  String methodName();

  /** Parameters and result as in class files (JVMS 4.3.3): {@code (Ljava/lang/Object;I)V}. */
  String descriptor();

  /** A plain identifier, which {@link Object#toString()} prints as {@code java.util.Map.put(...)...}. */
  static MethodId of(String className, String methodName, String descriptor) {
    return new PlainMethodId(className, methodName, descriptor);
  }
}
