// SPDX-License-Identifier: Apache-2.0
// The flame graph: a canvas that scrolls, zooms and answers where the mouse is. Zooming by a click is part of the state
// (and so of the link); by wheel and drag it is a matter of the moment.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import type { Profile } from '../data/profile';
import { nodeAt } from '../model/layout';
import { amount, percent, signed } from '../model/text';
import { ROW, type Scene, type Viewport, drawScene } from './flame_canvas';
import { PixelSurface } from './pixel_surface';

interface Props {
  profile: Profile;
  metric: number;
  scene: Scene;
  zoomed: number; // node that fills the width
  selected: number;
  onZoom(node: number): void;
  onSelect(node: number): void;
}

const NARROWEST_VIEW = 1e-9;
const ZOOM_PER_NOTCH = 1.0015;

/** For tests and for measuring: what the last frame took. */
export const frameTimes: number[] = [];

export function Flame(props: Props) {
  const { scene, zoomed } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const surface = useRef<PixelSurface | null>(null);
  const view = useRef<Viewport>({ left: 0, right: 1, top: 0, width: 0, height: 0 });
  const pending = useRef(0);
  const drag = useRef<{ x: number; y: number; left: number; right: number; moved: boolean } | null>(null);
  const [hover, setHover] = useState<{ scene: Scene; node: number; x: number; y: number } | null>(null);

  const height = scene.layout.rows.length * ROW;

  const draw = () => {
    pending.current = 0;
    const element = canvas.current;
    const context = element?.getContext('2d', { alpha: false });
    if (!element || !context || !box.current) return;
    const start = performance.now();
    const ratio = window.devicePixelRatio || 1;
    const v = view.current;
    v.width = box.current.clientWidth;
    v.height = box.current.clientHeight;
    v.top = Math.max(0, Math.min(v.top, height - v.height));
    const width = Math.max(1, Math.round(v.width * ratio));
    const pixelHeight = Math.max(1, Math.round(v.height * ratio));
    let drawn = surface.current;
    if (drawn === null || drawn.width !== width || drawn.height !== pixelHeight || drawn.ratio !== ratio) {
      element.width = width;
      element.height = pixelHeight;
      drawn = surface.current = new PixelSurface(context, width, pixelHeight, ratio);
    }
    drawn.clear(scene.palette.background);
    drawScene(scene, v, drawn);
    drawn.flush(scene.palette.frameText);
    if (props.selected >= 0) outline(context, scene, v, props.selected);
    frameTimes.push(performance.now() - start);
    if (frameTimes.length > 1000) frameTimes.shift();
  };
  const drawRef = useRef(draw);
  drawRef.current = draw;
  const redraw = () => {
    if (pending.current === 0) pending.current = requestAnimationFrame(() => drawRef.current());
  };

  useLayoutEffect(() => {
    const { left, width } = { left: scene.layout.left[zoomed], width: scene.layout.width[zoomed] };
    view.current.left = left;
    view.current.right = left + Math.max(width, NARROWEST_VIEW);
    view.current.top = Math.max(0, (scene.layout.depth[zoomed] - 8) * ROW);
    setHover(null);
    draw();
  }, [scene, zoomed]);
  useLayoutEffect(draw, [props.selected]);
  useEffect(() => {
    const observer = new ResizeObserver(redraw);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);

  const clampTo = (left: number, right: number) => {
    const width = Math.min(1, Math.max(NARROWEST_VIEW, right - left));
    const start = Math.min(Math.max(0, left), 1 - width);
    view.current.left = start;
    view.current.right = start + width;
    redraw();
  };
  const hit = (event: MouseEvent) => {
    const bounds = canvas.current!.getBoundingClientRect();
    const v = view.current;
    const x = event.clientX - bounds.left;
    const y = event.clientY - bounds.top;
    const node = nodeAt(scene.layout, Math.floor((y + v.top) / ROW), v.left + (x / v.width) * (v.right - v.left));
    return { node, x, y };
  };
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const v = view.current;
    if (event.ctrlKey || event.metaKey) {
      const { x } = hit(event);
      const at = v.left + (x / v.width) * (v.right - v.left);
      const factor = ZOOM_PER_NOTCH ** event.deltaY;
      clampTo(at - (at - v.left) * factor, at + (v.right - at) * factor);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const shift = ((event.deltaX || event.deltaY) / v.width) * (v.right - v.left);
      clampTo(v.left + shift, v.right + shift);
    } else {
      v.top += event.deltaY;
      redraw();
    }
  };
  useEffect(() => {
    const element = canvas.current!;
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  });
  const onMouseDown = (event: MouseEvent) => {
    if (event.button !== 0) return;
    drag.current = { x: event.clientX, y: event.clientY, left: view.current.left, right: view.current.right, moved: false };
  };
  const onMouseMove = (event: MouseEvent) => {
    const start = drag.current;
    if (start === null) {
      const found = hit(event);
      setHover(found.node >= 0 ? { scene, ...found } : null);
      return;
    }
    const dx = event.clientX - start.x;
    const dy = event.clientY - start.y;
    if (!start.moved && Math.hypot(dx, dy) < 4) return;
    start.moved = true;
    start.y = event.clientY;
    view.current.top -= dy;
    const shift = (dx / view.current.width) * (start.right - start.left);
    clampTo(start.left - shift, start.right - shift);
  };
  const onMouseUp = (event: MouseEvent) => {
    const start = drag.current;
    drag.current = null;
    if (start === null || start.moved) return;
    const { node } = hit(event);
    if (node < 0) return;
    props.onSelect(node);
    props.onZoom(node);
  };

  return (
    <div class="flame" ref={box}>
      <canvas
        ref={canvas}
        id="flame"
        role="img"
        aria-label="Flame graph; the table has the same numbers as text"
        onMouseDown={onMouseDown}
        onMouseMove={onMouseMove}
        onMouseUp={onMouseUp}
        onMouseLeave={() => {
          drag.current = null;
          setHover(null);
        }}
        onDblClick={() => props.onZoom(0)}
      />
      {hover?.scene === scene && drag.current === null && <Tooltip {...props} hover={hover} width={view.current.width} />}
    </div>
  );
}

function outline(context: CanvasRenderingContext2D, scene: Scene, view: Viewport, node: number): void {
  const scale = view.width / (view.right - view.left);
  const x = Math.max(1, (scene.layout.left[node] - view.left) * scale);
  const end = Math.min(view.width - 1, (scene.layout.left[node] + scene.layout.width[node] - view.left) * scale);
  if (end <= x) return;
  context.strokeStyle = scene.palette.selected;
  context.lineWidth = 2;
  context.strokeRect(x, scene.layout.depth[node] * ROW - view.top, end - x - 1, ROW - 2);
}

function Tooltip({ profile, metric, scene, hover, width }: Props & { hover: { node: number; x: number; y: number }; width: number }) {
  const { tree } = scene;
  const node = hover.node;
  const method = tree.method[node] < 0 ? null : profile.methods[tree.method[node]];
  const unit = profile.metrics[metric];
  const share = (r: number) => (tree.total[r][0] > 0 ? tree.total[r][node] / tree.total[r][0] : 0);
  const style = { top: `${hover.y + 22}px`, ...(hover.x > width / 2 ? { right: `${width - hover.x + 8}px` } : { left: `${hover.x + 12}px` }) };
  return (
    <div class="tooltip" style={style}>
      <b>{method === null ? scene.rootName : method.display + method.parameters}</b>
      {method !== null && method.file !== '' && (
        <span class="faint">
          {method.file}
          {method.line > 0 ? `:${method.line}` : ''}
        </span>
      )}
      <table>
        <tbody>
          {tree.total.map((_, r) => (
            <tr key={r}>
              <td>{tree.total.length > 1 ? (r === 0 ? 'before' : 'after') : unit.label}</td>
              <td>{amount(tree.total[r][node], unit)}</td>
              <td>{percent(share(r))}</td>
              <td class="faint">self {amount(tree.self[r][node], unit)}</td>
            </tr>
          ))}
          {tree.total.length > 1 && (
            <tr>
              <td>change</td>
              <td>{signed(amount(tree.total[1][node] - tree.total[0][node], unit), tree.total[1][node] - tree.total[0][node])}</td>
              <td>{signed(percent(share(1) - share(0)), share(1) - share(0))}</td>
              <td />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
