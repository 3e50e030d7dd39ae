// SPDX-License-Identifier: Apache-2.0
// The flame graph as pixels. All lines of a row look the same: one is filled and copied to the others, so that thousands
// of rectangles cost less than the text on them, also where nothing but the processor draws.
import { ROW, type Surface, fitted } from './flame_canvas';

const FONT = '12px ui-sans-serif, system-ui, sans-serif';
const NARROWEST_GAP = 3; // pixels: narrower rectangles touch their neighbours

/** A CSS colour as a pixel. */
const packedColors = new Map<string, number>();
function packed(color: string): number {
  let pixel = packedColors.get(color);
  if (pixel === undefined) {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 1;
    const context = canvas.getContext('2d', { willReadFrequently: true })!;
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    pixel = new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0];
    packedColors.set(color, pixel);
  }
  return pixel;
}

export class PixelSurface implements Surface {
  private readonly image: ImageData;
  private readonly pixels: Uint32Array;
  private readonly labels: [string, number, number, number][] = [];
  private readonly fittedLabels = new Map<string, { width: number; text: string }>();
  private readonly charWidth: number;
  // The lines of the row that is being drawn; the first of them is filled.
  private top = 0;
  private bottom = 0;

  /** `ratio` is how many pixels make one unit of what is drawn. */
  constructor(
    private readonly context: CanvasRenderingContext2D,
    readonly width: number,
    readonly height: number,
    readonly ratio: number,
  ) {
    this.image = context.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    context.font = FONT;
    // A little more than the average: a text that is cut too early is better than one that runs into its neighbour.
    this.charWidth = (context.measureText('abcdefghijklmnopqrstuvwxyzABC.').width / 30) * 1.08;
  }

  clear(background: string): void {
    this.pixels.fill(packed(background));
    this.top = this.bottom = 0;
  }

  rect(color: string, x: number, y: number, width: number, height: number): void {
    const top = Math.max(0, Math.round(y * this.ratio));
    const bottom = Math.min(this.height, Math.round((y + height) * this.ratio));
    if (bottom <= top) return;
    if (top !== this.top) this.finishRow();
    this.top = top;
    this.bottom = bottom;
    const from = Math.round(x * this.ratio);
    const end = Math.min(this.width, Math.round((x + width) * this.ratio));
    const gap = end - from >= NARROWEST_GAP ? 1 : 0;
    this.pixels.fill(packed(color), top * this.width + from, top * this.width + Math.max(from + 1, end - gap));
  }

  label(text: string, x: number, y: number, width: number): void {
    this.labels.push([text, x, y, width]);
  }

  flush(textColor: string): void {
    const { context } = this;
    this.finishRow();
    context.putImageData(this.image, 0, 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.font = FONT;
    context.fillStyle = textColor;
    context.textBaseline = 'middle';
    for (const [text, x, y, width] of this.labels) context.fillText(this.fitted(text, width), x, y + ROW / 2);
    this.labels.length = 0;
  }

  private finishRow(): void {
    const begin = this.top * this.width;
    for (let line = this.top + 1; line < this.bottom; ++line) this.pixels.copyWithin(line * this.width, begin, begin + this.width);
  }

  /** While a view is moved, most names keep their room. */
  private fitted(text: string, width: number): string {
    const known = this.fittedLabels.get(text);
    if (known !== undefined && known.width === width) return known.text;
    const shown = fitted(text, width, this.charWidth);
    this.fittedLabels.set(text, { width, text: shown });
    return shown;
  }
}
