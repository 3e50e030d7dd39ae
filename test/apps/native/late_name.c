// SPDX-License-Identifier: Apache-2.0
// A thread that the JVM does not know: for a while it has the name of the thread that made it, as those of collectors
// have until they run, then one of its own, under which it uses CPU time.
#define _GNU_SOURCE
#include <jni.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

struct Times {
  jint unnamed_ms;
  jint busy_ms;
};

static long cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void* work(void* argument) {
  const struct Times* const times = argument;
  usleep((useconds_t)times->unnamed_ms * 1000);
  pthread_setname_np(pthread_self(), "late name");
  while (cpu_ms() < times->busy_ms) {
  }
  return NULL;
}

JNIEXPORT void JNICALL Java_app_LateName_work(JNIEnv* env, jclass type, jint unnamed_ms, jint busy_ms) {
  (void)env;
  (void)type;
  struct Times times = {unnamed_ms, busy_ms};
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, &times) == 0) pthread_join(thread, NULL);
}
