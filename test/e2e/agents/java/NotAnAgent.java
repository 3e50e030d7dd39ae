// SPDX-License-Identifier: Apache-2.0

/** Does not implement any interface of an agent. */
public final class NotAnAgent {}
