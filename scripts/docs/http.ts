import { z } from 'zod'
import type { Route } from '../../src/gateway/contract/route.ts'
import { ROUTES } from '../../src/gateway/contract/routes.ts'
import { OBJECTIONS } from '../../src/gateway/problem.ts'
import { answers } from './answers.ts'
import { code, codes, page, table } from './markdown.ts'

export async function httpPage(): Promise<string> {
  return page(
    'HTTP',
    'src/gateway/contract/routes.ts and src/gateway/contract/schemas.ts',
    'Everything the gateway answers; what is not here does not exist. `GET /openapi.json` says the same to machines. Times are ISO 8601, durations milliseconds or `30s`, `4m59s`, `2h`, `1d12h`. Inputs, results and other bodies are kept exactly as they were sent.',
    'Send `Authorization: Bearer <token>`. The tenant comes from the token. A refusal is `application/problem+json` with `code`, `detail`, `next`, the job’s state, its owner and the end of its lease.',
    'A token has one scope: `producer` enqueues and takes back, `worker` claims and settles what it owns, `operator` moves jobs and pauses queues, `viewer` reads without payloads and environment, `admin` does all of this and makes tokens, `auditor` reads the audit log, `metrics` reads `/metrics` and belongs to no tenant. [limits.md](limits.md) lists every cap: a refusal has its name as `cap`. Lists come page by page: hand `cursor` back until there is none. Connections are kept for 75 s between requests (`Keep-Alive` says so): a proxy in front of a gateway should let go of an idle one sooner.',
    '`POST /v1/jobs` takes `Idempotency-Key: "…"` for 24 hours: the same words again give the original job, other words 422, a request still under way 409. What was left to the job type, its queue or its policy, is no part of the words. Every word about a job takes a `requestId`: repeated, it gets the answer it got.',
    '`POST /v1/jobs:batch` answers 200 with one answer for each job, in order. With `"atomic": true` it is all of them or none: where one is refused the answer is 409, and `jobs` says which and why.',
    '`GET /v1/hints` with `Accept: text/event-stream` tells where to look and never what is there: `work` are queues that there may be work in, `jobs` by queue those that have ended or are asked to stop, `anything` that hints may have been lost. Each frame is one `data:` line of JSON with these and `tenant`. Hints may be lost: whoever listens polls besides, more seldom. A stream that has nothing to tell sends a comment every three seconds, as that of events does: one that has been silent for ten is dead, whatever the connection says. What happened, each event once and resumable, is `GET /v1/events`.',
    'A type that a worker has announced brings its queue and its policy. `queue` changes nothing but the queue; `policy` is the whole policy.',
    'Names in paths are percent-encoded, a slash as `%2F`; no name is `.` or `..`, and no queue or type has a comma.',
    'Lists come in pages. A page may be short, even empty, and yet not be the last: a request looks at so many jobs and no more, whoever they belong to, and of long records it tells about a million characters at a time. Go on with its `cursor` (`next` for the history of a job) until there is none. Events by correlation come job by job, the oldest job first; by type and time they come oldest first.',
    table(
      ['method', 'path', 'who', 'what'],
      ROUTES.map((route) => [code(route.method), code(route.path), who(route), route.summary]),
    ),
    '## Queries',
    'What stands behind the question mark. Anything else there is refused.',
    ...ROUTES.filter(({ query }) => fields(query).length > 0).map(
      (route) => `### ${route.method} ${route.path}?…\n\n${table(['parameter', 'form'], fields(route.query))}`,
    ),
    '## Words',
    ...ROUTES.filter(({ body }) => fields(body).length > 0).map(
      (route) =>
        `### ${route.method} ${route.path}\n\n${route.summary}.\n\n${table(['field', 'form'], fields(route.body))}`,
    ),
    '## Answers',
    'As a gateway gives them. A record has more members the more has happened to the job; members that nothing is known about are left out.',
    ...(await answers()),
    '## What the gateway itself objects to',
    'Besides the [refusals](errors.md#refusals) of the engine. The `type` of a problem is the place of its code at `/docs/errors`.',
    table(
      ['code', 'status', 'what', 'next'],
      Object.entries(OBJECTIONS).map(([name, { status, title, next }]) => [code(name), String(status), title, next]),
    ),
  )
}

const who = ({ scopes }: Route): string => (scopes === 'open' ? 'everybody' : codes(scopes))

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly description?: string
  readonly default?: unknown
}

function fields(words: z.ZodType | undefined): readonly (readonly [string, string])[] {
  if (words === undefined) return []
  const schema = z.toJSONSchema(words, { io: 'input', unrepresentable: 'any' }) as {
    readonly properties?: Readonly<Record<string, Schema>>
    readonly required?: readonly string[]
  }
  return Object.entries(schema.properties ?? {}).map(([name, field]) => [
    `${code(name)}${schema.required?.includes(name) === true ? ' *' : ''}`,
    [
      form(field),
      field.default === undefined ? '' : `default ${code(JSON.stringify(field.default))}`,
      field.description ?? '',
    ]
      .filter((part) => part !== '')
      .join('; '),
  ])
}

function form(field: Schema): string {
  if (field.enum !== undefined) return codes(field.enum.map(String))
  if (field.anyOf !== undefined) return field.anyOf.map(form).join(' or ')
  // What is demanded besides cannot be said in a schema: the first says what it is.
  const [first] = field.allOf ?? []
  return first === undefined ? (field.type ?? 'any JSON') : form(first)
}
