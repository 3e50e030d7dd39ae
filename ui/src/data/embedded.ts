// SPDX-License-Identifier: Apache-2.0
// The recording that is in the page itself: base64 of gzip.
import { decodeProfile } from './decode';
import type { Profile, ProfileSource } from './profile';

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export class EmbeddedSource implements ProfileSource {
  constructor(private readonly elementId: string) {}

  async load(): Promise<Profile> {
    const element = document.getElementById(this.elementId);
    const packed = fromBase64((element?.textContent ?? '').trim());
    element?.remove(); // the text is not needed any more, and it is large
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return decodeProfile(new Uint8Array(await new Response(unpacked).arrayBuffer()));
  }
}
