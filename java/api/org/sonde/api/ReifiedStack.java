// SPDX-License-Identifier: Apache-2.0
package org.sonde.api;

import java.util.Arrays;

/** The stack of one thread as the agent saw it last: what is the same now is not written again. */
final class ReifiedStack {
  MethodId[] methods = new MethodId[64];
  private int[] numbers = new int[64];
  private int depth;

  void set(int[] current, int currentDepth) {
    if (currentDepth > methods.length) {
      final int capacity = Math.max(2 * methods.length, currentDepth);
      methods = Arrays.copyOf(methods, capacity);
      numbers = Arrays.copyOf(numbers, capacity);
    }
    int same = 0;
    while (same < depth && same < currentDepth && numbers[same] == current[same]) ++same;
    for (int i = same; i < currentDepth; ++i) {
      methods[i] = AgentThread.method(current[i]);
      numbers[i] = current[i];
    }
    depth = currentDepth;
  }
}
