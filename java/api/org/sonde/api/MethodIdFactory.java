// SPDX-License-Identifier: Apache-2.0
package org.sonde.api;

/** Makes the objects that stand for methods. An agent replaces it by {@link Agent#methodIdFactory()}. */
@FunctionalInterface
public interface MethodIdFactory {
  /** Called once for each method, before the agent sees it for the first time, on the agent's thread. Never null. */
  MethodId create(String className, String methodName, String descriptor);
}
