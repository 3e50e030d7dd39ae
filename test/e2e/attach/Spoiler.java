// SPDX-License-Identifier: Apache-2.0
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/** A Java agent that makes a class, its argument, one that the JVM refuses, whenever somebody has it changed. */
public final class Spoiler {
  private Spoiler() {}

  public static void premain(String spoilt, Instrumentation jvm) {
    final ClassFileTransformer spoil =
        new ClassFileTransformer() {
          @Override
          public byte[] transform(ClassLoader loader, String name, Class<?> present, ProtectionDomain domain, byte[] bytes) {
            return present != null && present.getName().equals(spoilt) ? new byte[] {1, 2, 3} : null;
          }
        };
    jvm.addTransformer(spoil, true);
  }
}
