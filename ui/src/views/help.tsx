// SPDX-License-Identifier: Apache-2.0
export const KEYS: [string, string][] = [
  ['?', 'this list'],
  ['/', 'search; Esc leaves it. /a|b/ is a regular expression'],
  ['1  2', 'flame graph, table'],
  ['m', 'next metric'],
  ['t', 'next thread'],
  ['i', 'invert: from callees to callers'],
  ['o', 'order: heaviest first, call order, by name'],
  ['r', 'collapse direct recursion'],
  ['c', 'my code: hide the JDK, its values go to who called it'],
  ['n', 'with two recordings: compare shares or amounts'],
  ['← → ↑ ↓', 'select a neighbour, caller, callee'],
  ['Enter', 'zoom to the selected frame'],
  ['Backspace', 'zoom out to the caller'],
  ['0', 'zoom out completely'],
  ['f', 'focus on the selected method: only what it calls'],
  ['h', 'hide the selected method'],
  ['x', 'undo focus and hiding'],
  ['l', 'light or dark'],
  ['s  p', 'save as SVG, as PNG'],
];

export function Help({ onClose }: { onClose(): void }) {
  return (
    <div class="backdrop" onClick={onClose}>
      <div class="help" role="dialog" aria-label="Keys" id="help" onClick={(event) => event.stopPropagation()}>
        <h1>Keys</h1>
        <table>
          <tbody>
            {KEYS.map(([keys, meaning]) => (
              <tr key={keys}>
                <td>
                  <kbd>{keys}</kbd>
                </td>
                <td>{meaning}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p class="faint">Mouse: click zooms, double click zooms out, drag moves, wheel scrolls, Ctrl + wheel zooms.</p>
        <button onClick={onClose}>Close</button>
      </div>
    </div>
  );
}
