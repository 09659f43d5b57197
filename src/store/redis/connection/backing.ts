/** What stands behind a server, and so what a call has to wait for: nothing, or a ledger. */
import type { ScriptName } from '../script/scripts.ts'
import type { Reply } from './reply.ts'

export interface Backing {
  /** Makes the server one that takes calls, if it is not. Answers with the epoch that they are to be made in. */
  join(): Promise<string>

  /** A call's answer, once it may be given. Undefined: nothing came of it, and it is to be made anew, by who has joined again. */
  answer(call: Called): Promise<readonly Reply[] | undefined>

  close(): Promise<void>
}

/** One call of a script, which may be sent more than once where it has changed nothing. */
export interface Called {
  readonly script: ScriptName
  readonly epoch: string
  /** Of a call that may write. */
  readonly name: string | undefined
  readonly send: () => Promise<Reply>
}

/** The server, as what stands behind it asks it. */
export interface Server {
  readonly process: string
  readonly meta: string
  readonly send: (words: readonly string[]) => Promise<Reply>
  /** A script that compares for itself which life of the server it is in. */
  readonly run: (script: ScriptName, args: readonly string[]) => Promise<Reply>
}
