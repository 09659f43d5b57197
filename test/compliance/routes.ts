/**
 * A job type bound to a document, worked on over HTTP by pawl's own routes, and looked at in the document's words alone: what
 * a reader sees who knows nothing but the document.
 */
import { expect } from 'vitest'
import { derive } from '../../src/contract.ts'
import type { DialectName } from '../../src/core/policy.ts'
import { type GatewayFixture, openGatewayFixture } from '../gateway/gateway-fixture.ts'
import { eventually } from '../support/eventually.ts'
import { fresh } from './actor.ts'

export type Told = Readonly<Record<string, unknown>>

export class Routes implements AsyncDisposable {
  readonly #home: GatewayFixture
  readonly #dialect: DialectName
  readonly #type = fresh('type')

  private constructor(fixture: GatewayFixture, dialect: DialectName) {
    this.#home = fixture
    this.#dialect = dialect
  }

  static async of(dialect: DialectName): Promise<Routes> {
    return new Routes(await openGatewayFixture({}, undefined, { ticker: { everyMs: 20 } }), dialect)
  }

  async submit(policy: object = {}): Promise<string> {
    const words = { type: this.#type, queue: this.#type, policy: { dialect: this.#dialect, ...policy } }
    return String((await this.#must('producer', 'POST', '/v1/jobs', words))['id'])
  }

  /** The next job, as soon as there is one; its fence. */
  async claimed(workerId = 'w1'): Promise<string> {
    return eventually(`a job of ${this.#type}`, async () => {
      const { jobs } = await this.#must('worker', 'POST', '/v1/claims', { workerId, queues: [this.#type] })
      return (jobs as readonly { readonly fence: string }[])[0]?.fence
    })
  }

  /** A word of the job's owner. */
  async owner(id: string, word: string, fence: string, more: object = {}): Promise<void> {
    await this.#must('worker', 'POST', `/v1/jobs/${id}/${word}`, { fence, ...more })
  }

  /** A word of whoever runs the place; answers with its status. */
  async operator(id: string, word: string, body: object = {}): Promise<number> {
    return (await this.#home.ask('operator', 'POST', `/v1/jobs/${id}/${word}`, body)).status
  }

  /** The record, in the document's words. */
  shown(id: string): Promise<Told> {
    return this.#must('producer', 'GET', `/v1/jobs/${id}?dialect=${this.#dialect}`)
  }

  /** The log, in the document's words: whole, legal, and nothing in it that nobody did. */
  async told(id: string): Promise<readonly Told[]> {
    const { events, rev } = await this.#must('producer', 'GET', `/v1/jobs/${id}/events?dialect=${this.#dialect}`)
    const log = events as readonly Told[]
    expect(derive(this.#dialect, log, Number(rev)).violations).toEqual([])
    expect(log.filter(({ implied }) => implied)).toEqual([])
    return log
  }

  async #must(who: 'producer' | 'worker', method: string, path: string, body?: object): Promise<Told> {
    const { status, body: told } = await this.#home.ask(who, method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(told)}`)
    return told
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#home[Symbol.asyncDispose]()
  }
}
