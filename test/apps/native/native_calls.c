// SPDX-License-Identifier: Apache-2.0
// The native half of app.NativeCalls: calls back into Java, throws, passes exceptions on and clears them.
#include <jni.h>

JNIEXPORT jint JNICALL Java_app_NativeCalls_add(JNIEnv* env, jclass type, jint a, jint b) {
  (void)env;
  (void)type;
  return a + b;
}

// Two callbacks; the second is not made if the first threw, which is then pending when we return.
JNIEXPORT jint JNICALL Java_app_NativeCalls_callStatic(JNIEnv* env, jclass type, jint n) {
  const jmethodID callback = (*env)->GetStaticMethodID(env, type, "callback", "(I)I");
  const jint first = (*env)->CallStaticIntMethod(env, type, callback, n);
  if ((*env)->ExceptionCheck(env)) return -1;
  return first + (*env)->CallStaticIntMethod(env, type, callback, n + 1);
}

JNIEXPORT jint JNICALL Java_app_NativeCalls_callVirtual(JNIEnv* env, jobject self, jint n) {
  const jclass type = (*env)->FindClass(env, "app/NativeCalls");
  const jmethodID callback = (*env)->GetMethodID(env, type, "virtualCallback", "(I)I");
  return (*env)->CallIntMethod(env, self, callback, n) +
         (*env)->CallNonvirtualIntMethod(env, self, type, callback, n);
}

JNIEXPORT void JNICALL Java_app_NativeCalls_throwNew(JNIEnv* env, jclass type, jstring message) {
  (void)type;
  const char* const text = (*env)->GetStringUTFChars(env, message, NULL);
  (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/UnsupportedOperationException"), text);
  (*env)->ReleaseStringUTFChars(env, message, text);
}

JNIEXPORT jint JNICALL Java_app_NativeCalls_swallow(JNIEnv* env, jclass type, jint n) {
  const jmethodID callback = (*env)->GetStaticMethodID(env, type, "callback", "(I)I");
  const jint result = (*env)->CallStaticIntMethod(env, type, callback, n);
  if (!(*env)->ExceptionCheck(env)) return result;
  (*env)->ExceptionClear(env);
  return (*env)->CallStaticIntMethod(env, type, callback, -n);
}

JNIEXPORT jobject JNICALL Java_app_NativeCalls_make(JNIEnv* env, jclass type, jint id) {
  return (*env)->NewObject(env, type, (*env)->GetMethodID(env, type, "<init>", "(I)V"), id);
}

// GetStaticFieldID initialises the class.
JNIEXPORT jint JNICALL Java_app_NativeCalls_readLazy(JNIEnv* env, jclass type) {
  (void)type;
  const jclass lazy = (*env)->FindClass(env, "app/NativeCalls$Lazy");
  return (*env)->GetStaticIntField(env, lazy, (*env)->GetStaticFieldID(env, lazy, "value", "I"));
}

JNIEXPORT jint JNICALL Java_app_NativeCalls_recurse(JNIEnv* env, jclass type, jint depth) {
  return (*env)->CallStaticIntMethod(env, type, (*env)->GetStaticMethodID(env, type, "back", "(I)I"), depth);
}
