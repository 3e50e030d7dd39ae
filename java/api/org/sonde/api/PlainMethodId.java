// SPDX-License-Identifier: Apache-2.0
package org.sonde.api;

/** What agents get if they have no {@link MethodIdFactory} of their own. Two of the same name may be of two class loaders. */
final class PlainMethodId implements MethodId {
  private final String className;
  private final String methodName;
  private final String descriptor;

  PlainMethodId(String className, String methodName, String descriptor) {
    this.className = className;
    this.methodName = methodName;
    this.descriptor = descriptor;
  }

  @Override
  public String className() {
    return className;
  }

  @Override
  public String methodName() {
    return methodName;
  }

  @Override
  public String descriptor() {
    return descriptor;
  }

  @Override
  public String toString() {
    return className + "." + methodName + descriptor;
  }
}
