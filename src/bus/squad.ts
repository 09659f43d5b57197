/**
 * Workers of a pool that take the same topics and can do the same. They compete for one line of dispatches, so whatever is sent there any of
 * them may get, and each of them can do; who can do more than others has a line beside theirs.
 */
import { sha256 } from '../system/digest.ts'

export interface Squad {
  readonly pool: string
  /** Whose jobs it takes: of these, what is routed to its pool, and what is routed nowhere. */
  readonly topics: readonly string[]
  readonly capabilities: readonly string[]
}

/** What a worker tells of itself. */
export interface Announced {
  readonly pool: string
  readonly topics?: readonly string[] | undefined
  readonly capabilities?: readonly string[] | undefined
}

/** A worker that names no topics takes the one that is called like its pool: in document 002 a topic says which pool is meant. */
export const squadOf = ({ pool, topics = [pool], capabilities = [] }: Announced): Squad => ({
  pool,
  topics: sorted(topics),
  capabilities: sorted(capabilities),
})

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()

/** The same squad has the same name, in whichever order its workers tell of themselves. */
export const nameOf = ({ pool, topics, capabilities }: Squad): string => JSON.stringify([pool, topics, capabilities])

/** The badge of workers that tell of nothing but their pool. */
export const PLAIN = 'any'

/** What tells the squads of one pool apart, as one token of a subject. */
export const badgeOf = (squad: Squad): string =>
  nameOf(squad) === nameOf(squadOf({ pool: squad.pool })) ? PLAIN : sha256(nameOf(squad)).slice(0, 16)
