// SPDX-License-Identifier: Apache-2.0
// What was recorded, what it cost and what it lost: above every view, so that no number is seen without it.
import type { Profile, Recording } from '../data/profile';
import { duration } from '../model/text';

function facts(recording: Recording): string {
  const parts = [`mode ${recording.mode}`];
  if (recording.jdk !== '') parts.push(`JDK ${recording.jdk}`);
  if (recording.startMs > 0) parts.push(`${new Date(recording.startMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`);
  if (recording.durationNs > 0) parts.push(duration(recording.durationNs));
  if (recording.ownCpuNs > 0) parts.push(`Sonde's own work ${duration(recording.ownCpuNs)} of CPU time`);
  if (!recording.complete) parts.push('not complete: the program was killed or is still running');
  return parts.join(' · ');
}

export function Header({ profile }: { profile: Profile }) {
  return (
    <header>
      {profile.recordings.map((recording, r) => (
        <div class="recording" key={r}>
          {profile.recordings.length > 1 && <span class={`badge ${r === 0 ? 'before' : 'after'}`}>{r === 0 ? 'before' : 'after'}</span>}
          <b title={recording.command}>{recording.command || 'recording'}</b>
          <span class="faint">{facts(recording)}</span>
          {recording.losses.length === 0 ? (
            <span class="fine">nothing lost</span>
          ) : (
            <details class="losses">
              <summary>{recording.losses.length === 1 ? '1 kind of loss' : `${recording.losses.length} kinds of losses`}</summary>
              <ul>
                {recording.losses.map((loss) => (
                  <li key={loss}>{loss}</li>
                ))}
              </ul>
            </details>
          )}
        </div>
      ))}
    </header>
  );
}
