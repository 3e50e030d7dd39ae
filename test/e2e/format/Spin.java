// SPDX-License-Identifier: Apache-2.0
// Work for a sampling profiler: two methods, a second and a half.
public class Spin {
    static long sink;

    static void text(int n) {
        for (int i = 0; i < n; i++) sink += Long.toString(i).hashCode();
    }

    static void numbers(int n) {
        for (int i = 0; i < n; i++) sink ^= i * 31L;
    }

    public static void main(String[] args) {
        long end = System.nanoTime() + 1_500_000_000L;
        while (System.nanoTime() < end) {
            text(10_000);
            numbers(50_000);
        }
        System.out.println(sink);
    }
}
