/** Where the demo keeps its jobs: in a file of this folder that stays, unless the line names another store. */
import { resolve } from 'node:path'
import type { Pawl } from '../../library/pawl.ts'
import { removeFile } from '../../store/sqlite/thread/remove-file.ts'
import { Usage } from '../exit.ts'
import type { Session } from '../session.ts'
import { removePolicyBeside } from './policy.ts'

const OWN_FILE = '.pawl/demo.db'

/** PAWL_URL does not count: it is about the commands that look at a store, and may be production. */
export const placeOf = ({ named }: Session): string => named ?? resolve(OWN_FILE)

/** Begins anew. Only what is the demo's own: what somebody names is theirs to remove. */
export function cleared({ named }: Session): void {
  if (named !== undefined)
    throw new Usage('--reset clears the demo’s own store, and --url names another.', 'Remove that one yourself.')
  const path = resolve(OWN_FILE)
  if (removeFile(path)) return removePolicyBeside(path)
  throw new Usage(
    `${path} is in use: another demo runs in this folder. Nothing was cleared.`,
    'Stop that one first (Ctrl-C where it runs), or leave --reset away: both can work on the same jobs.',
  )
}

/** Opens it; where its own file is of no use to this version, says how to begin anew. */
export async function openedAt(path: string, session: Session, open: () => Promise<Pawl>): Promise<Pawl> {
  try {
    return await open()
  } catch (error) {
    if (session.named !== undefined || !isRefusedFile(error)) throw error
    throw new Usage(
      (error as Error).message,
      `Begin anew: --reset (npm start -- --reset) removes ${path} and all that is in it.`,
    )
  }
}

const isRefusedFile = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'STORE_FILE_REFUSED'
