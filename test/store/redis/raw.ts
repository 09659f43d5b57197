import { type Link, openLink } from '../../../src/store/redis/connection/link.ts'
import type { RedisServer } from '../../support/redis.ts'

/** A connection of the test's own, past the store. */
export const rawLink = ({ url }: Pick<RedisServer, 'url'>): Promise<Link> => openLink({ url, answerWithinMs: 5_000 })

/** Of all that the server holds. */
export const digestOf = async (link: Link): Promise<string> => String(await link.send(['DEBUG', 'DIGEST']))

/** For servers whose digest is asked for. */
export const WITH_DEBUG = ['--enable-debug-command', 'yes'] as const
