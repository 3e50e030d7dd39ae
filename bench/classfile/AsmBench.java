// SPDX-License-Identifier: Apache-2.0
import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.LocalVariablesSorter;

/**
 * The other side of classfile_bench: ASM reads each class, puts a nop before every instruction and writes it. No frames
 * are computed, max_stack and max_locals are taken over: the least that ASM can do. With `--local` a long local is added
 * as well, set at entry and named in every frame: LocalVariablesSorter of asm-commons, which needs expanded frames. The
 * speed is of the main thread's CPU time, as in classfile_bench; `with GC` is of the CPU
 * time of the whole process (in steps of 10 ms).
 *
 * <p>usage: AsmBench [--rounds N] [--fresh-pool] [--local] MODULE: the classes of a module of the running JDK
 */
public final class AsmBench {
  private static final int WARM_UP_ROUNDS = 30;

  private static long written; // by the last round; keeps the results alive

  public static void main(String[] args) throws IOException {
    int rounds = 15;
    boolean sharePool = true;
    boolean addLocal = false;
    String module = "java.base";
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--rounds" -> rounds = Integer.parseInt(args[++i]);
        case "--fresh-pool" -> sharePool = false;
        case "--local" -> addLocal = true;
        default -> module = args[i];
      }
    }
    List<byte[]> classes = load(module);
    double megabytes = classes.stream().mapToLong(bytes -> bytes.length).sum() / 1e6;
    for (int i = 0; i < WARM_UP_ROUNDS; i++) {
      round(classes, sharePool, addLocal);
    }
    double[] speeds = new double[rounds];
    double[] processSpeeds = new double[rounds];
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    var process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    for (int i = 0; i < rounds; i++) {
      long start = threads.getCurrentThreadCpuTime();
      long processStart = process.getProcessCpuTime();
      round(classes, sharePool, addLocal);
      speeds[i] = megabytes / ((threads.getCurrentThreadCpuTime() - start) / 1e9);
      processSpeeds[i] = megabytes / ((process.getProcessCpuTime() - processStart) / 1e9);
    }
    Arrays.sort(speeds);
    Arrays.sort(processSpeeds);
    System.out.printf(
        "asm %s: %d classes, %.1f MB, best %.1f MB/s, median %.1f MB/s, with GC %.1f MB/s, %.1f MB written%n",
        (addLocal ? "nop+local" : "nop") + (sharePool ? "" : "-fresh-pool"),
        classes.size(),
        megabytes,
        speeds[rounds - 1],
        speeds[rounds / 2],
        processSpeeds[rounds / 2],
        written / 1e6);
  }

  private static List<byte[]> load(String module) throws IOException {
    List<byte[]> classes = new ArrayList<>();
    Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules", module);
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : (Iterable<Path>) files.filter(path -> path.toString().endsWith(".class")).sorted()::iterator) {
        classes.add(Files.readAllBytes(file));
      }
    }
    return classes;
  }

  private static void round(List<byte[]> classes, boolean sharePool, boolean addLocal) {
    written = 0;
    for (byte[] bytes : classes) {
      ClassReader reader = new ClassReader(bytes);
      // A writer that knows the reader starts from its constant pool instead of building one.
      ClassWriter writer = sharePool ? new ClassWriter(reader, 0) : new ClassWriter(0);
      reader.accept(new NopClass(writer, addLocal), addLocal ? ClassReader.EXPAND_FRAMES : 0);
      written += writer.toByteArray().length;
    }
  }

  private static final class NopClass extends ClassVisitor {
    private final boolean addLocal;

    NopClass(ClassVisitor next, boolean addLocal) {
      super(Opcodes.ASM9, next);
      this.addLocal = addLocal;
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String descriptor, String signature, String[] exceptions) {
      MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
      return new NopMethod(addLocal ? new AddedLocal(access, descriptor, next) : next);
    }
  }

  private static final class AddedLocal extends LocalVariablesSorter {
    AddedLocal(int access, String descriptor, MethodVisitor next) {
      super(Opcodes.ASM9, access, descriptor, next);
    }

    @Override
    public void visitCode() {
      super.visitCode();
      int local = newLocal(Type.LONG_TYPE);
      mv.visitInsn(Opcodes.LCONST_0);
      mv.visitVarInsn(Opcodes.LSTORE, local);
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
      super.visitMaxs(Math.max(maxStack, 2), maxLocals); // which knows the locals better
    }
  }

  private static final class NopMethod extends MethodVisitor {
    NopMethod(MethodVisitor next) {
      super(Opcodes.ASM9, next);
    }

    private void nop() {
      mv.visitInsn(Opcodes.NOP);
    }

    @Override
    public void visitInsn(int opcode) {
      nop();
      mv.visitInsn(opcode);
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
      nop();
      mv.visitIntInsn(opcode, operand);
    }

    @Override
    public void visitVarInsn(int opcode, int local) {
      nop();
      mv.visitVarInsn(opcode, local);
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
      nop();
      mv.visitTypeInsn(opcode, type);
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
      nop();
      mv.visitFieldInsn(opcode, owner, name, descriptor);
    }

    @Override
    public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
      nop();
      mv.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    }

    @Override
    public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
      nop();
      mv.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
      nop();
      mv.visitJumpInsn(opcode, label);
    }

    @Override
    public void visitLdcInsn(Object value) {
      nop();
      mv.visitLdcInsn(value);
    }

    @Override
    public void visitIincInsn(int local, int increment) {
      nop();
      mv.visitIincInsn(local, increment);
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label defaultLabel, Label... labels) {
      nop();
      mv.visitTableSwitchInsn(min, max, defaultLabel, labels);
    }

    @Override
    public void visitLookupSwitchInsn(Label defaultLabel, int[] keys, Label[] labels) {
      nop();
      mv.visitLookupSwitchInsn(defaultLabel, keys, labels);
    }

    @Override
    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
      nop();
      mv.visitMultiANewArrayInsn(descriptor, dimensions);
    }
  }
}
