// SPDX-License-Identifier: Apache-2.0
package app;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/**
 * Frozen SECONDS THREADS DEPTH PAUSE: virtual threads that are in native code nearly all the time, most of their callers in the
 * heap: after each yield only the innermost frames come back to the stack. Every PAUSE ms there is a collection, 0: none.
 */
public final class Frozen {
  private Frozen() {}

  static long compress(long end) {
    final Deflater deflater = new Deflater(9);
    final ByteBuffer in = ByteBuffer.allocateDirect(1 << 16);
    final ByteBuffer out = ByteBuffer.allocateDirect(1 << 17);
    for (int i = 0; i < in.capacity(); i++) in.put(i, (byte) (i * 31 ^ i >> 7));
    long bytes = 0;
    while (System.nanoTime() < end) {
      Thread.yield();
      deflater.reset();
      deflater.setInput(in.clear());
      deflater.finish();
      bytes += deflater.deflate(out.clear());
    }
    deflater.end();
    return bytes;
  }

  static long down(int depth, long end) {
    return depth == 0 ? compress(end) : down(depth - 1, end) + 1;
  }

  public static void main(String[] args) throws InterruptedException {
    final long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
    final int depth = Integer.parseInt(args[2]);
    final int pause = Integer.parseInt(args[3]);
    final List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(args[1]); i++) {
      threads.add(Thread.ofVirtual().name("virtual-" + i).start(() -> down(depth, end)));
    }
    while (pause > 0 && System.nanoTime() < end) {
      Thread.sleep(pause);
      System.gc();
    }
    for (Thread thread : threads) thread.join();
    System.out.println("done");
  }
}
