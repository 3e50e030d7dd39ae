// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * What long exception tables cost: CPU time to link a class with one method that stores into an array many times, each
 * store with rows and landing pads of its own, as precise counting makes them.
 * {@code java -cp /usr/share/java/asm.jar bench/exact/VerifierCost.java}
 */
public final class VerifierCost extends ClassLoader {
  private static final int RUNS = 5;

  private static byte[] classWith(String name, int stores, int rows) {
    final ClassWriter cls = new ClassWriter(0);
    cls.visit(Opcodes.V11, Opcodes.ACC_PUBLIC, name, null, "java/lang/Object", null);
    final MethodVisitor code = cls.visitMethod(Opcodes.ACC_STATIC, "table", "()[I", null, null);
    code.visitCode();
    final Label[][] pads = new Label[stores][rows];
    code.visitIntInsn(Opcodes.SIPUSH, stores);
    code.visitIntInsn(Opcodes.NEWARRAY, Opcodes.T_INT);
    for (int i = 0; i < stores; i++) {
      final Label start = new Label();
      final Label end = new Label();
      for (int r = 0; r < rows; r++) {
        pads[i][r] = new Label();
        code.visitTryCatchBlock(start, end, pads[i][r], r + 1 < rows ? "java/lang/IllegalStateException" : null);
      }
      code.visitInsn(Opcodes.DUP);
      code.visitIntInsn(Opcodes.SIPUSH, i);
      code.visitInsn(Opcodes.ICONST_1);
      code.visitLabel(start);
      code.visitInsn(Opcodes.IASTORE);
      code.visitLabel(end);
    }
    code.visitInsn(Opcodes.ARETURN);
    for (Label[] ofStore : pads) {
      for (Label pad : ofStore) {
        code.visitLabel(pad);
        code.visitFrame(Opcodes.F_FULL, 0, new Object[0], 1, new Object[] {"java/lang/Throwable"});
        code.visitInsn(Opcodes.ATHROW);
      }
    }
    code.visitMaxs(4, 0);
    code.visitEnd();
    cls.visitEnd();
    return cls.toByteArray();
  }

  public static void main(String[] args) throws Exception {
    final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    for (int rows = 0; rows <= 2; rows++) {
      for (int stores : new int[] {10, 500, 1000, 2000, 4000, 6000}) {
        final double[] ms = new double[RUNS];
        for (int run = 0; run < RUNS; run++) {
          final byte[] bytes = classWith("Table", stores, rows);
          final VerifierCost loader = new VerifierCost();
          final long start = threads.getCurrentThreadCpuTime();
          loader.defineClass("Table", bytes, 0, bytes.length);
          Class.forName("Table", true, loader);
          ms[run] = (threads.getCurrentThreadCpuTime() - start) / 1e6;
        }
        Arrays.sort(ms);
        System.out.printf("%5d stores, %5d rows: %7.2f ms%n", stores, stores * rows, ms[RUNS / 2]);
      }
    }
  }
}
