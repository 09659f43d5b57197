/** Nothing is done to many without saying to how many first, nor to what was not looked at without showing it. */
import { createInterface } from 'node:readline/promises'
import { Ended, EXIT, Usage } from './exit.ts'
import type { Session } from './session.ts'

/** Returns if it may be done. A script says `--yes`; a person is asked. */
export async function confirmed(
  session: Session,
  what: string,
  otherwise = 'Say --yes to do it, --dry-run to look only.',
): Promise<void> {
  if (session.yes) return
  if (!session.terminal.isTTY || session.terminal.look.json || process.stdin.isTTY !== true) {
    throw new Usage(`${what} Nothing was done.`, otherwise)
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await asking.question(`${what} Go on? [y/N] `, { signal: session.signal })
    if (!/^y(es)?$/i.test(answer.trim())) throw new Ended(EXIT.failure)
  } finally {
    asking.close()
  }
}
