// SPDX-License-Identifier: Apache-2.0
package app;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/** Serialisation: the JDK finds private methods by reflection and calls them; one throws. */
public class Serial {
  static int calls;

  static class Base {
    int base = 4;

    Base() { calls++; }
  }

  static class Node extends Base implements Serializable {
    private static final long serialVersionUID = 1;
    final String name;
    Node next;
    transient int cache = 9;

    Node(String name, Node next) {
      this.name = name;
      this.next = next;
    }

    private void writeObject(ObjectOutputStream out) throws IOException {
      calls += 10;
      if (name.equals("bad")) throw new IOException("bad");
      out.defaultWriteObject();
      out.writeInt(base);
    }

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
      in.defaultReadObject();
      cache = in.readInt() + name.length();
    }

    private Object readResolve() {
      calls += 100;
      return this;
    }
  }

  static int roundTrip(Node node) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      new ObjectOutputStream(bytes).writeObject(node);
      int sum = 0;
      Object copy = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
      for (Node n = (Node) copy; n != null; n = n.next) sum += n.cache;
      return sum;
    } catch (IOException | ClassNotFoundException e) {
      return e.getMessage().length() * 1000;
    }
  }

  public static void main(String[] args) {
    int sum = roundTrip(new Node("a", new Node("bb", new Node("ccc", null))));
    sum += roundTrip(new Node("a", new Node("bad", null)));
    System.out.println("Serial " + sum + " " + calls);
  }
}
