// SPDX-License-Identifier: Apache-2.0
import org.sonde.api.MethodId;
import org.sonde.api.SamplingProfiler;

/** An agent that nobody can make. */
public final class Hidden implements SamplingProfiler {
  private Hidden() {}

  @Override
  public long register(Thread thread) {
    return 1000;
  }

  @Override
  public long processSample(Thread thread, MethodId[] stack, int depth, long bytecodes) {
    return 1000;
  }
}
