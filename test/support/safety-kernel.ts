/** A safety kernel: somebody else's service, which rejects what says that it is unsafe unless told otherwise, and knows what it was asked about. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface AskedAbout {
  readonly tenant: string
  readonly topic: string
  readonly env: Readonly<Record<string, string>>
}

export interface Kernel extends AsyncDisposable {
  readonly url: string
  readonly asked: readonly AskedAbout[]
}

export async function startKernel(rejects: (job: AskedAbout) => boolean = isUnsafe): Promise<Kernel> {
  const asked: AskedAbout[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece: Buffer) => {
      text += piece.toString()
    })
    request.on('end', () => {
      const { job } = JSON.parse(text) as { readonly job: AskedAbout }
      asked.push(job)
      const answer = rejects(job) ? { decision: 'deny', rule: 'unsafe', reason: 'no' } : { decision: 'allow' }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const isUnsafe = ({ env }: AskedAbout): boolean => env['unsafe'] === 'true'
