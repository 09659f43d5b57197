/**
 * Queues stand still while jobs are brought into them: between its first event and where it stands, a job that ended long ago looks
 * like one that has just come. Who is cut off leaves them so, and finds them as its own the next time.
 */
import { queueKey, type Setting, type Store } from '../../store/store.ts'

export interface QueueName {
  readonly tenant: string
  readonly queue: string
}

/** Who has paused a queue for this. */
const IMPORTER = 'pawl import'

const TRIES = 10

type Settings = Pick<Store, 'settings'>

export async function pausedFor(store: Settings, { tenant, queue }: QueueName, since: number): Promise<void> {
  await change(store, queueKey(tenant, queue), (document) =>
    document['paused'] === true ? undefined : { ...document, paused: true, by: IMPORTER, since },
  )
}

/** Ends a pause of ours, as `carried` has it where the queue had a document in the other store. A pause of somebody else's stays. */
export async function resumed(
  store: Settings,
  { tenant, queue }: QueueName,
  carried: string | undefined,
): Promise<void> {
  await change(store, queueKey(tenant, queue), (document) => {
    if (document['by'] !== IMPORTER) return undefined
    const { paused: _, by: __, since: ___, ...rest } = document
    return { paused: false, ...rest, ...(carried === undefined ? {} : documentIn(carried)) }
  })
}

type Document = Readonly<Record<string, unknown>>

async function change(store: Settings, key: string, next: (document: Document) => Document | undefined): Promise<void> {
  let there: Setting | undefined = (await store.settings([{ op: 'get', collection: 'queue', key }]))[0]?.settings[0]
  for (let n = 0; n < TRIES; n += 1) {
    const document = next(there === undefined ? {} : documentIn(there.text))
    if (document === undefined) return
    const text = JSON.stringify(document)
    const [answer] = await store.settings([{ op: 'put', collection: 'queue', key, text, rev: there?.rev ?? 0 }])
    if (answer?.status === 'ok') return
    there = answer?.settings[0]
  }
  throw new Error(`pawl: the queue document ${key} was changed by others ${TRIES} times in a row`)
}

const documentIn = (text: string): Document => JSON.parse(text) as Document
