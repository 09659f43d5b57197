import { spawnSync } from 'node:child_process'

/** For a process that is about to crash as it should: a dump of it would be taken for one that nobody expected. */
export function leaveNoCore(): void {
  // Where there is no such program there is a dump more.
  spawnSync('prlimit', ['--core=0', '--pid', String(process.pid)], { stdio: 'ignore' })
}
