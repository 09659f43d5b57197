/** Connections by Node's own client: unlike those of its `fetch`, they can be dropped. */
import * as http from 'node:http'
import * as https from 'node:https'
import type { Heard, Lines } from './lines.ts'

/** Node says so of every agent, its types do not. */
const globalAgent = http.globalAgent as http.Agent & { readonly options: http.AgentOptions }

export function nodeLines(url: string): Lines {
  const { Agent, request } = new URL(url).protocol === 'https:' ? https : http
  // Where Node was told to mind the proxies of the environment, by whatever means, its own agent does; so do these.
  const { proxyEnv } = globalAgent.options
  const fresh = () => new Agent({ keepAlive: true, ...(proxyEnv && { proxyEnv }) })
  let agent = fresh()
  return {
    ask: (at, { method, headers, body, signal }) =>
      new Promise<Heard>((resolve, reject) => {
        const asked = request(at, { agent, method, headers, signal }, (incoming) => {
          const { statusCode = 0, headers: told } = incoming
          // What breaks off is told to whoever reads; nobody may be reading.
          incoming.on('error', () => {})
          resolve({ status: statusCode, header: (name) => told[name]?.toString(), body: incoming })
        })
        asked.on('error', reject)
        asked.end(body)
      }),
    drop(which) {
      if (which === 'idle') {
        for (const idle of Object.values(agent.freeSockets)) for (const socket of idle ?? []) socket.destroy()
        return
      }
      agent.destroy()
      agent = fresh()
    },
  }
}
