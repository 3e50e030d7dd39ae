// SPDX-License-Identifier: Apache-2.0
package app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.zip.Deflater;

/**
 * Shares SECONDS THREADS DEPTH [native|kernel|garbage]: each thread burns so much CPU time in four methods, 10, 20, 30 and 40 percent of it, below
 * DEPTH frames of a recursion. Rounds are of random length, so that they are not in step with what interrupts them at regular times, as the
 * kernel's tick does. The unit of work is the same everywhere, a multiplication, a piece of data that native
 * code compresses or that the kernel fills with zeros, or objects that the collector has to copy or to drop, so the shares are known by construction.
 */
public final class Shares {
  private static final int UNIT = 500;
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  private Shares() {}

  private static String kind = "";
  private static final byte[] DATA = data();
  private static final ThreadLocal<byte[][]> KEPT = ThreadLocal.withInitial(() -> new byte[8192][]);
  private static final ThreadLocal<Deflater> DEFLATER = ThreadLocal.withInitial(Deflater::new);

  private static final FileChannel ZEROS = openZeros();
  private static final ThreadLocal<ByteBuffer> BUFFER = ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(1 << 18));

  private static byte[] data() {
    final byte[] bytes = new byte[600];
    for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) (i * i);
    return bytes;
  }

  static long compress(long x, int units) {
    final Deflater deflater = DEFLATER.get();
    final byte[] out = new byte[1000];
    for (int i = 0; i < units; i++) {
      deflater.reset();
      deflater.setInput(DATA);
      deflater.finish();
      x += deflater.deflate(out);
    }
    return x;
  }

  static long zeros(long x, int units) {
    final ByteBuffer buffer = BUFFER.get();
    for (int i = 0; i < units; i++) {
      buffer.clear();
      try {
        x += ZEROS.read(buffer);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return x;
  }

  private static FileChannel openZeros() {
    try {
      return FileChannel.open(Path.of("/dev/zero"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Most die at once, the others a little later, so a collection always has some to copy. */
  static long litter(long x, int units) {
    final byte[][] kept = KEPT.get();
    for (int i = 0; i < units * 40; i++) {
      final byte[] bytes = new byte[200];
      bytes[i % bytes.length] = (byte) x;
      x += bytes[(i * 7) % bytes.length] + 1;
      if (i % 4 == 0) kept[(int) (x & (kept.length - 1))] = bytes;
    }
    return x;
  }

  static long work(long x, int units) {
    if (kind.equals("native")) return compress(x, units);
    if (kind.equals("kernel")) return zeros(x, units);
    if (kind.equals("garbage")) return litter(x, units);
    for (int i = 0; i < units * UNIT; i++) x = x * 6364136223846793005L + 1442695040888963407L;
    return x;
  }

  static long ten(long x, int length) {
    return work(x, 10 * length) + 1;
  }

  static long twenty(long x, int length) {
    return work(x, 20 * length) + 2;
  }

  static long thirty(long x, int length) {
    return work(x, 30 * length) + 3;
  }

  static long forty(long x, int length) {
    return work(x, 40 * length) + 4;
  }

  /** What happens only once, loading of classes and most of the compilation, is none of the four methods' time. */
  static long warmUp(long x) {
    for (int i = 0; i < 200; i++) x = work(x, 1);
    return x;
  }

  /** CPU time and not time: on a busy machine there are as many samples as on an idle one. */
  static long burn(long cpuNs) {
    final ThreadLocalRandom random = ThreadLocalRandom.current();
    long x = warmUp(1);
    while (CLOCK.getCurrentThreadCpuTime() < cpuNs) {
      final int length = 1 + random.nextInt(8);
      x = forty(thirty(twenty(ten(x, length), length), length), length);
    }
    return x;
  }

  static long nest(int depth, long cpuNs) {
    return depth == 0 ? burn(cpuNs) : nest(depth - 1, cpuNs) + 1;
  }

  public static void main(String[] args) throws InterruptedException {
    final long cpuNs = (long) (Double.parseDouble(args[0]) * 1e9);
    final Thread[] threads = new Thread[Integer.parseInt(args[1])];
    final int depth = Integer.parseInt(args[2]);
    kind = args.length > 3 ? args[3] : "";
    final long[] results = new long[threads.length];
    for (int i = 0; i < threads.length; i++) {
      final int index = i;
      threads[i] = new Thread(() -> results[index] = nest(depth, cpuNs), "burner-" + i);
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
    System.out.println("done");
  }
}
