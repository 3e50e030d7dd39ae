// SPDX-License-Identifier: Apache-2.0
// The flame graph as a picture: what is in view across, all rows.
import { ROW, type Scene, type Surface, type Viewport, drawScene, fitted } from './flame_canvas';
import { PixelSurface } from './pixel_surface';

const TALLEST = 16_000; // pixels: browsers refuse larger canvases
const GAP = 0.6; // between frames

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);
}

class SvgSurface implements Surface {
  readonly parts: string[] = [];

  constructor(private readonly textColor: string) {}

  rect(color: string, x: number, y: number, width: number, height: number): void {
    const shown = Math.max(1, width - GAP);
    this.parts.push(`<rect x="${x.toFixed(1)}" y="${y}" width="${shown.toFixed(1)}" height="${height}" fill="${color}"/>`);
  }
  label(text: string, x: number, y: number, width: number): void {
    const shown = escapeXml(fitted(text, width, 6.6));
    this.parts.push(`<text x="${x.toFixed(1)}" y="${y + ROW - 6}" fill="${this.textColor}">${shown}</text>`);
  }
}

function wholeView(scene: Scene, view: Pick<Viewport, 'left' | 'right' | 'width'>): Viewport {
  return { ...view, top: 0, height: Math.min(TALLEST, scene.layout.rows.length * ROW) };
}

export function svgOf(scene: Scene, part: Pick<Viewport, 'left' | 'right' | 'width'>): string {
  const view = wholeView(scene, part);
  const surface = new SvgSurface(scene.palette.frameText);
  drawScene(scene, view, surface);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${view.width}" height="${view.height}" font-family="sans-serif" font-size="12">` +
    `<rect width="100%" height="100%" fill="${scene.palette.background}"/>${surface.parts.join('')}</svg>`
  );
}

export function pngOf(scene: Scene, part: Pick<Viewport, 'left' | 'right' | 'width'>): Promise<Blob> {
  const view = wholeView(scene, part);
  const canvas = document.createElement('canvas');
  canvas.width = view.width;
  canvas.height = view.height;
  const context = canvas.getContext('2d', { alpha: false })!;
  const surface = new PixelSurface(context, view.width, view.height, 1);
  surface.clear(scene.palette.background);
  drawScene(scene, view, surface);
  surface.flush(scene.palette.frameText);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture could be made'))), 'image/png'),
  );
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
